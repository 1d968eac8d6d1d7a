// The threads of a block that share a row. A block has one row, or one for each thread index along
// y.
#pragma once

#include "device/block.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "device/platform_lanes.cuh"
#include "tuning/rows.hpp"

namespace kiln::device {

// Decodes `n_cols` (tuning/rows.hpp).
struct RowExtent {
  u32 columns, missing;

  KILN_DEVICE explicit RowExtent(i32 n_cols) : columns(static_cast<u32>(n_cols)), missing(0) {
    if (n_cols < 0) {
      missing = ~columns >> tuning::kColumnBits & ((1u << tuning::kMissingBits) - 1);
      columns = ~columns & ((1u << tuning::kColumnBits) - 1);
    }
  }
};

// Returns the team of threads along x that share a row of `pieces` pieces. In a block with one row
// and whole waves, the team is the first waves, as many as have a piece. In any other block, it is
// the first threads; their number is the largest power of two, up to the wave's width, that divides
// the block's size along x.
KILN_DEVICE Team row_team(u32 pieces) {
  const u32 both = block_size() | wave_width(), width = both & (0 - both);
  if (block_y() != 1 || width != wave_width()) return {thread_index(), width};
  const u32 needed = (pieces + width - 1) & ~(width - 1);
  return {thread_index(), needed < block_size() ? needed : block_size()};
}

// Returns the smallest power of two that is at least `columns`, but at most `lanes`, which is a
// power of two: enough neighbouring lanes for a row with one element each.
KILN_DEVICE u32 lanes_for(u32 columns, u32 lanes) {
  return columns > lanes / 2 ? lanes : columns < 2 ? 1 : 2u << highest_bit(columns - 1);
}

// Reduces over the lanes of a whole wave, fully unrolled.
template <class Monoid, class T>
KILN_DEVICE T join_wave(T value, Here here) {
  constexpr u32 kMaxLanes = sizeof(Lanes) * 8;
  wave_barrier(here);
#pragma unroll
  for (u32 mask = kMaxLanes / 2; mask != 0; mask /= 2) {
    if (mask < wave_width()) {
      value = Monoid::join(value, Monoid::exchange(value, mask, wave_width(), here));
    }
  }
  return value;
}

template <class T>
struct RowScratch {
  // A value of each wave of a block, for two turns. No wave has fewer than 32 lanes.
  T of[2][1024 / 32];
};

// Reduces one value of each thread of a team from row_team(). All threads of the block call it. The
// team's threads get the result; with `everywhere`, so do all threads of a block of whole waves.
// Successive calls with the same monoid must alternate between turns 0 and 1, because other threads
// may still read the results of one call when the next one writes. kStraight unrolls the join of
// whole waves, for kernels that have registers to spare.
template <class Monoid, bool kStraight, class T>
KILN_DEVICE T row_reduce(Team team, T value, u32 turn, bool everywhere, Here here = KILN_HERE) {
  const u32 most = wave_width();
  const bool joins = team.rank < team.threads;
  // If all threads get the result and the code is to be short, all waves take part. The compiler
  // then knows that the lanes of each wave agree.
  if ((everywhere && !kStraight) || joins || team.threads < most) {
    if (kStraight && team.threads >= most) {
      value = join_wave<Monoid>(value, here);
    } else {
      value = join_lanes<Monoid>(value, team.threads < most ? team.threads : most, 1, here);
    }
  }
  if (team.threads <= most) return value;
  KILN_SHARED(scratch, RowScratch<T>);
  const u32 lane = team.rank & (most - 1);
  if (joins && lane == 0) scratch.of[turn][team.rank / most] = value;
  barrier();
  if (!joins && !everywhere) return value;
  value = lane < team.threads / most ? scratch.of[turn][lane] : Monoid::identity();
  if constexpr (kStraight) return join_wave<Monoid>(value, here);
  return join_lanes<Monoid>(value, most, 1, here);
}

}  // namespace kiln::device
