#include "runtime/src/module_cache.hpp"

#include <algorithm>

#include "runtime/src/device_state.hpp"

namespace kiln::runtime {
namespace {

// Returns the format that the device's driver takes. NVIDIA's takes text and binaries, which are
// distinguished by their first bytes.
ImageFormat format_of(std::span<const std::byte> image, Backend backend) {
  switch (backend) {
    case Backend::kHip:
    case Backend::kEmulator: return ImageFormat::kHsaco;
    case Backend::kHost: return ImageFormat::kHost;
    case Backend::kCuda: break;
  }
  static constexpr std::byte kElf[] = {std::byte{0x7F}, std::byte{'E'}, std::byte{'L'},
                                       std::byte{'F'}};
  static constexpr std::byte kFatbin[] = {std::byte{0x50}, std::byte{0xED}, std::byte{0x55},
                                          std::byte{0xBA}};
  const auto starts_with = [&](std::span<const std::byte> magic) {
    return image.size() >= magic.size() && std::equal(magic.begin(), magic.end(), image.begin());
  };
  return starts_with(kElf) || starts_with(kFatbin) ? ImageFormat::kCubin : ImageFormat::kPtx;
}

}  // namespace

ModuleCache::ModuleCache(DeviceState& device) : device_(device) {
  tables_.push_back(std::make_unique<Table>(32));
  table_.store(tables_.back().get());
}

void ModuleCache::Table::insert(ModuleSlot& slot) {
  std::size_t i = bucket(*slot.entry());
  while (slots[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask;
  slots[i].store(&slot, std::memory_order_release);
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

ModuleSlot& ModuleCache::find_or_add(std::span<const std::byte> image) {
  const Digest digest = sha256(image);
  const std::lock_guard lock(images_mutex_);
  std::unique_ptr<ModuleSlot>& slot = images_[digest];
  if (slot == nullptr) {
    const ImageFormat format = format_of(image, device_.info().backend);
    slot = std::make_unique<ModuleSlot>(device_, "image " + digest.hex().substr(0, 12), format,
                                        copy_image(image, format));
  }
  return *slot;
}

}  // namespace kiln::runtime
