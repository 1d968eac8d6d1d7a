// out[j] += the elements of a view that the summed dims lead to j. Each addition to `out` is atomic
// and rounds to T. The order of the additions is not defined.
//
// After the dims and strides of the view, `info` has the sizes of the summed dims and then their
// strides in row-major order. If all elements of a wave have the same target, its lanes add them up
// before the atomic addition. For two-byte types, whose atomic additions wait for one another, the
// waves of a block do the same.
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

  // Returns the index in `out` of the sum that element `i` belongs to.
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

// Up to this many waves of elements are added wave by wave, which is faster than by blocks.
inline constexpr u32 kFewWaves = 4;

// The target of a thread without an element.
inline constexpr u64 kNoTarget = ~0ull;

// If the elements of a wave have one target, adds up those of its first `lanes` lanes (a power of
// two) in the first lane, leaves the others without a target, and returns true. Otherwise returns
// false.
template <class Sum>
KILN_DEVICE bool add_up_wave(u32 lanes, u64& target, typename Sum::State& value) {
  const u64 shared = shuffle(target, 0, wave_width());
  if (!wave_all(target == shared || target == kNoTarget)) return false;
  value = join_lanes<Sum>(value, lanes);
  if (lane_index() != 0) target = kNoTarget;
  return true;
}

// Moves the sums in the first lanes of a block's waves to the first wave, and adds them up if they
// have one target. The other waves are left without a target.
template <class Sum>
KILN_DEVICE void add_up_block(u64& target, typename Sum::State& value) {
  struct Scratch {
    u64 targets[1024 / 32];
    typename Sum::State values[1024 / 32];
  };
  KILN_SHARED(scratch, Scratch);
  const u32 lane = lane_index();
  barrier();  // an earlier call may still read the scratch memory
  if (lane == 0) {
    scratch.targets[wave_index()] = target;
    scratch.values[wave_index()] = value;
  }
  barrier();
  target = kNoTarget;
  value = Sum::identity();
  if (uniform(wave_index()) != 0) return;
  if (lane < wave_count()) {
    target = scratch.targets[lane];
    value = scratch.values[lane];
  }
  add_up_wave<Sum>(wave_width(), target, value);
}

// `Sum` says how elements of T are added up (functors/reduction.cuh).
template <class Sum, class T>
KILN_DEVICE void sum_into(u64 numel, u64 num_dims, u64 num_sum_dims, const u64* info, const T* inp,
                          T* out) {
  // Measured on an H200, in us, f16, sums of 1024 in blocks of 1024, by waves -> by blocks: one sum
  // 9.3 -> 3.1; 256 sums 129 -> 5.0.
  constexpr bool kByBlock = sizeof(T) == 2;
  const Views<1> view{info, static_cast<u32>(num_dims)};
  const SummedDims summed{info + 2 * num_dims, static_cast<u32>(num_sum_dims)};
  const bool contiguous = is_contiguous(view);
  const u32 width = wave_width();
  const u32 lanes = lanes_for(numel < width ? static_cast<u32>(numel) : width, width);
  const bool by_waves = (block_threads() & (width - 1)) == 0;
  // All threads of a block, or all lanes of a wave, make as many iterations as their first one.
  const u32 rank = kByBlock ? thread_rank() : by_waves ? lane_index() : 0;
  const u64 threads = static_cast<u64>(block_count()) * block_threads();
  u64 first = static_cast<u64>(block_index()) * block_threads() + thread_rank() - rank;
#pragma unroll 1
  for (; wave_any(first < numel); first += threads) {
    const u64 i = first + rank;
    u64 target = kNoTarget;
    typename Sum::State value = Sum::identity();
    if (i < numel) {
      // The load overlaps target_of().
      const T x = inp[opaque(contiguous) != 0 ? i : place_of(view, view.rank, i)];
      target = summed.target_of(i);
      value = Sum::take(value, x, 0);
    }
    const auto add = [&] {
      if (target != kNoTarget) atomic_sum(out + target, Sum::result(value, 0));
    };
    if (by_waves) {
      const bool same_target = add_up_wave<Sum>(lanes, target, value);
      if (kByBlock && block_threads() > width && numel > kFewWaves * width) {
        if (!same_target) {
          add();
          target = kNoTarget;
          value = Sum::identity();
        }
        add_up_block<Sum>(target, value);
      }
    }
    add();
  }
}

}  // namespace kiln::families
