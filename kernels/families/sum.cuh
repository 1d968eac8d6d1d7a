// out[j] += the elements of a view that the summed dims lead to j. Each addition to `out` is atomic
// and rounds to T; the order is not kept.
//
// After the dims and strides of the view, `info` has the sizes of the summed dims and then their
// strides in row-major order. Lanes of a wave whose elements have one target add them up first.
#pragma once

#include "device/atomics.cuh"
#include "device/index.cuh"
#include "device/join.cuh"
#include "device/wave.cuh"
#include "families/reduce.cuh"

namespace kiln::families {

using namespace device;

struct SummedDims {
  const u64* sizes;
  u32 count;

  // Where the sum that element `i` belongs to lies.
  KILN_DEVICE u64 target_of(u64 i) const {
#pragma unroll 1
    for (u32 dim = 0; dim < count; ++dim) {
      const u64 size = sizes[dim], stride = sizes[count + dim];
      const u64 above = quotient(i, stride);
      i -= (above - quotient(above, size)) * stride;
    }
    return i;
  }
};

// `Sum`: how elements of T are added up (functors/reduction.cuh).
template <class Sum, class T>
KILN_DEVICE void sum_into(u64 numel, u64 num_dims, u64 num_sum_dims, const u64* info, const T* inp,
                          T* out) {
  const Views<1> view{info, static_cast<u32>(num_dims)};
  const SummedDims summed{info + 2 * num_dims, static_cast<u32>(num_sum_dims)};
  const RowShape shape = shape_of_rows(view, numel);
  const u32 width = wave_width();
  const bool by_waves = (block_threads() & (width - 1)) == 0;
  const u32 lane = by_waves ? lane_index() : 0;
  const u64 threads = static_cast<u64>(block_count()) * block_threads();
  // All lanes of a wave make the same steps: as many as the first.
  u64 first = static_cast<u64>(block_index()) * block_threads() + thread_rank() - lane;
#pragma unroll 1
  for (; first < numel; first += threads) {
    const u64 i = first + lane;
    const bool is_there = i < numel;
    u64 target = ~0ull;
    typename Sum::State value = 0;
    if (is_there) {
      target = summed.target_of(i);
      value =
          Sum::take(value, inp[shape.even ? i * shape.stride : place_of(view, view.rank, i)], 0);
    }
    bool adds = is_there;
    if (by_waves) {
      const u64 shared = shuffle(target, 0, width);
      if (wave_all(target == shared || !is_there)) {
        value = join_lanes<Sum>(value, width);
        adds = lane == 0;
      }
    }
    if (adds) atomic_sum(out + target, Sum::result(value, 0));
  }
}

}  // namespace kiln::families
