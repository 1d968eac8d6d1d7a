// The threads of a block that share a row, where each block, or each thread along y, has one.
#pragma once

#include "device/block.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "device/platform_lanes.cuh"
#include "tuning/rows.hpp"

namespace kiln::device {

// What `n_cols` says (tuning/rows.hpp).
struct RowExtent {
  u32 columns, missing;

  KILN_DEVICE explicit RowExtent(i32 n_cols) : columns(static_cast<u32>(n_cols)), missing(0) {
    if (n_cols < 0) {
      missing = ~columns >> tuning::kColumnBits & ((1u << tuning::kMissingBits) - 1);
      columns = ~columns & ((1u << tuning::kColumnBits) - 1);
    }
  }
};

// The threads along x that share a row of so many pieces. Of a block of one row and whole waves its
// first waves, as many as have a piece; else the first lanes, a power of two.
KILN_DEVICE Team row_team(u32 pieces) {
  const u32 both = block_size() | wave_width(), width = both & (0 - both);
  if (block_y() != 1 || width != wave_width()) return {thread_index(), width};
  const u32 needed = (pieces + width - 1) & ~(width - 1);
  return {thread_index(), needed < block_size() ? needed : block_size()};
}

// Of so many lanes, a power of two, as few neighbours as have all elements of a row, one each; or all.
KILN_DEVICE u32 lanes_for(u32 columns, u32 lanes) {
  return columns > lanes / 2 ? lanes : columns < 2 ? 1 : 2u << highest_bit(columns - 1);
}

// Over the lanes of a whole wave, in straight code.
template <class Monoid, class T>
KILN_DEVICE T join_wave(T value, Here here) {
  constexpr u32 kMostLanes = sizeof(Lanes) * 8;
  wave_barrier(here);
#pragma unroll
  for (u32 mask = kMostLanes / 2; mask != 0; mask /= 2) {
    if (mask < wave_width()) {
      value = Monoid::join(value, Monoid::exchange(value, mask, wave_width(), here));
    }
  }
  return value;
}

template <class T>
struct RowScratch {
  // Of two turns, for each wave of a block; no wave has fewer than 32 lanes.
  T of[2][1024 / 32];
};

// Reduces a value of each thread of such a team. All threads of the block call it; those of the
// team get the result, and with `everywhere` all of a block of whole waves. Calls with one monoid
// that follow one another have turns 0, 1, 0, ...: what one left may still be read when the next
// one writes. `kStraight`: whole waves join in straight code, for kernels that have registers for
// it.
template <class Monoid, bool kStraight, class T>
KILN_DEVICE T row_reduce(Team team, T value, u32 turn, bool everywhere, Here here = KILN_HERE) {
  const u32 most = wave_width();
  const bool joins = team.rank < team.threads;
  // Where all get the result and code is to be short, no wave is left out: then the compiler knows that
  // the lanes of each agree.
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
