// The kiln runtime: finds the GPUs of this machine, and runs the kernels of a generated header on them.
//
//   auto runtime = kiln::Runtime::open();
//   auto device = runtime->default_device();
//   auto affine = device->function(kernels::affine_f32);       // from the generated header
//   auto launched = affine->launch({{blocks}, {256}}, n, dims, info, *in, *out, 2.f, 1.f);
//
// There is no link-time dependency on CUDA or HIP: their libraries are opened when a device is first
// asked for, and a machine without them is a normal one. See docs/RUNTIME.md.
//
// What an option here leaves open, a variable of the environment decides: KILN_DEVICE, KILN_TRACE and the others
// of docs/RUNTIME.md, read once by Runtime::open.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "narrow_floats.hpp"
#include "result.hpp"

namespace kiln {

namespace runtime {
class RuntimeState;
}

struct OpenOptions {
  // In the order in which their devices are listed. The emulator is opened only when it is asked for,
  // here or by KILN_DEVICE.
  std::vector<Backend> backends = {Backend::kCuda, Backend::kHip, Backend::kHost};
  // A path here is the only one that is tried.
  std::string cuda_library, hip_library, host_library, emulator_library;
  std::string default_device;  // as KILN_DEVICE
  std::string image_path;      // as KILN_IMAGE_PATH
  std::string memory_pool;     // as KILN_MEMORY_POOL
  // For modules that hold their source: the one path to try of libnvrtc and libhiprtc, the host's
  // compiler, and the folder that keeps what was compiled, or "off".
  std::string nvrtc_library, hiprtc_library, host_compiler, compile_cache;
  // Called with each decision, one line without a newline, from the thread that made it: perhaps by several
  // at once, and while a module is being loaded. It calls nothing of kiln.
  std::function<void(std::string_view line)> trace;
};

// Whether a backend could be opened, and what was tried.
struct BackendStatus {
  Backend backend = Backend::kCuda;
  bool available = false;
  std::string library;               // the path that was opened, else empty
  std::string version;               // "CUDA 12.8"
  std::size_t device_count = 0;
  std::vector<std::string> reasons;  // why not: one for each path or call that failed
};

// Ownership: the last of the runtime and of what it gave out (devices, buffers, streams, events)
// closes the drivers; modules are unloaded then. A program may hold several runtimes.
// Thread-safety: every member but open, move and destruction.
class Runtime {
 public:
  // Reads options and environment; opens no library yet, so it takes microseconds.
  // Errors: kInvalidInput (a malformed device name).
  static Result<Runtime> open(OpenOptions options = {});

  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;
  ~Runtime();

  // The devices of all backends, in order. Empty on a machine without any: backends() tells why.
  // The first call opens the drivers, which takes 0.1 to 0.2 s where there is an NVIDIA GPU.
  const std::vector<DeviceInfo>& devices() const;
  const std::vector<BackendStatus>& backends() const;

  Result<Device> device(std::size_t index) const;     // a position in devices()
  Result<Device> device(std::string_view id) const;   // "cuda:0"; a backend alone means its first
  // The one that KILN_DEVICE names, else the first. Errors: kUnavailable with every reason.
  Result<Device> default_device() const;

 private:
  explicit Runtime(std::shared_ptr<runtime::RuntimeState> state);
  std::shared_ptr<runtime::RuntimeState> state_;
};

}  // namespace kiln
