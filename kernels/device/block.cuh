// What the threads of a block do together. All threads of the block call each function; blocks may
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

// The threads that share something: so many neighbours, a power of two up to the wave's width; or
// the whole block; or every `step`-th thread of the block, a power of two up to the wave's width.
struct Team {
  u32 rank;
  u32 threads;
  u32 step = 1;
};
KILN_DEVICE Team block_team() { return {thread_rank(), block_threads()}; }

// Reduces a value of each thread of the block; every thread gets the result. `Monoid` has identity()
// and join(a, b), associative and commutative; T is the type of its values, which exchange(value,
// mask, width) moves.
template <class Monoid, class T>
KILN_DEVICE T block_reduce(T value, Here here = KILN_HERE) {
  KILN_SHARED(scratch, BlockScratch<T>);
  // By groups of lanes that fill the block: waves, or the largest parts of them.
  const u32 threads = block_threads(), rank = thread_rank();
  const u32 both = threads | wave_width();
  const u32 width = both & (0 - both);
  value = join_lanes<Monoid>(value, width, 1, here);
  if (width == threads) return value;
  const u32 shift = count_ones(width - 1);
  barrier();  // what an earlier call left may still be read
  if ((rank & (width - 1)) == 0) scratch.of[rank >> shift] = value;
  barrier();
  // Each group joins what all left.
  value = Monoid::identity();
#pragma unroll 1
  for (u32 i = rank & (width - 1); i < threads >> shift; i += width) {
    value = Monoid::join(value, scratch.of[i]);
  }
  return join_lanes<Monoid>(value, width, 1, here);
}

// The values of the threads before this one, joined.
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
