// Device's look-up of kernels: the hot path of a program that launches many. Compiled for speed,
// where the rest of the runtime is compiled for size.
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/device.hpp"
#include "runtime/src/device_state.hpp"

namespace kiln {

Function Device::cached(const ModuleEntry& module, std::uint32_t kernel) const noexcept {
  runtime::ModuleSlot* slot = state_->modules().find(module);
  return slot != nullptr ? Function(slot->cached(kernel)) : Function();
}

Result<Function> Device::load(const ModuleEntry& module, std::uint32_t kernel) const {
  KILN_TRY_ASSIGN(runtime::KernelSlot* const slot,
                  state_->modules().find_or_add(module).load(kernel));
  return Function(slot);
}

Result<Function> Device::get_or_load_func(std::string_view name, const ModuleEntry& module) const {
  const std::ptrdiff_t found = module.find(name);
  if (found < 0) {
    Error error{
        ErrorCode::kNotFound,
        "module '" + std::string(module.name) + "' has no kernel '" + std::string(name) + "'",
        {},
        {}};
    std::vector<std::string_view> names;
    for (const KernelEntry& kernel : module.kernels) names.push_back(kernel.name);
    if (const std::string similar = nearest(name, names); !similar.empty()) {
      error.hint("did you mean '" + similar + "'?");
    }
    return error;
  }
  const auto kernel = static_cast<std::uint32_t>(found);
  if (Function ready = cached(module, kernel)) return ready;
  return load(module, kernel);
}

}  // namespace kiln
