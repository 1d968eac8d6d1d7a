// One device: its memory, its streams, and the modules loaded onto it.
//
// Ownership: a Device is a handle to shared state. Copies refer to the same device, and each of
// them keeps it open. A move copies, so that no Device is ever empty. The driver's context is the
// device's primary context, which the vendor's own runtime library uses as well, unless
// in_context() names another. Every call leaves the caller's current context as it was.
// Thread-safety: every member may be called from any thread at any time.
// Errors: if the driver refuses a call, kDriver with the driver's own name and text for the
// failure: "failed <doing what> <to what> on <device>: <call>: <name>: <text>".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "catalog.hpp"
#include "catalog_file.hpp"
#include "function.hpp"
#include "host_values.hpp"
#include "memory.hpp"
#include "result.hpp"
#include "stream.hpp"

namespace kiln {

enum class Backend : std::uint8_t {
  kCuda,      // NVIDIA, through libcuda
  kHip,       // AMD, through libamdhip64
  kHost,      // this machine's own processor, through libkiln_host
  kEmulator,  // AMD code objects interpreted on the processor, through libkiln_emulator
};
std::string_view to_string(Backend backend);  // "cuda", "hip", "host", "emulated"

// Describes a device.
struct DeviceInfo {
  std::string id;      // the name that Runtime::device() takes: "cuda:0", "hip:1", "host"
  Backend backend = Backend::kCuda;
  int ordinal = 0;     // the driver's own number for the device
  std::string name;    // "NVIDIA H200"
  std::string target;  // "sm_90", "gfx90a:sramecc+:xnack-", "host"
  std::string driver;  // "CUDA 12.8"
  // The newest PTX that the driver compiles, as 10 * major + minor. 0: it compiles none. Empty: kiln
  // does not know this driver's limit, and offers it any PTX.
  std::optional<std::uint16_t> max_ptx_isa = 0;
  std::uint32_t wave_width = 32;             // lanes of a warp or wavefront
  std::uint32_t multiprocessors = 0;         // SMs or compute units
  std::uint32_t max_threads_per_block = 0;
  std::uint32_t max_shared_bytes = 0;        // per block, including what a kernel must opt in to
  std::uint64_t memory_bytes = 0;
};

// A `__constant__` or global variable of a module, in device memory. Valid until the module is
// unloaded.
struct Symbol {
  void* data = nullptr;  // device address, for Device::copy_to_device and copy_to_host
  std::size_t size = 0;  // bytes
};

// Counts what happened to a module on a device since the device was opened.
struct ModuleStatistics {
  std::uint64_t loads = 0;       // images loaded; a module has one per unit
  std::uint64_t failures = 0;    // loads that failed
  std::uint64_t unloads = 0;
  std::uint64_t launches = 0;    // launches of the module's kernels
  std::uint64_t loaded_bytes = 0;  // decompressed bytes of all loads
  double load_milliseconds = 0;  // of all loads: choosing and decompressing images, the driver
};

// A handle to a device. Runtime gives it out.
class Device {
  template <typename Type>
  using EnableForBuffer = std::enable_if_t<std::is_base_of_v<Buffer, Type>>;

 public:
  Device(const Device&) = default;
  Device& operator=(const Device&) = default;

  const DeviceInfo& info() const;  // lives as long as the Device

  // Returns the same device in a context that the caller made, a CUcontext. Modules are loaded into
  // it anew, and memory, streams and events belong to it. The context must outlive everything that
  // the new handle gives out. Errors: kInvalidInput (any device but CUDA's: other drivers have only
  // one context per device), kDriver.
  Result<Device> in_context(void* native_context) const;

  // Calls `call` with this device and its context current on this thread, as the vendor's other
  // libraries need it (cuBLAS, rocBLAS, ...). Restores the caller's current device and context
  // afterwards. Errors: those of `call`, and kDriver.
  Result<void> as_current(const std::function<Result<void>()>& call) const;

  // --- kernels ------------------------------------------------------------------------------------
  // The first use of a module on a device loads the image that fits best: once, even if several
  // threads ask for it. Later calls are look-ups without a lock, except for an image that the caller
  // brings. A failed load is tried again by the next call.
  // Errors: kNotFound (no kernel of that name; the message suggests the nearest one), kNoImage (why
  // each image was refused, and what to add to the manifest), kInvalidInput (a damaged image),
  // kBuildFailed (the module's embedded source does not compile), kDriver.

  // Returns a kernel of a generated header, such as kernels::scale.
  template <typename... Parameters>
  Result<TypedFunction<Parameters...>> function(const Kernel<Parameters...>& kernel) const {
    if (Function ready = cached(*kernel.module, kernel.index)) {
      return TypedFunction<Parameters...>(std::move(ready));
    }
    Result<Function> loaded = load_kernel(*kernel.module, kernel.index);
    if (!loaded) return std::move(loaded).error();
    return TypedFunction<Parameters...>(*std::move(loaded));
  }

  // Finds a kernel by name, "scale" or "axpy<float>", in a module, such as
  // *kernels::find("vectors"). A launch checks the number of its arguments, and their types where
  // they are known.
  Result<Function> function(std::string_view name, const ModuleEntry& module) const;
  // Another name for function(), the one that candle's crate uses.
  Result<Function> get_or_load_func(std::string_view name, const ModuleEntry& module) const {
    return function(name, module);
  }

  // Finds a kernel by name in a catalog: kernels::catalog(), or a file. Searches all modules, or
  // only the one called `module`. Errors: also kInvalidInput (two modules have a kernel of that
  // name, or the bytes of an image do not match their digest).
  Result<Function> function(std::string_view name, const Catalog& catalog,
                            std::string_view module = {}) const;
  Result<Function> function(std::string_view name, const CatalogFile& file,
                            std::string_view module = {}) const;

  // Finds a kernel in an image that the caller brings, of any kind that the device's driver takes
  // (NVIDIA: cubin, fatbin, PTX; AMD: a code object or an offload bundle; host: a shared object).
  // The image is copied and identified by its content. Each call computes its SHA-256 and takes a
  // lock, so keep the Function. The image stays loaded, and the copy kept, until the device closes:
  // a program that makes an image for each shape grows. Launches are checked against what the image
  // or its driver says about the kernel's parameters. Errors: as above.
  Result<Function> function(std::string_view name, const void* image, std::size_t image_bytes) const;
  Result<Function> get_or_load_func_raw(std::string_view name, const void* image,
                                        std::size_t image_bytes) const {
    return function(name, image, image_bytes);  // another name, the one that candle's crate uses
  }

  // Returns a variable of the module, and loads the module if necessary. If several units have a
  // variable of that name, the first one's is returned. Errors: also kNotFound.
  Result<Symbol> symbol(std::string_view name, const ModuleEntry& module) const;

  // Loads every unit of a module and finds every kernel, so that no later launch has to load
  // anything. Useful before a graph capture and when a server starts.
  Result<void> load(const ModuleEntry& module) const;
  // Loads every module of a catalog.
  Result<void> load(const Catalog& catalog) const;
  Result<void> load(const CatalogFile& file) const;

  // Waits for the device's work, then unloads the module. Does nothing if the module is not loaded.
  // The next use loads it again.
  Result<void> unload(const ModuleEntry& module) const;

  // Returns zeros for a module that was never used on this device.
  ModuleStatistics statistics(const ModuleEntry& module) const;

  // --- memory -------------------------------------------------------------------------------------

  // Allocates memory, uninitialised and aligned to at least 256 bytes. Zero bytes give an empty
  // Buffer. If the driver has a pool (docs/RUNTIME.md), the memory comes from it, and freeing it
  // does not wait. With `stream`, the memory is allocated and freed in the order of that stream:
  // work on other streams must wait for it, for example by an event. The Buffer keeps a Stream
  // open; a stream of the caller's own must outlive the Buffer. Errors: kDriver, kInvalidInput (a
  // stream that is being captured, or a stream of another device).
  Result<Buffer> allocate(std::size_t bytes) const;
  Result<Buffer> allocate(std::size_t bytes, const Stream& stream) const;
  Result<Buffer> allocate(std::size_t bytes, StreamRef stream) const;

  // Allocates memory for `count` values: device.allocate<float>(n).
  template <typename T>
  Result<TypedBuffer<T>> allocate(std::size_t count) const {
    return typed<T>(allocate(detail::bytes_of<T>(count)));
  }
  template <typename T, typename AnyStream>
  Result<TypedBuffer<T>> allocate(std::size_t count, const AnyStream& stream) const {
    return typed<T>(allocate(detail::bytes_of<T>(count), stream));
  }

  // Allocates `count` values of page-locked host memory, uninitialised, for asynchronous copies.
  // Zero values give an empty PinnedBuffer. Errors: kInvalidInput (more bytes than an address can
  // count), kDriver.
  template <typename T>
  Result<PinnedBuffer<T>> allocate_pinned(std::size_t count) const {
    Result<detail::PinnedBytes> bytes = allocate_pinned_bytes(detail::bytes_of<T>(count));
    if (!bytes) return std::move(bytes).error();
    return PinnedBuffer<T>(std::move(*bytes));
  }

  // Wait for the device's earlier work, copy `bytes` bytes, and return when the copy is done. The
  // ranges must not overlap. Errors: kDriver, and those of the earlier work.
  Result<void> copy_to_device(void* device_target, const void* host_source, std::size_t bytes) const;
  Result<void> copy_to_host(void* host_target, const void* device_source, std::size_t bytes) const;

  // Copy in the order of the stream, and return at once. Host memory must stay valid and unchanged
  // until the stream has done the copy.
  Result<void> copy_to_device_async(void* device_target, const void* host_source, std::size_t bytes,
                                    StreamRef stream) const;
  Result<void> copy_to_host_async(void* host_target, const void* device_source, std::size_t bytes,
                                  StreamRef stream) const;
  // The ranges must not overlap.
  Result<void> copy_on_device(void* target, const void* source, std::size_t bytes,
                              StreamRef stream = {}) const;
  // Sets each of `bytes` bytes to `value`, in the order of the stream.
  Result<void> fill(void* device_target, std::uint8_t value, std::size_t bytes,
                    StreamRef stream = {}) const;

  // Allocates a buffer and copies the values of a vector, array or span into it (host_values.hpp).
  // Returns when the copy is done; the range may change afterwards.
  template <typename Range, typename T = detail::HostValue<const Range>>
  Result<TypedBuffer<T>> upload(const Range& values) const {
    return upload(std::data(values), std::size(values));
  }
  template <typename T>
  Result<TypedBuffer<T>> upload(std::initializer_list<T> values) const {
    return upload(values.begin(), values.size());
  }
  template <typename T>
  Result<TypedBuffer<T>> upload(const T* values, std::size_t count) const {
    Result<TypedBuffer<T>> buffer = allocate<T>(count);
    if (!buffer) return buffer;
    Result<void> copied = copy_to_device(buffer->data(), values, buffer->size_bytes());
    if (!copied) return std::move(copied).error();
    return buffer;
  }
  // Like upload(), in the order of a stream, on which the buffer is allocated, too. Returns at
  // once. The range must stay valid and unchanged until the stream has done the copy.
  template <typename Range, typename AnyStream, typename T = detail::HostValue<const Range>>
  Result<TypedBuffer<T>> upload_async(Range&& values, const AnyStream& stream) const {
    detail::check_outlives_call<Range&&>();
    Result<TypedBuffer<T>> buffer = allocate<T>(std::size(values), stream);
    if (!buffer) return buffer;
    Result<void> copied = copy_to_device_async(buffer->data(), std::data(values), buffer->size_bytes(), stream);
    if (!copied) return std::move(copied).error();
    return buffer;
  }

  // Waits for the device's earlier work, then copies the buffer into a vector. Bytes after the last
  // whole T are left out. An empty buffer gives an empty vector. Errors: kInvalidInput (a buffer of
  // another device), kDriver, and those of the earlier work.
  template <typename T>
  Result<std::vector<T>> download(const Buffer& buffer) const {
    static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain bytes");
    std::vector<T> values(buffer.size_bytes() / sizeof(T));
    Result<void> copied = copy_out(values.data(), values.size() * sizeof(T), buffer, nullptr);
    if (!copied) return std::move(copied).error();
    return values;
  }
  template <typename T>
  Result<std::vector<T>> download(const TypedBuffer<T>& buffer) const {
    return download<T>(static_cast<const Buffer&>(buffer));
  }

  // Copy between a range of the program and the start of a buffer: as many values as the range has.
  // A typed buffer takes only a range of its own type. Like the functions above that copy bytes,
  // the _async ones return at once, and the others when the copy is done. Errors: kInvalidInput
  // (the buffer is smaller than the range, or lies on another device), kDriver.
  template <typename Target, typename Range, typename = EnableForBuffer<Target>, typename T = detail::HostValue<const Range>>
  Result<void> copy_to_device(const Target& target, const Range& values) const {
    detail::check_same_value(&target, static_cast<const T*>(nullptr));
    return copy_in(target, std::data(values), std::size(values) * sizeof(T), nullptr);
  }
  template <typename Target, typename Range, typename = EnableForBuffer<Target>, typename T = detail::HostValue<const Range>>
  Result<void> copy_to_device_async(const Target& target, Range&& values, StreamRef stream) const {
    detail::check_same_value(&target, static_cast<const T*>(nullptr));
    detail::check_outlives_call<Range&&>();
    return copy_in(target, std::data(values), std::size(values) * sizeof(T), &stream);
  }
  template <typename Range, typename Source, typename = EnableForBuffer<Source>, typename T = detail::HostElement<Range>>
  Result<void> copy_to_host(Range&& target, const Source& source) const {
    check_target<T, Source, Range&&>();
    return copy_out(std::data(target), std::size(target) * sizeof(T), source, nullptr);
  }
  template <typename Range, typename Source, typename = EnableForBuffer<Source>, typename T = detail::HostElement<Range>>
  Result<void> copy_to_host_async(Range&& target, const Source& source, StreamRef stream) const {
    check_target<T, Source, Range&&>();
    return copy_out(std::data(target), std::size(target) * sizeof(T), source, &stream);
  }
  // Copies all of `source` to the start of `target`, and returns at once. Errors: kInvalidInput
  // (the target is smaller, or a buffer lies on another device), kDriver.
  Result<void> copy_on_device(const Buffer& target, const Buffer& source, StreamRef stream = {}) const;
  // Sets each byte of a buffer to an integer from 0 to 255, whatever its type: 0 makes every float
  // 0, but 1 makes none of them 1.
  Result<void> fill(const Buffer& target, std::uint8_t value, StreamRef stream = {}) const;
  template <typename Number, typename = std::enable_if_t<std::is_floating_point_v<Number>>>
  Result<void> fill(const Buffer&, Number, StreamRef = {}) const {
    static_assert(sizeof(Number) == 0,
                  "fill sets bytes to an integer from 0 to 255: upload() other numbers");
    return {};
  }

  // --- order --------------------------------------------------------------------------------------

  // Create a stream, or an event, of this device. Errors: kDriver.
  Result<Stream> create_stream() const;
  Result<Event> create_event() const;
  // Waits for all work of the device, and returns the errors of that work.
  Result<void> synchronize() const;

 private:
  friend class Runtime;
  explicit Device(std::shared_ptr<runtime::DeviceState> state) : state_(std::move(state)) {}
  Function cached(const ModuleEntry& module, std::uint32_t kernel) const noexcept;
  Result<Function> load_kernel(const ModuleEntry& module, std::uint32_t kernel) const;

  template <typename T>
  static Result<TypedBuffer<T>> typed(Result<Buffer> buffer) {
    if (!buffer) return std::move(buffer).error();
    return TypedBuffer<T>(std::move(*buffer));
  }
  template <typename T, typename Source, typename Range>
  static constexpr void check_target() {
    static_assert(!std::is_const_v<T>, "the range that is copied to is constant");
    detail::check_same_value(static_cast<const Source*>(nullptr), static_cast<const T*>(nullptr));
    detail::check_outlives_call<Range>();
  }
  Result<detail::PinnedBytes> allocate_pinned_bytes(std::size_t bytes) const;
  // Wait for the copy if `stream` is null.
  Result<void> copy_in(const Buffer& target, const void* source, std::size_t bytes,
                       const StreamRef* stream) const;
  Result<void> copy_out(void* target, std::size_t bytes, const Buffer& source,
                        const StreamRef* stream) const;

  std::shared_ptr<runtime::DeviceState> state_;
};

}  // namespace kiln
