#include "runtime/src/module_cache.hpp"

namespace kiln::runtime {

ModuleCache::ModuleCache(DeviceState& device) : device_(device) {
  tables_.push_back(std::make_unique<Table>(32));
  table_.store(tables_.back().get());
}

void ModuleCache::Table::insert(ModuleSlot& slot) {
  std::size_t at = place(slot.entry());
  while (slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
  slots[at].store(&slot, std::memory_order_release);
}

ModuleSlot& ModuleCache::find_or_add(const ModuleEntry& entry) {
  if (ModuleSlot* slot = find(entry)) return *slot;
  const std::lock_guard lock(mutex_);
  if (ModuleSlot* slot = find(entry)) return *slot;
  ModuleSlot& added = *all_.emplace_back(std::make_unique<ModuleSlot>(device_, entry));
  if (const std::size_t size = tables_.back()->mask + 1; all_.size() * 2 > size) {
    auto larger = std::make_unique<Table>(2 * size);
    for (const auto& slot : all_) larger->insert(*slot);
    table_.store(tables_.emplace_back(std::move(larger)).get(), std::memory_order_release);
  } else {
    tables_.back()->insert(added);
  }
  return added;
}

}  // namespace kiln::runtime
