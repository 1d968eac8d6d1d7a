#include "runtime/src/module_slot.hpp"

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/diagnostic.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/select_image.hpp"

namespace kiln::runtime {
namespace {

std::string spell(const Dim3& size) {
  return "(" + std::to_string(size.x) + ", " + std::to_string(size.y) + ", " +
         std::to_string(size.z) + ")";
}

Error invalid(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
}

}  // namespace

ModuleSlot::ModuleSlot(DeviceState& device, const ModuleEntry& entry)
    : device_(device), entry_(entry), units_(entry.unit_count), functions_(entry.kernels.size()) {}

ModuleSlot::~ModuleSlot() {
  // Nobody is left to tell of a failure.
  (void)unload();
}

Result<Function> ModuleSlot::load(std::uint32_t kernel) {
  Unit& unit = unit_of(kernel);
  const std::lock_guard lock(unit.mutex);
  if (Function ready = cached(kernel)) return ready;
  KILN_TRY(load_unit(entry_.kernels[kernel].unit));
  KILN_TRY_ASSIGN(const NativeFunction function, find_function(unit, kernel));
  functions_[kernel].store(function);
  return Function(this, kernel);
}

Result<void> ModuleSlot::preload() {
  for (std::uint32_t kernel = 0; kernel < entry_.kernels.size(); ++kernel) {
    Unit& unit = unit_of(kernel);
    const std::lock_guard lock(unit.mutex);
    KILN_TRY(load_unit(entry_.kernels[kernel].unit));
    KILN_TRY_ASSIGN(const NativeFunction function, find_function(unit, kernel));
    if (Result<void> ready = device_.driver().prepare(device_.ordinal(), function); !ready) {
      return device_.failed("preparing " + kernel_name(kernel), std::move(ready).error());
    }
    functions_[kernel].store(function);
  }
  return {};
}

Result<void> ModuleSlot::load_unit(std::uint16_t index) {
  Unit& unit = units_[index];
  if (unit.module != nullptr) return {};
  const auto start = std::chrono::steady_clock::now();
  const DeviceTarget target{device_.target(), device_.info().max_ptx_isa};
  const Selection selection = select_image(entry_.images, index, target);
  if (selection.image == nullptr) {
    return no_image(selection, entry_.name, target, device_.identity());
  }
  const ImageEntry& image = *selection.image;
  const std::string doing =
      "loading module '" + std::string(entry_.name) + "' (" + std::string(image.target) + ")";
  Result<ImageBytes> unpacked = unpack_image(image);
  if (!unpacked) return device_.failed(doing, std::move(unpacked).error());
  Result<NativeModule> module =
      device_.driver().load_image(device_.ordinal(), {image.format, unpacked->bytes});
  if (!module) return device_.failed(doing, std::move(module).error());
  unit.module = *module;
  if (device_.driver().keeps_image_bytes()) unit.image = std::move(*unpacked);
  device_.trace([&] {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    char line[64];
    std::snprintf(line, sizeof line, "%zu bytes in %.2f ms", image.size, took.count());
    return "module '" + std::string(entry_.name) + "': loaded " + std::string(image.target) + " (" +
           std::string(to_string(selection.fit)) + "), " + line;
  });
  return {};
}

Result<NativeFunction> ModuleSlot::find_function(Unit& unit, std::uint32_t kernel) {
  Result<NativeFunction> function = device_.driver().find_function(
      device_.ordinal(), unit.module, std::string(entry_.kernels[kernel].name));
  if (!function) {
    return device_.failed("finding " + kernel_name(kernel), std::move(function).error());
  }
  return function;
}

Result<void> ModuleSlot::unload() {
  Result<void> outcome;
  for (std::uint16_t index = 0; index < units_.size(); ++index) {
    if (Result<void> done = unload_unit(index); !done && outcome) outcome = std::move(done);
  }
  return outcome;
}

Result<void> ModuleSlot::unload_unit(std::uint16_t index) {
  Unit& unit = units_[index];
  const std::lock_guard lock(unit.mutex);
  if (unit.module == nullptr) return {};
  for (std::uint32_t kernel = 0; kernel < entry_.kernels.size(); ++kernel) {
    if (entry_.kernels[kernel].unit == index) functions_[kernel].store(nullptr);
  }
  while (unit.launches.load() != 0) std::this_thread::yield();
  // Work that still runs the module's code has to end first. The module goes in any case.
  Result<void> done = device_.driver().synchronize(device_.ordinal());
  Result<void> unloaded =
      device_.driver().unload(device_.ordinal(), std::exchange(unit.module, nullptr));
  if (done) done = std::move(unloaded);
  unit.image = {};
  if (!done) {
    return device_.failed("unloading module '" + std::string(entry_.name) + "'",
                          std::move(done).error());
  }
  device_.trace([&] { return "module '" + std::string(entry_.name) + "': unloaded"; });
  return {};
}

Result<void> ModuleSlot::launch(std::uint32_t kernel, const LaunchConfig& config,
                                const void* const* addresses, std::size_t count) {
  KILN_TRY(check(kernel, config, count));
  Unit& unit = unit_of(kernel);
  struct Announced {
    explicit Announced(std::atomic<std::uint32_t>& count) : launches(count) { ++launches; }
    ~Announced() { --launches; }
    std::atomic<std::uint32_t>& launches;
  } const announced(unit.launches);
  const NativeFunction function = functions_[kernel].load();
  if (function == nullptr) {
    return Error{ErrorCode::kNotFound,
                 kernel_name(kernel) + " was unloaded from " + device_.identity(),
                 {},
                 {}}
        .hint("ask the device for the function again: that loads its module");
  }
  LaunchRequest request;
  request.function = function;
  request.grid = config.grid;
  request.block = config.block;
  request.shared_bytes = config.shared_bytes;
  request.stream = config.stream.native();
  request.arguments = const_cast<void**>(addresses);  // the drivers' interfaces predate const
  request.argument_count = count;
  if (Result<void> launched = device_.driver().launch(device_.ordinal(), request); !launched) {
    Error error = device_.failed("launching " + kernel_name(kernel), std::move(launched).error());
    error.note("grid " + spell(config.grid) + ", block " + spell(config.block) + ", " +
               std::to_string(config.shared_bytes) + " bytes of dynamic shared memory");
    return error;
  }
  return {};
}

Result<void> ModuleSlot::check(std::uint32_t kernel, const LaunchConfig& config,
                               std::size_t count) const {
  const DeviceInfo& limits = device_.info();
  if (config.grid.count() == 0) {
    return invalid(kernel_name(kernel) + ": empty grid " + spell(config.grid));
  }
  const std::uint64_t threads = config.block.count();
  if (threads == 0 || threads > limits.max_threads_per_block) {
    return invalid(kernel_name(kernel) + ": block " + spell(config.block) + " has " +
                   std::to_string(threads) + " threads, " + limits.id + " takes 1 to " +
                   std::to_string(limits.max_threads_per_block));
  }
  if (config.shared_bytes > limits.max_shared_bytes) {
    return invalid(kernel_name(kernel) + ": " + std::to_string(config.shared_bytes) +
                   " bytes of dynamic shared memory, " + limits.id + " has " +
                   std::to_string(limits.max_shared_bytes) + " a block");
  }
  const std::size_t expected = entry_.kernels[kernel].parameters.size();
  if (count != expected) {
    return invalid(kernel_name(kernel) + " takes " + std::to_string(expected) + " arguments, got " +
                   std::to_string(count));
  }
  return {};
}

std::string ModuleSlot::kernel_name(std::uint32_t kernel) const {
  return "kernel '" + std::string(entry_.kernels[kernel].name) + "' of module '" +
         std::string(entry_.name) + "'";
}

}  // namespace kiln::runtime
