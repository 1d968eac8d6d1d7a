#include "runtime/src/cuda_driver.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "base/diagnostic.hpp"
#include "formats/launch_bound.hpp"
#include "formats/ptx_isa.hpp"
#include "runtime/src/cuda_symbols.hpp"
#include "runtime/src/driver_error.hpp"
#include "runtime/src/shared_pools.hpp"

namespace kiln::runtime {
namespace cuda {
namespace {

CUdeviceptr address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// Calls a function and returns its error. For member functions of CudaDriver.
#define KILN_CUDA(function, ...)                                                 \
  do {                                                                           \
    if (const CUresult status = cuda_.function(__VA_ARGS__); status != kSuccess) \
      return failure(#function, status);                                         \
  } while (false)

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(const Symbols& symbols) : cuda_(symbols) {}

  ~CudaDriver() override {
    // If the driver has already shut down, these calls only return an error.
    for (Context& context : contexts_) {
      if (context.pool.load() != nullptr) {
        Pools::of_program().release(cuda_.cuMemPoolDestroy, context.device);
      }
      if (context.handle.load() != nullptr && !context.is_external) {
        cuda_.cuDevicePrimaryCtxRelease(context.device);
      }
    }
  }

  Result<void> initialise() {
    KILN_CUDA(cuInit, 0);
    KILN_CUDA(cuDriverGetVersion, &version_);
    int count = 0;
    KILN_CUDA(cuDeviceGetCount, &count);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      KILN_CUDA(cuDeviceGet, &contexts_.emplace_back().device, ordinal);
    }
    return {};
  }

  std::string version() const override {
    return "CUDA " + std::to_string(version_ / 1000) + "." + std::to_string(version_ % 1000 / 10);
  }
  bool keeps_image_bytes() const override { return false; }
  Result<int> count_devices() override { return static_cast<int>(contexts_.size()); }

  Result<DeviceTraits> identify(int device) override {
    const CUdevice handle = context_of(device).device;
    const auto attribute = [&](CUdevice_attribute which, int& value) -> Result<void> {
      KILN_CUDA(cuDeviceGetAttribute, &value, which, handle);
      return {};
    };
    std::array<char, 256> name{};
    KILN_CUDA(cuDeviceGetName, name.data(), static_cast<int>(name.size()) - 1, handle);
    int major = 0, minor = 0, warp = 0, processors = 0, threads = 0, shared = 0;
    KILN_TRY(attribute(kCapabilityMajor, major));
    KILN_TRY(attribute(kCapabilityMinor, minor));
    KILN_TRY(attribute(kWarpSize, warp));
    KILN_TRY(attribute(kMultiprocessorCount, processors));
    KILN_TRY(attribute(kMaxThreadsPerBlock, threads));
    KILN_TRY(attribute(kMaxSharedPerBlockOptin, shared));
    if (shared == 0) KILN_TRY(attribute(kMaxSharedPerBlock, shared));
    int pools = 0;
    if (cuda_.has_pools()) KILN_TRY(attribute(kMemoryPoolsSupported, pools));
    std::size_t memory = 0;
    KILN_CUDA(cuDeviceTotalMem, &memory, handle);

    DeviceTraits traits;
    traits.id = "cuda:" + std::to_string(device);
    traits.name = name.data();
    traits.target = TargetId{.kind = TargetKind::kCubin,
                             .processor = "sm_" + std::to_string(10 * major + minor)};
    traits.max_ptx_isa = max_ptx_isa(version_);
    traits.wave_width = static_cast<std::uint32_t>(warp);
    traits.multiprocessors = static_cast<std::uint32_t>(processors);
    traits.max_threads_per_block = static_cast<std::uint32_t>(threads);
    traits.max_shared_bytes = static_cast<std::uint32_t>(shared);
    traits.memory_bytes = memory;
    traits.has_pool = pools != 0;
    return traits;
  }

  // A NativeModule is a CUmodule. A CUlibrary can serve several contexts, but kiln has one slot per
  // device and context. Loading a library up to its first function takes 1.2 times as long as
  // loading a module (H200, CUDA 13; runtime_load_bench compares kiln with cuModuleLoadDataEx).
  Result<NativeModule> load_image(int device, const ImageToLoad& image) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    CUmodule module = nullptr;
    if (image.format != ImageFormat::kPtx) {
      KILN_CUDA(cuModuleLoadDataEx, &module, image.bytes.data(), 0, nullptr, nullptr);
      return NativeModule{module};
    }
    if (image.bytes.empty() || image.bytes.back() != std::byte{0}) {
      return Error{ErrorCode::kInvalidInput, "the PTX text does not end with a NUL", {}, {}};
    }
    std::array<char, 16384> log{};
    std::array<CUjit_option, 2> options = {kErrorLogBuffer, kErrorLogBufferSize};
    // The option's value is passed in the pointer itself.
    std::array<void*, 2> values = {log.data(), pointer(log.size() - 1)};
    const CUresult status = cuda_.cuModuleLoadDataEx(&module, image.bytes.data(), options.size(),
                                                     options.data(), values.data());
    if (status == kSuccess) return NativeModule{module};
    Error error = failure("cuModuleLoadDataEx", status);
    add_log(error, "the driver's PTX compiler", log.data());
    return error;
  }

  Result<void> unload(int device, NativeModule module) override {
    return release(device, "cuModuleUnload",
                   [&] { return cuda_.cuModuleUnload(static_cast<CUmodule>(module)); });
  }

  Result<NativeFunction> find_function(int device, NativeModule module,
                                       const std::string& name) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    CUfunction function = nullptr;
    KILN_CUDA(cuModuleGetFunction, &function, static_cast<CUmodule>(module), name.c_str());
    return NativeFunction{function};
  }

  Result<NativeSymbol> find_symbol(int device, NativeModule module,
                                   const std::string& name) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    CUdeviceptr variable = 0;
    NativeSymbol symbol;
    KILN_CUDA(cuModuleGetGlobal, &variable, &symbol.bytes, static_cast<CUmodule>(module),
              name.c_str());
    symbol.address = pointer(variable);
    return symbol;
  }

  Result<void> prepare(int device, NativeFunction function) override {
    if (cuda_.cuFuncLoad == nullptr) return {};
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    KILN_CUDA(cuFuncLoad, static_cast<CUfunction>(function));
    return {};
  }

  // Asks for each index until the driver says that there is no such parameter.
  std::optional<std::vector<std::size_t>> parameter_sizes(int device,
                                                          NativeFunction function) override {
    if (cuda_.cuFuncGetParamInfo == nullptr) return std::nullopt;
    const Result<CurrentContext> current = make_current(device);
    if (!current) return std::nullopt;
    std::vector<std::size_t> sizes;
    for (;;) {
      std::size_t offset = 0, size = 0;
      const CUresult status =
          cuda_.cuFuncGetParamInfo(static_cast<CUfunction>(function), sizes.size(), &offset, &size);
      if (status == kInvalidValue) return sizes;
      if (status != kSuccess) return std::nullopt;
      sizes.push_back(size);
    }
  }

  std::optional<std::uint32_t> max_threads(int device, NativeFunction function) override {
    const auto current = make_current(device);
    if (!current) return std::nullopt;
    int bound = 0;
    const CUresult status =
        cuda_.cuFuncGetAttribute(&bound, kMaxThreads, static_cast<CUfunction>(function));
    if (status != kSuccess || bound <= 0) return std::nullopt;
    return static_cast<std::uint32_t>(bound);
  }

  Result<void> launch(int device, const LaunchRequest& request) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    const auto function = static_cast<CUfunction>(request.function);
    if (request.shared_bytes != 0) {
      KILN_TRY(raise_shared_limit(device, function, request.shared_bytes));
    }
    const CUresult status = cuda_.cuLaunchKernel(
        function, request.grid.x, request.grid.y, request.grid.z, request.block.x, request.block.y,
        request.block.z, request.shared_bytes, static_cast<CUstream>(request.stream),
        request.arguments, nullptr);
    if (status == kSuccess) return {};
    if (const auto bound = max_threads(device, function)) {
      KILN_TRY(check_launch_bound(request.block.count(), *bound));
    }
    return failure("cuLaunchKernel", status);
  }

  Result<void*> allocate(int device, std::size_t bytes) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    const BesideCapture relaxed(cuda_);
    CUdeviceptr memory = 0;
    KILN_CUDA(cuMemAlloc, &memory, bytes);
    return pointer(memory);
  }

  Result<void> free(int device, void* memory) override {
    return free_memory(device, "cuMemFree", [&] { return cuda_.cuMemFree(address(memory)); });
  }

  Result<void*> allocate_async(int device, std::size_t bytes, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    const BesideCapture relaxed(cuda_);
    KILN_TRY_ASSIGN(const CUmemoryPool pool, pool_of(device));
    CUdeviceptr memory = 0;
    KILN_CUDA(cuMemAllocFromPoolAsync, &memory, bytes, pool, static_cast<CUstream>(stream));
    return pointer(memory);
  }
  Result<void> free_async(int device, void* memory, NativeStream stream) override {
    return free_memory(device, "cuMemFreeAsync", [&] {
      return cuda_.cuMemFreeAsync(address(memory), static_cast<CUstream>(stream));
    });
  }
  Result<bool> is_capturing(int device, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    CUstreamCaptureStatus state = kNoCapture;
    const CUresult status = cuda_.cuStreamIsCapturing(static_cast<CUstream>(stream), &state);
    if (status == kCaptureImplicit)
      return true;  // the default stream, while another stream is captured
    if (status != kSuccess) return failure("cuStreamIsCapturing", status);
    return state != kNoCapture;
  }
  Result<bool> waits_for_default(int device, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    unsigned int flags = 0;
    KILN_CUDA(cuStreamGetFlags, static_cast<CUstream>(stream), &flags);
    return (flags & kNonBlocking) == 0;
  }

  Result<void*> allocate_pinned(int device, std::size_t bytes) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    const BesideCapture relaxed(cuda_);
    void* memory = nullptr;
    KILN_CUDA(cuMemHostAlloc, &memory, bytes, kPortable);
    return memory;
  }
  Result<void> free_pinned(int device, void* memory) override {
    return free_memory(device, "cuMemFreeHost", [&] { return cuda_.cuMemFreeHost(memory); });
  }

  Result<void> copy(int device, const CopyRequest& request) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    const auto stream = static_cast<CUstream>(request.stream);
    switch (request.direction) {
      case CopyDirection::kToDevice:
        KILN_CUDA(cuMemcpyHtoDAsync, address(request.target), request.source, request.bytes,
                  stream);
        break;
      case CopyDirection::kToHost:
        KILN_CUDA(cuMemcpyDtoHAsync, request.target, address(request.source), request.bytes,
                  stream);
        break;
      case CopyDirection::kOnDevice:
        KILN_CUDA(cuMemcpyDtoDAsync, address(request.target), address(request.source),
                  request.bytes, stream);
        break;
    }
    if (request.wait == Wait::kYes) KILN_CUDA(cuStreamSynchronize, stream);
    return {};
  }

  Result<void> fill(int device, void* target, std::uint8_t value, std::size_t bytes,
                    NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    KILN_CUDA(cuMemsetD8Async, address(target), value, bytes, static_cast<CUstream>(stream));
    return {};
  }

  Result<NativeStream> create_stream(int device) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    CUstream stream = nullptr;
    KILN_CUDA(cuStreamCreate, &stream, 0);
    return NativeStream{stream};
  }
  Result<void> destroy_stream(int device, NativeStream stream) override {
    return release(device, "cuStreamDestroy",
                   [&] { return cuda_.cuStreamDestroy(static_cast<CUstream>(stream)); });
  }
  Result<void> synchronize_stream(int device, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    KILN_CUDA(cuStreamSynchronize, static_cast<CUstream>(stream));
    return {};
  }
  Result<void> synchronize(int device) override {
    return release(device, "cuCtxSynchronize", [&] { return cuda_.cuCtxSynchronize(); });
  }

  Result<NativeEvent> create_event(int device) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    CUevent event = nullptr;
    KILN_CUDA(cuEventCreate, &event, 0);
    return NativeEvent{event};
  }
  Result<void> destroy_event(int device, NativeEvent event) override {
    return release(device, "cuEventDestroy",
                   [&] { return cuda_.cuEventDestroy(static_cast<CUevent>(event)); });
  }
  Result<void> record_event(int device, NativeEvent event, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    KILN_CUDA(cuEventRecord, static_cast<CUevent>(event), static_cast<CUstream>(stream));
    return {};
  }
  Result<void> synchronize_event(int device, NativeEvent event) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    KILN_CUDA(cuEventSynchronize, static_cast<CUevent>(event));
    return {};
  }
  Result<float> milliseconds_between(int device, NativeEvent start, NativeEvent stop) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    float milliseconds = 0;
    KILN_CUDA(cuEventElapsedTime, &milliseconds, static_cast<CUevent>(start),
              static_cast<CUevent>(stop));
    return milliseconds;
  }

  Result<std::shared_ptr<Driver>> in_context(int device, void* context) override {
    if (context == nullptr) {
      return Error{ErrorCode::kInvalidInput, "a null context", {}, {}};
    }
    auto driver = std::make_shared<CudaDriver>(cuda_);
    driver->version_ = version_;
    for (const Context& other : contexts_) driver->contexts_.emplace_back().device = other.device;
    Context& external = driver->context_of(device);
    external.handle = static_cast<CUcontext>(context);
    external.is_external = true;
    KILN_TRY_ASSIGN(const CurrentContext current, driver->make_current(device));
    CUdevice owner = 0;
    KILN_CUDA(cuCtxGetDevice, &owner);
    if (owner == external.device) return std::shared_ptr<Driver>(std::move(driver));
    return Error{ErrorCode::kInvalidInput,
                 "the context is of device " + std::to_string(owner) + ", not of " +
                     std::to_string(external.device),
                 {},
                 {}};
  }

  Result<void> as_current(int device, const std::function<Result<void>()>& call) override {
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    return call();
  }

 private:
  using Pools = SharedPools<CUmemoryPool, CUresult>;

  struct Context {
    CUdevice device = 0;
    std::atomic<CUcontext> handle{nullptr};   // the primary context, retained on first use, ...
    bool is_external = false;                 // ... or a context of the caller
    std::atomic<CUmemoryPool> pool{nullptr};  // shared; acquired on first use
  };

  // Makes a device's context current on this thread while it lives, and then restores the caller's.
  class CurrentContext {
   public:
    CurrentContext(const Symbols& cuda, CUcontext callers, bool switched)
        : cuda_(&cuda), callers_(callers), switched_(switched) {}
    CurrentContext(CurrentContext&& other) noexcept
        : cuda_(other.cuda_),
          callers_(other.callers_),
          switched_(std::exchange(other.switched_, false)) {}
    CurrentContext& operator=(CurrentContext&&) = delete;
    ~CurrentContext() {
      if (switched_) cuda_->cuCtxSetCurrent(callers_);
    }

   private:
    const Symbols* cuda_;
    CUcontext callers_;
    bool switched_;
  };

  // While it lives, this thread may allocate and free memory beside a capture, which goes on. (The
  // driver's relaxed mode; in the others it refuses such calls, and ends the capture.)
  class BesideCapture {
   public:
    explicit BesideCapture(const Symbols& cuda) : cuda_(cuda), is_relaxed_(exchange()) {}
    BesideCapture(const BesideCapture&) = delete;
    BesideCapture& operator=(const BesideCapture&) = delete;
    ~BesideCapture() {
      if (is_relaxed_) exchange();
    }

   private:
    // Exchanges the thread's mode with `mode_`.
    bool exchange() { return cuda_.cuThreadExchangeStreamCaptureMode(&mode_) == kSuccess; }

    const Symbols& cuda_;
    CUstreamCaptureMode mode_ = kRelaxed;
    const bool is_relaxed_;
  };

  Context& context_of(int device) { return contexts_[static_cast<std::size_t>(device)]; }

  Result<CurrentContext> make_current(int device) {
    Context& context = context_of(device);
    CUcontext handle = context.handle.load(std::memory_order_acquire);
    if (handle == nullptr) {
      const std::lock_guard lock(retain_mutex_);
      handle = context.handle.load(std::memory_order_relaxed);
      if (handle == nullptr) {
        KILN_CUDA(cuDevicePrimaryCtxRetain, &handle, context.device);
        context.handle.store(handle, std::memory_order_release);
      }
    }
    CUcontext callers = nullptr;
    KILN_CUDA(cuCtxGetCurrent, &callers);
    if (callers == handle) return CurrentContext(cuda_, callers, false);
    KILN_CUDA(cuCtxSetCurrent, handle);
    return CurrentContext(cuda_, callers, true);
  }

  // Returns kiln's own pool. The device's default pool is shared with the whole program and keeps
  // no free memory.
  Result<CUmemoryPool> pool_of(int device) {
    Context& context = context_of(device);
    if (CUmemoryPool ready = context.pool.load(std::memory_order_acquire)) return ready;
    const std::lock_guard lock(retain_mutex_);
    if (CUmemoryPool ready = context.pool.load(std::memory_order_relaxed)) return ready;
    KILN_TRY_ASSIGN(const CUmemoryPool pool,
                    Pools::of_program().acquire(cuda_.cuMemPoolDestroy, context.device,
                                                [&] { return make_pool(context.device); }));
    context.pool.store(pool, std::memory_order_release);
    return pool;
  }

  Result<CUmemoryPool> make_pool(CUdevice device) {
    std::size_t memory = 0;
    KILN_CUDA(cuDeviceTotalMem, &memory, device);
    std::uint64_t threshold = pool_release_threshold(memory);
    const CUmemPoolProps properties{kPinnedAllocation, 0, kOnDevice, device, {}};
    CUmemoryPool pool = nullptr;
    KILN_CUDA(cuMemPoolCreate, &pool, &properties);
    if (const CUresult status = cuda_.cuMemPoolSetAttribute(pool, kReleaseThreshold, &threshold);
        status != kSuccess) {
      cuda_.cuMemPoolDestroy(pool);
      return failure("cuMemPoolSetAttribute", status);
    }
    return pool;
  }

  // Releases something or waits for it. If the driver or its context is gone, so is the thing; this
  // counts as success.
  template <typename Call>
  Result<void> release(int device, const char* name, Call call) {
    CUcontext callers = nullptr;
    if (cuda_.cuCtxGetCurrent(&callers) == kDeinitialized) return {};
    KILN_TRY_ASSIGN(const CurrentContext current, make_current(device));
    const CUresult status = call();
    if (status == kSuccess || status == kDeinitialized || status == kContextDestroyed) return {};
    return failure(name, status);
  }

  // Like release(), beside captures.
  template <typename Call>
  Result<void> free_memory(int device, const char* name, Call call) {
    return release(device, name, [&] {
      const BesideCapture relaxed(cuda_);
      return call();
    });
  }

  // Raises the function's limit of dynamic shared memory if `bytes` exceeds it. By default, static
  // and dynamic memory together may be 48 KiB. The new limit is all that the device has beside the
  // static part: a fixed value, so that threads that launch with different sizes do not lower each
  // other's limit.
  Result<void> raise_shared_limit(int device, CUfunction function, std::uint32_t bytes) {
    int allowed = 0, limit = 0, static_bytes = 0;
    KILN_CUDA(cuFuncGetAttribute, &allowed, kMaxDynamicShared, function);
    if (bytes <= static_cast<std::uint32_t>(allowed)) return {};
    KILN_CUDA(cuDeviceGetAttribute, &limit, kMaxSharedPerBlockOptin, context_of(device).device);
    KILN_CUDA(cuFuncGetAttribute, &static_bytes, kStaticShared, function);
    KILN_CUDA(cuFuncSetAttribute, function, kMaxDynamicShared, limit - static_bytes);
    return {};
  }

  Error failure(const char* call, CUresult status) const {
    const char* name = nullptr;
    const char* text = nullptr;
    cuda_.cuGetErrorName(status, &name);
    cuda_.cuGetErrorString(status, &text);
    const ErrorCode code = status == kNotFound   ? ErrorCode::kNotFound
                           : status == kNoDevice ? ErrorCode::kUnavailable
                                                 : ErrorCode::kDriver;
    return driver_error(code, call, status, name, text);
  }

  Symbols cuda_;
  int version_ = 0;
  std::deque<Context> contexts_;  // by ordinal; fixed after initialisation
  std::mutex retain_mutex_;
};

#undef KILN_CUDA

}  // namespace
}  // namespace cuda

Result<std::unique_ptr<Driver>> open_cuda_driver(const Library& library) {
  cuda::Symbols symbols;
  if (const std::string missing = symbols.resolve(library); !missing.empty()) {
    return missing_symbol(library.path(), missing);
  }
  auto driver = std::make_unique<cuda::CudaDriver>(symbols);
  KILN_TRY(driver->initialise());
  return std::unique_ptr<Driver>(std::move(driver));
}

}  // namespace kiln::runtime
