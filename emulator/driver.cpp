// The entry points of libkiln_emulator: the emulator as a driver of the runtime, with the devices
// "emulated:gfx1030", "emulated:gfx1100", ...
//
// Every call is complete when it returns. So streams and events are always in order, and a fault is
// reported by the launch itself.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

#include "base/text.hpp"
#include "emulator/dispatch.hpp"
#include "emulator/kernel_runner.hpp"
#include "runtime/src/checked_copy.hpp"
#include "runtime/src/driver_plugin.hpp"
#include "runtime/src/environment_number.hpp"
#include "runtime/src/immediate_driver.hpp"

namespace kiln::emulator {
namespace {

using namespace kiln::runtime;
using runtime::LaunchRequest;

// A kernel of a loaded image. A NativeFunction points to it, and its module owns it.
struct EmulatedFunction {
  const Program* program = nullptr;
  const Kernel* kernel = nullptr;

  // Sizes in bytes, without the hidden arguments.
  std::vector<std::size_t> parameter_sizes() const {
    std::vector<std::size_t> sizes;
    for (const KernelArgument& argument : kernel->arguments) {
      if (!argument.is_hidden()) sizes.push_back(argument.size);
    }
    return sizes;
  }
};
struct EmulatedModule {
  std::unique_ptr<Program> program;
  std::vector<EmulatedFunction> functions;  // one for each kernel
};

// docs/EMULATOR.md lists the variables.
RunOptions options_from_environment() {
  RunOptions options;
  options.threads =
      static_cast<unsigned>(environment_number("KILN_EMULATOR_THREADS", kThreadBounds)
                                .value_or(std::max(1u, std::thread::hardware_concurrency())));
  options.seed = environment_number("KILN_EMULATOR_SEED").value_or(0);
  options.instruction_limit =
      environment_number("KILN_EMULATOR_LIMIT").value_or(options.instruction_limit);
  if (environment_number("KILN_EMULATOR_CHECKS").value_or(0) != 0)
    options.checks = Checks::kEverything;
  return options;
}

Error not_found(std::string_view kind, const std::string& name) {
  return Error{ErrorCode::kNotFound,
               "the code object has no " + std::string(kind) + " " + quote(name),
               {},
               {},
               {}};
}

// Keeps the launches of a device's streams in order when several threads launch. A launch of the
// default stream waits for those of all streams, and makes them wait.
class StreamOrder {
 public:
  template <typename Launch>
  auto in_turn(NativeStream stream, const Launch& launch) {
    if (stream == nullptr) {
      const std::lock_guard alone(all_streams_);
      return launch();
    }
    const std::shared_lock beside_others(all_streams_);
    const std::lock_guard turn(turns_[std::hash<NativeStream>()(stream) % turns_.size()]);
    return launch();
  }

 private:
  std::shared_mutex all_streams_;
  std::array<std::mutex, 61> turns_;  // streams may share one
};

class EmulatorDriver final : public ImmediateDriver {
 public:
  EmulatorDriver()
      : options_(options_from_environment()),
        memory_(options_.checks == Checks::kEverything ? Tracking::kInitialisation
                                                       : Tracking::kNo) {
    for (const DeviceModel& model : device_models()) {
      if (!model.is_device) continue;
      devices_.push_back(&model);
      orders_.emplace_back();
    }
  }

  std::string version() const override { return "emulator"; }
  bool keeps_image_bytes() const override { return false; }

  Result<int> count_devices() override { return static_cast<int>(devices_.size()); }

  Result<DeviceTraits> identify(int device) override {
    const DeviceModel& model = *devices_[static_cast<std::size_t>(device)];
    const std::string processor(model.processor);
    DeviceTraits traits;
    traits.id = "emulated:" + processor;
    traits.name = processor + " emulated by " + std::to_string(options_.threads) +
                  (options_.threads == 1 ? " thread" : " threads");
    traits.target.kind = TargetKind::kAmd;
    traits.target.processor = processor;
    const Processor* processor_info = find_processor(model.processor);
    if (processor_info->has_xnack) traits.target.xnack = Feature::kOff;
    if (processor_info->has_sramecc) traits.target.sramecc = Feature::kOn;
    traits.wave_width = processor_info->wave_width;
    traits.multiprocessors = options_.threads;
    traits.max_threads_per_block = 1024;
    traits.max_shared_bytes = 64 * 1024;
    traits.memory_bytes = machine_memory();
    return traits;
  }

  Result<NativeModule> load_image(int, const ImageToLoad& image) override {
    auto program = Program::load(image.bytes, operations_);
    if (!program) return std::move(program).error();
    auto module = std::make_unique<EmulatedModule>();
    module->program = std::move(*program);
    for (const Kernel& kernel : module->program->kernels()) {
      module->functions.push_back({module->program.get(), &kernel});
    }
    return NativeModule{module.release()};
  }
  Result<void> unload(int, NativeModule module) override {
    delete static_cast<EmulatedModule*>(module);
    return {};
  }

  Result<NativeFunction> find_function(int, NativeModule handle, const std::string& name) override {
    auto& module = *static_cast<EmulatedModule*>(handle);
    const Program& program = *module.program;
    const Kernel* kernel = program.find_kernel(name);
    if (kernel == nullptr) return not_found("kernel", name);
    const std::vector<std::string> missing = program.missing_in(name);
    if (!missing.empty()) {
      return Error{ErrorCode::kDriver,
                   "kernel " + quote(name) +
                       " has instructions that the emulator lacks: " + join(missing, ", "),
                   {},
                   {},
                   {}};
    }
    return NativeFunction{
        &module.functions[static_cast<std::size_t>(kernel - program.kernels().data())]};
  }

  Result<NativeSymbol> find_symbol(int, NativeModule handle, const std::string& name) override {
    const auto variable = static_cast<EmulatedModule*>(handle)->program->find_variable(name);
    if (variable.address == nullptr) return not_found("variable", name);
    return NativeSymbol{variable.address, variable.bytes};
  }

  std::optional<std::vector<std::size_t>> parameter_sizes(int, NativeFunction function) override {
    return static_cast<const EmulatedFunction*>(function)->parameter_sizes();
  }

  std::optional<std::uint32_t> max_threads(int, NativeFunction function) override {
    return static_cast<const EmulatedFunction*>(function)->kernel->max_threads;
  }

  Result<void> launch(int device, const LaunchRequest& request) override {
    const auto& function = *static_cast<const EmulatedFunction*>(request.function);
    const std::size_t expected = function.parameter_sizes().size();
    if (request.argument_count != expected) {
      return Error{ErrorCode::kInvalidInput,
                   "launch: the code object's kernel takes " + counted(expected, "argument") +
                       ", got " + std::to_string(request.argument_count),
                   {},
                   {},
                   {}};
    }
    emulator::LaunchRequest launch;
    launch.program = function.program;
    launch.kernel = function.kernel;
    launch.memory = &memory_;
    launch.grid = {request.grid.x, request.grid.y, request.grid.z};
    launch.block = {request.block.x, request.block.y, request.block.z};
    launch.dynamic_lds = request.shared_bytes;
    launch.arguments = request.arguments;
    auto counts = orders_[static_cast<std::size_t>(device)].in_turn(
        request.stream, [&] { return emulator::launch(launch, options_); });
    if (!counts) return std::move(counts).error();
    return {};
  }

  Result<void*> allocate(int, std::size_t bytes) override { return memory_.allocate(bytes); }
  Result<void> free(int, void* memory) override { return memory_.free(memory); }
  Result<void> copy(int, const CopyRequest& request) override {
    KILN_TRY(checked_copy(request, [this](const void* address) { return bytes_after(address); }));
    const u64 target = reinterpret_cast<u64>(request.target);
    if (request.direction == CopyDirection::kToDevice) memory_.mark_written(target, request.bytes);
    if (request.direction == CopyDirection::kOnDevice) {
      memory_.copy_marks(target, reinterpret_cast<u64>(request.source), request.bytes);
    }
    return {};
  }
  Result<void> fill(int, void* target, std::uint8_t value, std::size_t bytes,
                    NativeStream) override {
    KILN_TRY(check_copy_bounds("to", target, bytes_after(target), bytes));
    std::memset(target, value, bytes);
    memory_.mark_written(reinterpret_cast<u64>(target), bytes);
    return {};
  }

 private:
  std::optional<u64> bytes_after(const void* address) const {
    return memory_.bytes_after(reinterpret_cast<u64>(address));
  }

  const RunOptions options_;
  MemoryMap memory_;
  const OperationTable operations_;
  std::vector<const DeviceModel*> devices_;
  std::deque<StreamOrder> orders_;  // of each device
};

}  // namespace
}  // namespace kiln::emulator

namespace {

// Returns null, or the reason why this machine cannot run the emulator.
const char* reason_against() {
  const bool fits =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");  // and F16C with them
  return fits ? nullptr : "the emulator needs a processor with AVX2, FMA and F16C";
}

}  // namespace

extern "C" KILN_PLUGIN_EXPORT void kiln_open_driver(kiln::runtime::DriverPlugin* plugin) {
  if (plugin->version != kiln::runtime::kDriverPluginVersion) return;
  if (const char* reason = reason_against()) {
    std::strncpy(plugin->error, reason, sizeof plugin->error - 1);
    return;
  }
  try {
    plugin->driver = new kiln::emulator::EmulatorDriver;
    plugin->close = [](kiln::runtime::Driver* driver) { delete driver; };
  } catch (const std::exception& failure) {
    std::strncpy(plugin->error, failure.what(), sizeof plugin->error - 1);
  }
}

extern "C" KILN_PLUGIN_EXPORT void kiln_open_kernel_runner(
    kiln::emulator::KernelRunnerPlugin* plugin) {
  plugin->error = reason_against();
  if (plugin->error != nullptr) return;
  plugin->runner = kiln::emulator::make_kernel_runner().release();
  plugin->close = [](kiln::emulator::KernelRunner* runner) { delete runner; };
}
