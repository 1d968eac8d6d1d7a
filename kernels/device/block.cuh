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
// the whole block; or every `step`-th thread of the block.
struct Team {
  u32 rank;
  u32 threads;
  u32 step = 1;
};
KILN_DEVICE Team block_team() { return {thread_rank(), block_threads()}; }

// Reduces a value of each thread of a team; every thread gets the result. All teams of the block
// call it. `Monoid` has identity() and join(a, b), associative and commutative; T is the type of
// its values, which exchange(value, mask, width) moves.
template <class Monoid, class T>
KILN_DEVICE T team_reduce(Team team, T value, Here here = KILN_HERE) {
  KILN_SHARED(scratch, BlockScratch<T>);
  if (team.step != 1) {
    barrier();
    scratch.of[thread_rank()] = value;
    barrier();
    const u32 first = thread_rank() - team.rank * team.step;
    value = scratch.of[first];
#pragma unroll 1
    for (u32 i = 1; i < team.threads; ++i) {
      value = Monoid::join(value, scratch.of[first + i * team.step]);
    }
    return value;
  }
  // By groups of lanes that fill the team: waves, or the largest parts of them.
  const u32 both = team.threads | wave_width();
  const u32 width = both & (0 - both);
  value = join_lanes<Monoid>(value, width, here);
  if (width == team.threads) return value;
  const u32 shift = count_ones(width - 1);
  const u32 groups = team.threads >> shift;
  barrier();  // what an earlier call left may still be read
  if ((team.rank & (width - 1)) == 0) scratch.of[team.rank >> shift] = value;
  barrier();
  // Each group joins what all left.
  value = Monoid::identity();
#pragma unroll 1
  for (u32 i = team.rank & (width - 1); i < groups; i += width) {
    value = Monoid::join(value, scratch.of[i]);
  }
  return join_lanes<Monoid>(value, width, here);
}

// The same over the block.
template <class Monoid, class T>
KILN_DEVICE T block_reduce(T value, Here here = KILN_HERE) {
  return team_reduce<Monoid>(block_team(), value, here);
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
