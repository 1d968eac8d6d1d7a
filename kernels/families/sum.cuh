// out[j] += the elements of a view that the summed dims lead to j. Each addition to `out` is atomic
// and rounds to T; the order is not kept.
//
// After the dims and strides of the view, `info` has the sizes of the summed dims and then their
// strides in row-major order.
#pragma once

#include "device/atomics.cuh"
#include "device/index.cuh"
#include "device/join.cuh"
#include "device/wave.cuh"
#include "families/reduce.cuh"

namespace kiln::families {

using namespace device;

constexpr u64 kNoTarget = ~u64{0};

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

// Adds what a thread has summed up for a target. Lanes of a wave that share one add up first.
template <class Sum, class T>
KILN_DEVICE void add_to_target(T* out, u64 target, typename Sum::State value, bool by_waves) {
  bool adds = target != kNoTarget;
  if (by_waves) {
    const u32 width = wave_width();
    const u64 shared = shuffle(target, 0, width);
    if (wave_all(target == shared || !adds)) {
      value = join_lanes<Sum>(value, width);
      adds = adds && lane_index() == 0;
    }
  }
  if (adds) atomic_sum(out + target, Sum::result(value, 0));
}

// `Sum`: how elements of T are added up (functors/reduction.cuh). A thread keeps its sum while its elements
// lead to the same target.
template <class Sum, class T>
KILN_DEVICE void sum_into(u64 numel, u64 num_dims, u64 num_sum_dims, const u64* info, const T* inp,
                          T* out) {
  const Views<1> view{info, static_cast<u32>(num_dims)};
  const SummedDims summed{info + 2 * num_dims, static_cast<u32>(num_sum_dims)};
  const RowShape shape = shape_of_rows(view, numel);
  const bool by_waves = (block_threads() & (wave_width() - 1)) == 0;
  const u32 lane = by_waves ? lane_index() : 0;
  const u64 threads = static_cast<u64>(block_count()) * block_threads();
  u64 target = kNoTarget;
  typename Sum::State sum = Sum::identity();
  // All lanes of a wave make the same steps: as many as the first.
  u64 first = static_cast<u64>(block_index()) * block_threads() + thread_rank() - lane;
#pragma unroll 1
  for (; first < numel; first += threads) {
    const u64 i = first + lane;
    const bool is_there = i < numel;
    const u64 next = is_there ? summed.target_of(i) : target;
    const bool goes_on = next == target || target == kNoTarget;
    if (!(by_waves ? wave_all(goes_on) : goes_on)) {
      add_to_target<Sum>(out, target, sum, by_waves);
      sum = Sum::identity();
    }
    target = next;
    if (is_there) {
      sum = Sum::take(sum, inp[shape.even ? i * shape.stride : place_of(view, view.rank, i)], 0);
    }
  }
  add_to_target<Sum>(out, target, sum, by_waves);
}

}  // namespace kiln::families
