#include "runtime/src/hip_driver.hpp"

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "base/diagnostic.hpp"
#include "formats/launch_bound.hpp"
#include "runtime/src/driver_error.hpp"
#include "runtime/src/hip_symbols.hpp"
#include "runtime/src/shared_pools.hpp"

namespace kiln::runtime {
namespace hip {
namespace {

// Calls a function and returns its error. For member functions of HipDriver.
#define KILN_HIP(function, ...)                                                   \
  do {                                                                            \
    if (const hipError_t status = hip_.function(__VA_ARGS__); status != kSuccess) \
      return failure(#function, status);                                          \
  } while (false)

class HipDriver final : public Driver {
 public:
  explicit HipDriver(const Symbols& symbols) : hip_(symbols) {}

  ~HipDriver() override {
    for (const auto& [device, pool] : pools_) {
      if (pool != nullptr) Pools::of_program().release(hip_.hipMemPoolDestroy, device);
    }
  }

  Result<void> initialise() {
    KILN_HIP(hipInit, 0);
    KILN_HIP(hipRuntimeGetVersion, &version_);
    KILN_HIP(hipGetDeviceCount, &count_);
    return {};
  }

  std::string version() const override {
    return "HIP " + std::to_string(version_ / 10000000) + "." +
           std::to_string(version_ % 10000000 / 100000);
  }
  // HIP uses a raw code object in place.
  bool keeps_image_bytes() const override { return true; }
  Result<int> count_devices() override { return count_; }

  Result<DeviceTraits> identify(int device) override {
    const auto attribute = [&](hipDeviceAttribute_t which, std::uint32_t& value) -> Result<void> {
      int number = 0;
      KILN_HIP(hipDeviceGetAttribute, &number, which, device);
      value = static_cast<std::uint32_t>(number);
      return {};
    };
    DeviceTraits traits;
    traits.id = "hip:" + std::to_string(device);
    std::array<char, 256> name{};
    KILN_HIP(hipDeviceGetName, name.data(), static_cast<int>(name.size()) - 1, device);
    traits.name = name.data();
    KILN_TRY(attribute(kWarpSize, traits.wave_width));
    KILN_TRY(attribute(kMultiprocessorCount, traits.multiprocessors));
    KILN_TRY(attribute(kMaxThreadsPerBlock, traits.max_threads_per_block));
    KILN_TRY(attribute(kMaxSharedPerBlock, traits.max_shared_bytes));
    std::size_t memory = 0;
    KILN_HIP(hipDeviceTotalMem, &memory, device);
    traits.memory_bytes = memory;
    // A release that does not know this attribute has no pools.
    std::uint32_t pools = 0;
    traits.has_pool = hip_.has_pools() && attribute(kMemoryPoolsSupported, pools) && pools != 0;

    auto properties = std::make_unique<hipDeviceProp_t>();
    if (hip_.hipGetDevicePropertiesR0600 != nullptr) {
      KILN_HIP(hipGetDevicePropertiesR0600, properties.get(), device);
    } else {
      KILN_HIP(hipGetDeviceProperties, properties.get(), device);
    }
    const std::string arch = find_gcn_arch({properties->bytes, sizeof properties->bytes});
    if (arch.empty()) {
      return Error{
          ErrorCode::kDriver,
          "hipGetDeviceProperties: no architecture that kiln knows for '" + traits.name + "'",
          {},
          {}};
    }
    KILN_TRY_ASSIGN(traits.target, parse_target_id(arch));
    return traits;
  }

  // A NativeModule is a hipLibrary_t if the release has them, and a hipModule_t otherwise.
  Result<NativeModule> load_image(int device, const ImageToLoad& image) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    if (!hip_.has_libraries()) {
      hipModule_t module = nullptr;
      KILN_HIP(hipModuleLoadData, &module, image.bytes.data());
      return NativeModule{module};
    }
    hipLibrary_t library = nullptr;
    KILN_HIP(hipLibraryLoadData, &library, image.bytes.data(), nullptr, nullptr, 0, nullptr,
             nullptr, 0);
    // A library's image is parsed when it is first queried. The query here makes errors in the
    // image appear now.
    unsigned int count = 0;
    if (const hipError_t status = hip_.hipLibraryGetKernelCount(&count, library);
        status != kSuccess) {
      hip_.hipLibraryUnload(library);
      return failure("hipLibraryGetKernelCount", status);
    }
    return NativeModule{library};
  }
  Result<void> unload(int device, NativeModule module) override {
    if (hip_.has_libraries()) {
      return release(device, "hipLibraryUnload",
                     [&] { return hip_.hipLibraryUnload(static_cast<hipLibrary_t>(module)); });
    }
    return release(device, "hipModuleUnload",
                   [&] { return hip_.hipModuleUnload(static_cast<hipModule_t>(module)); });
  }

  Result<NativeFunction> find_function(int device, NativeModule module,
                                       const std::string& name) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    hipFunction_t function = nullptr;
    if (hip_.has_libraries()) {
      hipKernel_t kernel = nullptr;
      KILN_HIP(hipLibraryGetKernel, &kernel, static_cast<hipLibrary_t>(module), name.c_str());
      KILN_HIP(hipKernelGetFunction, &function, kernel);
    } else {
      KILN_HIP(hipModuleGetFunction, &function, static_cast<hipModule_t>(module), name.c_str());
    }
    return NativeFunction{function};
  }
  Result<NativeSymbol> find_symbol(int device, NativeModule module,
                                   const std::string& name) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    NativeSymbol symbol;
    if (hip_.has_libraries()) {
      KILN_HIP(hipLibraryGetGlobal, &symbol.address, &symbol.bytes,
               static_cast<hipLibrary_t>(module), name.c_str());
    } else {
      KILN_HIP(hipModuleGetGlobal, &symbol.address, &symbol.bytes, static_cast<hipModule_t>(module),
               name.c_str());
    }
    return symbol;
  }

  std::optional<std::uint32_t> max_threads(int device, NativeFunction function) override {
    const auto current = make_current(device);
    if (!current || hip_.hipFuncGetAttribute == nullptr) return std::nullopt;
    int bound = 0;
    const hipError_t status =
        hip_.hipFuncGetAttribute(&bound, kMaxThreads, static_cast<hipFunction_t>(function));
    if (status != kSuccess || bound <= 0) return std::nullopt;
    return static_cast<std::uint32_t>(bound);
  }

  Result<void> launch(int device, const LaunchRequest& request) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    const auto function = static_cast<hipFunction_t>(request.function);
    const hipError_t status = hip_.hipModuleLaunchKernel(
        function, request.grid.x, request.grid.y, request.grid.z, request.block.x, request.block.y,
        request.block.z, request.shared_bytes, static_cast<hipStream_t>(request.stream),
        request.arguments, nullptr);
    if (status == kSuccess) return {};
    if (const auto bound = max_threads(device, function)) {
      KILN_TRY(check_launch_bound(request.block.count(), *bound));
    }
    return failure("hipModuleLaunchKernel", status);
  }

  Result<void*> allocate(int device, std::size_t bytes) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    const BesideCapture relaxed(hip_);
    void* memory = nullptr;
    KILN_HIP(hipMalloc, &memory, bytes);
    return memory;
  }
  Result<void> free(int device, void* memory) override {
    return free_memory(device, "hipFree", [&] { return hip_.hipFree(memory); });
  }

  Result<void*> allocate_async(int device, std::size_t bytes, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    const BesideCapture relaxed(hip_);
    KILN_TRY_ASSIGN(const hipMemPool_t pool, pool_of(device));
    void* memory = nullptr;
    KILN_HIP(hipMallocFromPoolAsync, &memory, bytes, pool, static_cast<hipStream_t>(stream));
    return memory;
  }
  Result<void> free_async(int device, void* memory, NativeStream stream) override {
    return free_memory(device, "hipFreeAsync",
                       [&] { return hip_.hipFreeAsync(memory, static_cast<hipStream_t>(stream)); });
  }
  Result<bool> is_capturing(int device, NativeStream stream) override {
    if (hip_.hipStreamIsCapturing == nullptr) return false;
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    hipStreamCaptureStatus state = kNoCapture;
    const hipError_t status = hip_.hipStreamIsCapturing(static_cast<hipStream_t>(stream), &state);
    if (status == kCaptureImplicit)
      return true;  // the default stream, while another stream is captured
    if (status != kSuccess) return failure("hipStreamIsCapturing", status);
    return state != kNoCapture;
  }
  Result<bool> waits_for_default(int device, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    unsigned int flags = 0;
    KILN_HIP(hipStreamGetFlags, static_cast<hipStream_t>(stream), &flags);
    return (flags & kNonBlocking) == 0;
  }

  Result<void*> allocate_pinned(int device, std::size_t bytes) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    const BesideCapture relaxed(hip_);
    void* memory = nullptr;
    KILN_HIP(hipHostMalloc, &memory, bytes, kPortable);
    return memory;
  }
  Result<void> free_pinned(int device, void* memory) override {
    return free_memory(device, "hipHostFree", [&] { return hip_.hipHostFree(memory); });
  }

  Result<void> copy(int device, const CopyRequest& request) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    const auto stream = static_cast<hipStream_t>(request.stream);
    const hipMemcpyKind kind = request.direction == CopyDirection::kToDevice ? kHostToDevice
                               : request.direction == CopyDirection::kToHost ? kDeviceToHost
                                                                             : kDeviceToDevice;
    KILN_HIP(hipMemcpyAsync, request.target, request.source, request.bytes, kind, stream);
    if (request.wait == Wait::kYes) KILN_HIP(hipStreamSynchronize, stream);
    return {};
  }
  Result<void> fill(int device, void* target, std::uint8_t value, std::size_t bytes,
                    NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    KILN_HIP(hipMemsetAsync, target, value, bytes, static_cast<hipStream_t>(stream));
    return {};
  }

  Result<NativeStream> create_stream(int device) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    hipStream_t stream = nullptr;
    KILN_HIP(hipStreamCreate, &stream);
    return NativeStream{stream};
  }
  Result<void> destroy_stream(int device, NativeStream stream) override {
    return release(device, "hipStreamDestroy",
                   [&] { return hip_.hipStreamDestroy(static_cast<hipStream_t>(stream)); });
  }
  Result<void> synchronize_stream(int device, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    KILN_HIP(hipStreamSynchronize, static_cast<hipStream_t>(stream));
    return {};
  }
  Result<void> synchronize(int device) override {
    return release(device, "hipDeviceSynchronize", [&] { return hip_.hipDeviceSynchronize(); });
  }

  Result<NativeEvent> create_event(int device) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    hipEvent_t event = nullptr;
    KILN_HIP(hipEventCreate, &event);
    return NativeEvent{event};
  }
  Result<void> destroy_event(int device, NativeEvent event) override {
    return release(device, "hipEventDestroy",
                   [&] { return hip_.hipEventDestroy(static_cast<hipEvent_t>(event)); });
  }
  Result<void> record_event(int device, NativeEvent event, NativeStream stream) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    KILN_HIP(hipEventRecord, static_cast<hipEvent_t>(event), static_cast<hipStream_t>(stream));
    return {};
  }
  Result<void> synchronize_event(int device, NativeEvent event) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    KILN_HIP(hipEventSynchronize, static_cast<hipEvent_t>(event));
    return {};
  }
  Result<float> milliseconds_between(int device, NativeEvent start, NativeEvent stop) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    float milliseconds = 0;
    KILN_HIP(hipEventElapsedTime, &milliseconds, static_cast<hipEvent_t>(start),
             static_cast<hipEvent_t>(stop));
    return milliseconds;
  }

  Result<void> as_current(int device, const std::function<Result<void>()>& call) override {
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    return call();
  }

 private:
  using Pools = SharedPools<hipMemPool_t, hipError_t>;

  // Makes a device current on this thread while it lives, and then restores the caller's.
  class CurrentDevice {
   public:
    CurrentDevice(const Symbols& hip, int callers, bool switched)
        : hip_(&hip), callers_(callers), switched_(switched) {}
    CurrentDevice(CurrentDevice&& other) noexcept
        : hip_(other.hip_),
          callers_(other.callers_),
          switched_(std::exchange(other.switched_, false)) {}
    CurrentDevice& operator=(CurrentDevice&&) = delete;
    ~CurrentDevice() {
      if (switched_) hip_->hipSetDevice(callers_);
    }

   private:
    const Symbols* hip_;
    int callers_;
    bool switched_;
  };

  // While it lives, this thread may allocate and free memory beside a capture, which goes on. (The
  // driver's relaxed mode; in the others it refuses such calls, and ends the capture.)
  // Does nothing on releases before 5.0, which lack that mode.
  class BesideCapture {
   public:
    explicit BesideCapture(const Symbols& hip) : hip_(hip), is_relaxed_(exchange()) {}
    BesideCapture(const BesideCapture&) = delete;
    BesideCapture& operator=(const BesideCapture&) = delete;
    ~BesideCapture() {
      if (is_relaxed_) exchange();
    }

   private:
    // Exchanges the thread's mode with `mode_`.
    bool exchange() {
      return hip_.hipThreadExchangeStreamCaptureMode != nullptr &&
             hip_.hipThreadExchangeStreamCaptureMode(&mode_) == kSuccess;
    }

    const Symbols& hip_;
    hipStreamCaptureMode mode_ = kRelaxed;
    const bool is_relaxed_;
  };

  Result<CurrentDevice> make_current(int device) {
    int callers = 0;
    KILN_HIP(hipGetDevice, &callers);
    if (callers == device) return CurrentDevice(hip_, callers, false);
    KILN_HIP(hipSetDevice, device);
    return CurrentDevice(hip_, callers, true);
  }

  // Returns kiln's own pool, acquired on first use. The device's default pool is shared with the
  // whole program and keeps no free memory.
  Result<hipMemPool_t> pool_of(int device) {
    const std::lock_guard lock(pools_mutex_);
    hipMemPool_t& pool = pools_[device];
    if (pool != nullptr) return pool;
    KILN_TRY_ASSIGN(pool, Pools::of_program().acquire(hip_.hipMemPoolDestroy, device,
                                                      [&] { return make_pool(device); }));
    return pool;
  }

  Result<hipMemPool_t> make_pool(int device) {
    std::size_t memory = 0;
    KILN_HIP(hipDeviceTotalMem, &memory, device);
    std::uint64_t threshold = pool_release_threshold(memory);
    const hipMemPoolProps properties{kPinnedAllocation, 0, kOnDevice, device, {}};
    hipMemPool_t pool = nullptr;
    KILN_HIP(hipMemPoolCreate, &pool, &properties);
    if (const hipError_t status = hip_.hipMemPoolSetAttribute(pool, kReleaseThreshold, &threshold);
        status != kSuccess) {
      hip_.hipMemPoolDestroy(pool);
      return failure("hipMemPoolSetAttribute", status);
    }
    return pool;
  }

  // Releases something or waits for it. If the driver is gone, so is the thing; this counts as
  // success.
  template <typename Call>
  Result<void> release(int device, const char* name, Call call) {
    int callers = 0;
    if (hip_.hipGetDevice(&callers) == kDeinitialized) return {};
    KILN_TRY_ASSIGN(const CurrentDevice current, make_current(device));
    const hipError_t status = call();
    if (status == kSuccess || status == kDeinitialized || status == kContextDestroyed) return {};
    return failure(name, status);
  }

  // Like release(), beside captures.
  template <typename Call>
  Result<void> free_memory(int device, const char* name, Call call) {
    return release(device, name, [&] {
      const BesideCapture relaxed(hip_);
      return call();
    });
  }

  Error failure(const char* call, hipError_t status) const {
    const ErrorCode code = status == kNotFound   ? ErrorCode::kNotFound
                           : status == kNoDevice ? ErrorCode::kUnavailable
                                                 : ErrorCode::kDriver;
    return driver_error(code, call, status, hip_.hipGetErrorName(status),
                        hip_.hipGetErrorString(status));
  }

  Symbols hip_;
  int version_ = 0;  // 10000000 * major + 100000 * minor + patch
  int count_ = 0;
  std::mutex pools_mutex_;
  std::map<int, hipMemPool_t> pools_;  // by device, null until acquired; guarded by pools_mutex_
};

#undef KILN_HIP

}  // namespace
}  // namespace hip

Result<std::unique_ptr<Driver>> open_hip_driver(const Library& library) {
  hip::Symbols symbols;
  if (const std::string missing = symbols.resolve(library); !missing.empty()) {
    return missing_symbol(library.path(), missing);
  }
  if (symbols.hipGetDevicePropertiesR0600 == nullptr && symbols.hipGetDeviceProperties == nullptr) {
    return missing_symbol(library.path(), "hipGetDeviceProperties");
  }
  auto driver = std::make_unique<hip::HipDriver>(symbols);
  KILN_TRY(driver->initialise());
  return std::unique_ptr<Driver>(std::move(driver));
}

std::string find_gcn_arch(std::string_view properties) {
  constexpr std::size_t kNameBytes = 256;  // the first member, in every release
  for (std::size_t at = kNameBytes; (at = properties.find("gfx", at)) != std::string_view::npos;
       ++at) {
    const std::string_view rest = properties.substr(at, kNameBytes);
    const std::string text(rest.substr(0, rest.find('\0')));
    if (text.size() < rest.size() && parse_target_id(text)) return text;
  }
  return {};
}

}  // namespace kiln::runtime
