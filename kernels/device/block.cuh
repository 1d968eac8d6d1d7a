// Collective operations of a block. All threads of the block must call each function. Blocks may
// have any size.
#pragma once

#include "device/join.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"

namespace kiln::device {

template <class T>
struct BlockScratch {
  T of[1024];
};

// A group of threads that work together. It is one of: neighbours, whose number is a power of two
// up to the wave's width; the whole block; every `step`-th thread of the block, where `step` is a
// power of two up to the wave's width.
struct Team {
  u32 rank;
  u32 threads;
  u32 step = 1;
};
KILN_DEVICE Team block_team() { return {thread_rank(), block_threads()}; }

// Reduces one value of each thread of the block; every thread gets the result. `Monoid` provides
// identity(), an associative and commutative join(a, b), and exchange(value, mask, width), which
// moves a value between lanes.
template <class Monoid, class T>
KILN_DEVICE T block_reduce(T value, Here here = KILN_HERE) {
  KILN_SHARED(scratch, BlockScratch<T>);
  // Groups of lanes fill the block. Their width is the largest power of two, up to the wave's
  // width, that divides the number of threads.
  const u32 threads = block_threads(), rank = thread_rank();
  const u32 both = threads | wave_width();
  const u32 width = both & (0 - both);
  value = join_lanes<Monoid>(value, width, 1, here);
  if (width == threads) return value;
  const u32 shift = count_ones(width - 1);
  barrier();  // other threads may still read the results of an earlier call
  if ((rank & (width - 1)) == 0) scratch.of[rank >> shift] = value;
  barrier();
  // Each group joins the results of all groups.
  value = Monoid::identity();
#pragma unroll 1
  for (u32 i = rank & (width - 1); i < threads >> shift; i += width) {
    value = Monoid::join(value, scratch.of[i]);
  }
  return join_lanes<Monoid>(value, width, 1, here);
}

// Returns the values of all threads before this one, joined.
template <class Monoid, class T>
KILN_DEVICE T block_scan(T value) {
  KILN_SHARED(scratch, BlockScratch<T>);
  const u32 rank = thread_rank();
  barrier();
  scratch.of[rank] = value;
  barrier();
  for (u32 distance = 1; distance < block_threads(); distance *= 2) {
    const T before = rank >= distance ? scratch.of[rank - distance] : Monoid::identity();
    barrier();
    scratch.of[rank] = Monoid::join(before, scratch.of[rank]);
    barrier();
  }
  const T result = rank == 0 ? Monoid::identity() : scratch.of[rank - 1];
  barrier();
  return result;
}

}  // namespace kiln::device
