// Looks up kernels for Device. This is the hot path of a program that launches many kernels, so the
// file is compiled for speed; the rest of the runtime is compiled for size.
#include <utility>

#include "base/diagnostic.hpp"
#include "kiln/device.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/no_such_kernel.hpp"

namespace kiln {

Function Device::cached(const ModuleEntry& module, std::uint32_t kernel) const noexcept {
  runtime::ModuleSlot* const slot = state_->modules().find(module);
  runtime::KernelSlot* const ready = slot != nullptr ? slot->cached(kernel) : nullptr;
  return ready != nullptr ? Function({state_, ready}) : Function();
}

Result<Function> Device::load_kernel(const ModuleEntry& module, std::uint32_t kernel) const {
  KILN_TRY_ASSIGN(runtime::KernelSlot* const slot,
                  state_->modules().find_or_add(module).load(kernel));
  return Function({state_, slot});
}

Result<Function> Device::function(std::string_view name, const ModuleEntry& module) const {
  std::ptrdiff_t found = module.find(name);
  if (found < 0) {
    KILN_TRY_ASSIGN(found, runtime::find_by_readable_name(name, module));
  }
  if (found < 0) return runtime::no_such_kernel(name, module);
  const auto kernel = static_cast<std::uint32_t>(found);
  if (Function ready = cached(module, kernel)) return ready;
  return load_kernel(module, kernel);
}

}  // namespace kiln
