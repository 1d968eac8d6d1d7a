// The host as a driver of the runtime: devices "host" (waves of 32 lanes) and "host:wave64".
//
// Every call is complete when it returns, so streams and events are always in order.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/host_image.hpp"
#include "formats/launch_bound.hpp"
#include "host/buffers.hpp"
#include "host/engine.hpp"
#include "host/faults.hpp"
#include "host/image.hpp"
#include "runtime/src/checked_copy.hpp"
#include "runtime/src/driver_plugin.hpp"
#include "runtime/src/environment_number.hpp"
#include "runtime/src/immediate_driver.hpp"

namespace kiln::host {
namespace {

using namespace kiln::runtime;

// A kernel of a loaded image. A NativeFunction points to it, and its module owns it.
struct HostFunction {
  std::string name;
  RunFunction run = nullptr;
  std::uint32_t max_threads = kMaxBlockThreads;
  std::vector<std::size_t> parameter_sizes;  // in bytes
  std::vector<bool> is_pointer;              // for each parameter
};

std::optional<std::uint64_t> pointer_in(const HostFunction& function, const LaunchRequest& request,
                                        std::size_t argument) {
  if (!function.is_pointer[argument]) return std::nullopt;
  std::uintptr_t address = 0;
  std::memcpy(&address, request.arguments[argument], sizeof address);
  return address;
}

PointerArguments pointers_of(const HostFunction& function, const LaunchRequest& request) {
  PointerArguments pointers(request.argument_count);
  for (std::size_t i = 0; i < pointers.size(); ++i) pointers[i] = pointer_in(function, request, i);
  return pointers;
}

class LaunchAddressDescriber final : public AddressDescriber {
 public:
  LaunchAddressDescriber(const Buffers& buffers, const HostFunction& function,
                         const LaunchRequest& request)
      : buffers_(buffers), function_(function), request_(request) {}

  std::string describe(std::uint64_t address) const override {
    const PointerArguments arguments = pointers_of(function_, request_);
    if (address < kNearNull) {
      const std::string null = null_arguments(arguments);
      return null.empty() ? null : "where no memory is (" + null + ")";
    }
    const auto buffer = buffers_.guarded_by(address);
    return buffer ? describe_address(*buffer, address, describe_buffer(*buffer, arguments)) : "";
  }

 private:
  const Buffers& buffers_;
  const HostFunction& function_;
  const LaunchRequest& request_;
};

struct HostModule {
  std::unique_ptr<Image> image;
  std::vector<KernelInfo> kernels;  // sorted by name
  std::mutex mutex;
  std::vector<std::unique_ptr<HostFunction>> functions;  // pointers: addresses stay valid
};

// Number of workers that the user asked for; 0 if the variable is not set.
unsigned requested_workers() {
  return static_cast<unsigned>(environment_number("KILN_HOST_THREADS", kThreadBounds).value_or(0));
}

constexpr std::uint32_t kWaveWidths[] = {32, 64};  // by device

class HostDriver final : public ImmediateDriver {
 public:
  HostDriver() : engine_(requested_workers()) {}

  std::string version() const override { return "host"; }
  bool keeps_image_bytes() const override { return false; }

  Result<int> count_devices() override { return static_cast<int>(std::size(kWaveWidths)); }

  Result<DeviceTraits> identify(int device) override {
    DeviceTraits traits;
    traits.wave_width = wave_width(device);
    traits.id = traits.wave_width == 64 ? "host:wave64" : "host";
    traits.name = "this machine's processor, " + std::to_string(engine_.workers()) +
                  (engine_.workers() == 1 ? " thread" : " threads");
    traits.target.kind = TargetKind::kHost;
    traits.target.processor = "host";
    traits.target.wave64 = traits.wave_width == 64;
    traits.multiprocessors = engine_.workers();
    traits.max_threads_per_block = kMaxBlockThreads;
    traits.max_shared_bytes = kSharedMemoryBytes;
    traits.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return traits;
  }

  Result<NativeModule> load_image(int device, const ImageToLoad& image) override {
    auto loaded = Image::load(image.bytes, wave_width(device));
    if (!loaded) return std::move(loaded).error();
    auto module = std::make_unique<HostModule>();
    module->image = std::move(*loaded);
    Result<HostImage> records = read_host_image(image.bytes);
    if (!records) return std::move(records).error();
    module->kernels = std::move(records->kernels);
    return NativeModule{module.release()};
  }

  Result<void> unload(int, NativeModule module) override {
    delete static_cast<HostModule*>(module);
    return {};
  }

  Result<NativeFunction> find_function(int, NativeModule handle, const std::string& name) override {
    auto& module = *static_cast<HostModule*>(handle);
    const RunFunction run = module.image->find(name);
    if (run == nullptr) {
      return Error{ErrorCode::kNotFound, "the host image has no kernel '" + name + "'", {}, {}};
    }
    const std::lock_guard lock(module.mutex);
    const auto record = std::lower_bound(
        module.kernels.begin(), module.kernels.end(), name,
        [](const KernelInfo& kernel, const std::string& wanted) { return kernel.name < wanted; });
    if (record == module.kernels.end() || record->name != name) {
      return Error{ErrorCode::kNotFound, "the host image has no record of '" + name + "'", {}, {}};
    }
    HostFunction function{name, run, record->max_threads.value_or(kMaxBlockThreads), {}, {}};
    for (const Parameter& parameter : record->parameters) {
      function.parameter_sizes.push_back(parameter.size);
      function.is_pointer.push_back(parameter.kind == ParameterKind::kPointer);
    }
    module.functions.push_back(std::make_unique<HostFunction>(std::move(function)));
    return NativeFunction{module.functions.back().get()};
  }

  Result<NativeSymbol> find_symbol(int, NativeModule handle, const std::string& name) override {
    NativeSymbol symbol;
    symbol.address = static_cast<HostModule*>(handle)->image->find_symbol(name, symbol.bytes);
    if (symbol.address == nullptr) {
      return Error{ErrorCode::kNotFound, "the host image has no variable '" + name + "'", {}, {}};
    }
    return symbol;
  }

  std::optional<std::vector<std::size_t>> parameter_sizes(int, NativeFunction function) override {
    return static_cast<const HostFunction*>(function)->parameter_sizes;
  }

  std::optional<std::uint32_t> max_threads(int, NativeFunction function) override {
    return static_cast<const HostFunction*>(function)->max_threads;
  }

  Result<void> launch(int device, const LaunchRequest& request) override {
    const auto& function = *static_cast<const HostFunction*>(request.function);
    const std::size_t expected = function.parameter_sizes.size();
    if (request.argument_count != expected) {
      return Error{ErrorCode::kInvalidInput,
                   "launch: the host image's kernel takes " + std::to_string(expected) +
                       " arguments, got " + std::to_string(request.argument_count),
                   {},
                   {}};
    }
    KILN_TRY(check_launch_bound(request.block.count(), function.max_threads));
    Launch launch;
    launch.kernel = function.name;
    launch.run = function.run;
    launch.arguments = request.arguments;
    launch.grid = {request.grid.x, request.grid.y, request.grid.z};
    launch.block = {request.block.x, request.block.y, request.block.z};
    launch.dynamic_shared_bytes = request.shared_bytes;
    launch.wave_width = wave_width(device);
    const LaunchAddressDescriber describer(buffers_, function, request);
    launch.describer = &describer;
    KILN_TRY(engine_.launch(launch));
    return check_overruns(function, request);
  }

  Result<void*> allocate(int, std::size_t bytes) override {
    void* const memory = buffers_.allocate(bytes);
    if (memory == nullptr) {
      return Error{ErrorCode::kDriver,
                   "no memory: cannot allocate " + std::to_string(bytes) + " bytes",
                   {},
                   {}};
    }
    return memory;
  }
  Result<void> free(int, void* memory) override {
    buffers_.free(memory);
    return {};
  }
  Result<void> copy(int, const CopyRequest& request) override {
    return checked_copy(request,
                        [this](const void* address) { return buffers_.bytes_after(address); });
  }
  Result<void> fill(int, void* target, std::uint8_t value, std::size_t bytes,
                    NativeStream) override {
    KILN_TRY(check_copy_bounds("to", target, buffers_.bytes_after(target), bytes));
    std::memset(target, value, bytes);
    return {};
  }

 private:
  // Returns an error if the kernel wrote to the bytes between the end of a buffer and its guard.
  Result<void> check_overruns(const HostFunction& function, const LaunchRequest& request) {
    for (std::size_t i = 0; i < request.argument_count; ++i) {
      const auto pointer = pointer_in(function, request, i);
      const auto overrun = pointer ? buffers_.take_overrun(*pointer) : std::nullopt;
      if (!overrun) continue;
      const std::string name = describe_buffer(overrun->buffer, pointers_of(function, request));
      return Error{ErrorCode::kDriver,
                   "write " + describe_address(overrun->buffer, overrun->address, name) +
                       ": kernel '" + function.name + "'",
                   {},
                   {}}
          .hint(kMoreDetailHint);
    }
    return {};
  }

  static std::uint32_t wave_width(int device) {
    return kWaveWidths[static_cast<std::size_t>(device)];
  }
  Buffers buffers_;
  Engine engine_;
};

}  // namespace
}  // namespace kiln::host

extern "C" KILN_PLUGIN_EXPORT void kiln_open_driver(kiln::runtime::DriverPlugin* plugin) {
  if (plugin->version != kiln::runtime::kDriverPluginVersion) return;
  try {
    plugin->driver = new kiln::host::HostDriver;
    plugin->close = [](kiln::runtime::Driver* driver) { delete driver; };
  } catch (const std::exception& failure) {
    std::strncpy(plugin->error, failure.what(), sizeof plugin->error - 1);
  }
}
