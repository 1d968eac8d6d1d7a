// Which part of the work a thread does, for any grid and any block.
//
// Launches may have far more threads than pay. Then only the first blocks work, and the others
// leave at once (geometry.hpp has the reasons and the numbers).
#pragma once

#include "device/platform.cuh"
#include "geometry.hpp"

namespace kiln::device {

// Whether the launch is so large that most of its blocks may be surplus.
KILN_DEVICE bool may_have_surplus() { return block_size() > geometry::kOwnThreads; }

// Whether the block is one of those that leave at once. A kernel asks this first of all, and it
// costs as few instructions as it can: they are what a surplus block costs.
KILN_DEVICE bool is_surplus() {
  return may_have_surplus() && block_index() >= geometry::kWorkingStridedBlocks;
}

// The items that a thread visits: `first`, then every `step` further. Of a launch with surplus
// blocks, the first `most_blocks` work.
struct Share {
  u64 first;
  u64 step;
  u32 blocks;  // that work

  KILN_DEVICE explicit Share(u32 most_blocks) {
    const u32 threads = block_size();
    blocks = block_count();
    if (may_have_surplus() && blocks > most_blocks) blocks = most_blocks;
    first = static_cast<u64>(block_index()) * threads + thread_index();
    step = static_cast<u64>(blocks) * threads;
  }
  KILN_DEVICE bool is_empty() const { return block_index() >= blocks; }
};

template <class B>
KILN_DEVICE Share share_of_contiguous() {
  return Share(geometry::kWorkingBlocks<sizeof(B)>);
}
KILN_DEVICE Share share_of_strided() { return Share(geometry::kWorkingStridedBlocks); }

}  // namespace kiln::device
