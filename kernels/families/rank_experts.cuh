// Tasks of a mixture of experts in the order of their experts, so that tasks of one expert become
// columns of one product of matrices.
//
//   order   the tasks of expert 0, then of 1, and so on, each expert's in their order; 0 for those
//           that are of no expert
//   tiles   up to `tile` neighbours in `order` that have one expert; expert e's begin at number
//           b / tile + e, where b tasks have a lesser expert. Some have none.
//   places  for each task its vector among those of half_matrix (tuning/half_products.hpp), or
//           kNoPlace; null: they are not asked for
#pragma once

#include "device/block.cuh"
#include "device/half_layout.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "tuning/fused_products.hpp"

namespace kiln::families {

using namespace device;
using tuning::ExpertTile;

struct AddCounts {
  KILN_DEVICE static u32 identity() { return 0; }
  KILN_DEVICE static u32 join(u32 a, u32 b) { return a + b; }
  KILN_DEVICE static u32 exchange(u32 value, u32 mask, u32 width, Here here) {
    return device::exchange(value, mask, width, here);
  }
};

// Block e does expert e of as many as there are blocks.
KILN_DEVICE void rank_experts(const u32* experts, u32* order, ExpertTile* tiles, u32* places,
                              u32 tasks, u32 tile) {
  const u32 expert = block_index(), thread = thread_index(), threads = block_size();
  u32 lesser = 0, own = 0;
#pragma unroll 1
  for (u32 i = thread; i < tasks; i += threads) {
    const u32 e = experts[i];
    lesser += e < expert ? 1 : 0;
    own += e == expert ? 1 : 0;
  }
  lesser = block_reduce<AddCounts>(lesser);
  own = block_reduce<AddCounts>(own);
  const u32 end = lesser + own;

  // Each thread ranks neighbours, so that a scan of the threads' counts is the order.
  const u32 each = (tasks + threads - 1) / threads;
  const u32 from = thread * each < tasks ? thread * each : tasks;
  const u32 to = from + each < tasks ? from + each : tasks;
  u32 mine = 0;
#pragma unroll 1
  for (u32 i = from; i < to; ++i) mine += experts[i] == expert ? 1 : 0;
  u32 rank = lesser + block_scan<AddCounts>(mine);
  const u32 first_vector = half_task_vector(expert, lesser);
#pragma unroll 1
  for (u32 i = from; i < to; ++i) {
    if (experts[i] != expert) continue;
    if (places != nullptr) places[i] = first_vector + rank - lesser;
    order[rank++] = i;
  }

  const u32 first = lesser / tile + expert;
  const bool is_last = expert + 1 == block_count();
  const u32 behind = (is_last ? tasks : end) / tile + expert + 1;
#pragma unroll 1
  for (u32 i = end + thread; is_last && i < tasks; i += threads) order[i] = 0;
#pragma unroll 1
  for (u32 i = thread; is_last && end < tasks && places != nullptr && i < tasks; i += threads) {
    if (experts[i] > expert) places[i] = tuning::kNoPlace;
  }
#pragma unroll 1
  for (u32 i = thread; first + i < behind; i += threads) {
    const u32 begin = lesser + i * tile < end ? lesser + i * tile : end;
    tiles[first + i] = {expert, begin, begin + tile < end ? begin + tile : end};
  }
}

}  // namespace kiln::families
