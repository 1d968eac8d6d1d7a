// Which part of the work a block and a thread do, for any grid and any block.
#pragma once

#include "device/platform.cuh"
#include "geometry.hpp"

namespace kiln::device {

// The blocks that work: all, unless the launch has many more threads than there are items. Then only
// the first, as many as keep the memory busy, so that the others can leave at once (geometry.hpp).
KILN_DEVICE u32 working_blocks(u64 items) {
  const u32 blocks = block_count();
  const u64 threads = static_cast<u64>(blocks) * block_size();
  if (threads < items + items / 2) return blocks;
  const u32 enough = (geometry::kWorkingThreads + block_size() - 1) / block_size();
  return blocks < enough ? blocks : enough;
}

}  // namespace kiln::device
