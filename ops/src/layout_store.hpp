// The layout blocks that launches read, in device memory. Launches with equal content share a
// block.
//
// Blocks of prepared launches stay, because a captured graph has their addresses. Of other blocks,
// at most kMaxShapes are kept. At this limit, the device finishes its work and the least recently
// used half of them is removed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

class LayoutStore {
 public:
  static constexpr std::size_t kMaxShapes = 1024;

  explicit LayoutStore(Device device) : device_(std::move(device)) {}

  // Makes the block and keeps it as long as the store exists.
  Result<void> prepare(const LayoutBlock& content);

  // Calls `launch` with the block's device address. The block is not removed during the call.
  // Allocates nothing if the store already holds the content.
  template <typename LaunchWith>
  Result<void> use(const LayoutBlock& content, LaunchWith launch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Result<Entry*> entry = find_or_make(content);
    if (!entry) return entry.error();
    return launch(static_cast<const void*>((*entry)->block.data()));
  }

 private:
  struct Entry {
    Buffer block;
    std::uint64_t last_use = 0;
    bool is_prepared = false;
  };
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  // The caller holds the mutex.
  Result<Entry*> find_or_make(const LayoutBlock& content);
  Result<void> forget_old();

  Device device_;
  std::mutex mutex_;
  std::map<std::vector<std::size_t>, Entry, Less> entries_;
  std::size_t prepared_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace kiln::ops
