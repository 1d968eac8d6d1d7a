// Driver: what the runtime needs from a GPU driver, or from a substitute for one.
//
// The runtime (device.cpp, module_cache.cpp) knows catalogs, caches and kinds of errors. A driver
// (cuda_driver, hip_driver, or one in a library of its own: driver_plugin.hpp) knows one vendor's
// calls and nothing about catalogs.
//
// Contract of every function:
//   - `device` is 0 .. count_devices() - 1; the caller has checked it. The driver makes that device
//     current on the calling thread and restores the caller's own choice before it returns.
//   - Any function may be called from any thread at any time. A handle is used only with the device
//     that it was made for, and not after it was destroyed.
//   - An error's message is "<call>: <the driver's name for it>: <the driver's text>", for example
//     "cuModuleLoadDataEx: CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid". Its code is
//     kDriver unless a function says otherwise. The runtime puts "failed loading ... on cuda:0: "
//     before the message. Longer text (a compiler's log, the block and thread of a fault) goes into
//     notes.
//   - A driver library may end before the program's last destructors run. Its handles end with it:
//     unload, free, destroy and the waits then succeed and do nothing.
//   - No exception leaves a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/target_id.hpp"
#include "kiln/catalog.hpp"
#include "kiln/device.hpp"
#include "kiln/function.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// The driver's own handles, which the runtime only passes back. A null stream is the default
// stream.
using NativeModule = void*;
using NativeFunction = void*;
using NativeStream = void*;
using NativeEvent = void*;

// The properties of a device that its driver reports.
struct DeviceTraits {
  std::string id;    // unique over all drivers: "cuda:0", "host:wave64"
  std::string name;  // "NVIDIA H200"
  TargetId target;   // decides which images run: sm_90; gfx90a with both features known; host
  std::optional<std::uint16_t> max_ptx_isa = 0;  // as in DeviceInfo
  std::uint32_t wave_width = 32;
  std::uint32_t multiprocessors = 0;
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t max_shared_bytes = 48 * 1024;
  std::uint64_t memory_bytes = 0;
  bool has_pool = false;  // supports stream-ordered memory from a pool
};

// A decompressed image. PTX text ends with a NUL that is part of `bytes`.
struct ImageToLoad {
  ImageFormat format = ImageFormat::kHsaco;
  std::span<const std::byte> bytes;
};

// A launch with checked arguments. `arguments` holds the addresses of `argument_count` values, in
// the order of the kernel's parameters. The driver copies the values before it returns.
struct LaunchRequest {
  NativeFunction function = nullptr;
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;
  NativeStream stream = nullptr;
  void** arguments = nullptr;
  std::size_t argument_count = 0;
};

enum class CopyDirection : std::uint8_t { kToDevice, kToHost, kOnDevice };
enum class Wait : bool { kNo, kYes };

struct CopyRequest {
  CopyDirection direction = CopyDirection::kToDevice;
  void* target = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;  // not zero
  NativeStream stream = nullptr;
  Wait wait = Wait::kYes;  // kYes: return only when the copy is done
};

// The release threshold of a driver's pool: bytes of free device memory that it keeps for later
// allocations. Measured on
// an H200, CUDA 13, allocating, setting and freeing memory with a wait at the end: 1 MiB takes 11
// us from a pool that keeps enough, 92 us from a pool that keeps nothing, and 69 us without a pool;
// 1 GiB takes 0.27, 2.35 and 0.64 ms.
constexpr std::uint64_t pool_release_threshold(std::uint64_t memory_bytes) {
  return memory_bytes / 16;
}

// A variable of a module, in device memory.
struct NativeSymbol {
  void* address = nullptr;
  std::size_t bytes = 0;
};

class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  // Returns a text such as "CUDA 12.8", "HIP 6.4" or "host".
  virtual std::string version() const = 0;
  // True if an image's bytes must stay in place until the module is unloaded.
  virtual bool keeps_image_bytes() const = 0;

  virtual Result<int> count_devices() = 0;
  virtual Result<DeviceTraits> identify(int device) = 0;

  virtual Result<NativeModule> load_image(int device, const ImageToLoad& image) = 0;
  virtual Result<void> unload(int device, NativeModule module) = 0;
  // The error is kNotFound if the module has no kernel or variable of that name.
  virtual Result<NativeFunction> find_function(int device, NativeModule module,
                                               const std::string& name) = 0;
  virtual Result<NativeSymbol> find_symbol(int device, NativeModule module,
                                           const std::string& name) = 0;
  // Does the work that the function's first launch would otherwise do.
  virtual Result<void> prepare(int /*device*/, NativeFunction /*function*/) { return {}; }
  // Returns the largest block that the kernel was compiled for; empty if unknown.
  virtual std::optional<std::uint32_t> max_threads(int /*device*/, NativeFunction /*function*/) {
    return std::nullopt;
  }
  virtual Result<void> launch(int device, const LaunchRequest& request) = 0;

  // Allocating and freeing memory of any kind may be done while a stream is captured into a graph,
  // and leaves the capture as it is.

  // The memory is ready at once, on every stream. bytes > 0; 256-byte aligned.
  virtual Result<void*> allocate(int device, std::size_t bytes) = 0;
  // Waits for all work of the device. Not for memory of a pool.
  virtual Result<void> free(int device, void* memory) = 0;

  // Stream-ordered memory from a pool of the driver's. Neither call waits. Only for devices that
  // have a pool, and for streams of which is_capturing() is false.
  virtual Result<void*> allocate_async(int device, std::size_t bytes, NativeStream /*stream*/) {
    return allocate(device, bytes);
  }
  virtual Result<void> free_async(int device, void* memory, NativeStream /*stream*/) {
    return free(device, memory);
  }
  // True if the stream is being captured into a graph. For the default stream: true if any stream
  // that waits for it is. Does not affect the capture.
  virtual Result<bool> is_capturing(int /*device*/, NativeStream /*stream*/) { return false; }
  // True if the stream and the default stream wait for each other.
  virtual Result<bool> waits_for_default(int /*device*/, NativeStream /*stream*/) { return true; }

  // Page-locked host memory that the device can copy from and to. bytes > 0.
  virtual Result<void*> allocate_pinned(int device, std::size_t bytes) = 0;
  virtual Result<void> free_pinned(int device, void* memory) = 0;
  virtual Result<void> copy(int device, const CopyRequest& request) = 0;
  virtual Result<void> fill(int device, void* target, std::uint8_t value, std::size_t bytes,
                            NativeStream stream) = 0;

  virtual Result<NativeStream> create_stream(int device) = 0;
  virtual Result<void> destroy_stream(int device, NativeStream stream) = 0;
  virtual Result<void> synchronize_stream(int device, NativeStream stream) = 0;
  virtual Result<void> synchronize(int device) = 0;

  virtual Result<NativeEvent> create_event(int device) = 0;
  virtual Result<void> destroy_event(int device, NativeEvent event) = 0;
  virtual Result<void> record_event(int device, NativeEvent event, NativeStream stream) = 0;
  virtual Result<void> synchronize_event(int device, NativeEvent event) = 0;
  virtual Result<float> milliseconds_between(int device, NativeEvent start, NativeEvent stop) = 0;

  // Returns a driver like this one whose calls on `device` use a context that the caller made. The
  // context must outlive the driver.
  virtual Result<std::shared_ptr<Driver>> in_context(int /*device*/, void* /*context*/) {
    return Error{ErrorCode::kInvalidInput, version() + " has one context a device", {}, {}};
  }

  // Returns the size of each of the function's parameters in bytes, in order; empty if the driver
  // does not know them.
  virtual std::optional<std::vector<std::size_t>> parameter_sizes(int /*device*/,
                                                                  NativeFunction /*function*/) {
    return std::nullopt;
  }

  // Calls `call` with the device made current.
  virtual Result<void> as_current(int /*device*/, const std::function<Result<void>()>& call) {
    return call();
  }
};

}  // namespace kiln::runtime
