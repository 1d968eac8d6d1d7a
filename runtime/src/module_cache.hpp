// The modules of one device: finds the slot of a catalog's entry without a lock.
//
// A hash table of slots, keyed by the entry's address. Readers probe the current table. Adding a
// slot takes the mutex and publishes a larger table when the current one is half full. Older tables
// are kept until the end: together they are no larger than the newest. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/digest.hpp"
#include "kiln/catalog.hpp"
#include "runtime/src/module_slot.hpp"

namespace kiln::runtime {

class DeviceState;

class ModuleCache {
 public:
  explicit ModuleCache(DeviceState& device);

  // Returns the entry's slot, or null if it was never asked for.
  ModuleSlot* find(const ModuleEntry& entry) const noexcept {
    const Table& table = *table_.load(std::memory_order_acquire);
    for (std::size_t i = table.bucket(entry);; i = (i + 1) & table.mask) {
      ModuleSlot* slot = table.slots[i].load(std::memory_order_acquire);
      if (slot == nullptr || slot->entry() == &entry) return slot;
    }
  }
  ModuleSlot& find_or_add(const ModuleEntry& entry);

  // Returns the module of an image that the caller brings. Copies the image on first use. Takes a
  // lock.
  ModuleSlot& find_or_add(std::span<const std::byte> image);

 private:
  struct Table {
    explicit Table(std::size_t size) : mask(size - 1), slots(size) {}
    std::size_t bucket(const ModuleEntry& entry) const noexcept {
      const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&entry));
      return static_cast<std::size_t>(address * 0x9E3779B97F4A7C15u >> 32) & mask;
    }
    void insert(ModuleSlot& slot);
    std::size_t mask;  // size - 1; the size is a power of two
    std::vector<std::atomic<ModuleSlot*>> slots;
  };

  DeviceState& device_;
  std::mutex mutex_;                              // held while adding
  std::vector<std::unique_ptr<Table>> tables_;    // the last one is current
  std::vector<std::unique_ptr<ModuleSlot>> all_;  // in order of first use
  std::atomic<const Table*> table_{nullptr};

  std::mutex images_mutex_;
  std::map<Digest, std::unique_ptr<ModuleSlot>> images_;  // by content; guarded by images_mutex_
};

}  // namespace kiln::runtime
