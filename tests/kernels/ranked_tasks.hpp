// The tasks of a mixture of experts in the order of rank_experts, computed with plain loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::conformance {

// The expert number of a task that belongs to no expert and is not computed.
inline constexpr std::size_t kNoExpert = 77;

// Returns the tasks sorted stably by expert, without those that belong to no expert.
inline std::vector<std::uint32_t> ranked(const std::vector<std::uint32_t>& experts,
                                         std::size_t count) {
  std::vector<std::uint32_t> order;
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t t = 0; t < experts.size(); ++t) {
      if (experts[t] == e) order.push_back(static_cast<std::uint32_t>(t));
    }
  }
  return order;
}

// Returns the tiles of an order, each as expert, first task, and the task after the last.
inline std::vector<std::uint32_t> tiles_of(const std::vector<std::uint32_t>& experts,
                                           std::size_t count, std::size_t tile) {
  std::vector<std::uint32_t> tiles;
  std::size_t lesser = 0;
  for (std::size_t e = 0; e < count; ++e) {
    const auto own = static_cast<std::size_t>(std::count(experts.begin(), experts.end(), e));
    const std::size_t end = lesser + own;
    const std::size_t behind = (e + 1 == count ? experts.size() : end) / tile + e + 1;
    for (std::size_t i = 0, n = lesser / tile + e; n < behind; ++i, ++n) {
      const std::size_t begin = std::min(lesser + i * tile, end);
      for (const std::size_t each : {e, begin, std::min(begin + tile, end)}) {
        tiles.push_back(static_cast<std::uint32_t>(each));
      }
    }
    lesser = end;
  }
  return tiles;
}

// Returns the places where half_rows stores the activations of an order, one by one
// (kernels/tuning/half_products.hpp).
inline std::vector<std::size_t> half_vectors_of(const std::vector<std::uint32_t>& experts,
                                                std::size_t count) {
  std::vector<std::size_t> places;
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t first = (places.size() / 64 + e) * 64;
    const auto own = static_cast<std::size_t>(std::count(experts.begin(), experts.end(), e));
    for (std::size_t i = 0; i < own; ++i) places.push_back(first + i);
  }
  return places;
}

}  // namespace kiln::conformance
