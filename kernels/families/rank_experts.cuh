// Orders the tasks of a mixture of experts by expert, so that the tasks of one expert become
// columns of one matrix product.
//
//   order   the tasks of expert 0, then of expert 1, and so on, in ascending order for each expert;
//           then a 0 for each task without an expert
//   tiles   up to `tile` neighbours in `order` of the same expert. Those of expert e begin at
//           index b / tile + e, where b is the number of tasks of smaller experts. Some are empty.
//   places  for each task its vector among those of half_matrix (tuning/half_products.hpp), or
//           kNoPlace; null if they are not wanted
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

// Block e handles expert e. There is a block for each expert.
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

  // Each thread ranks neighbouring tasks, so that a scan of the threads' counts yields the order.
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
