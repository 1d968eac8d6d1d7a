// dst[r] = the reduction of row r, without a layout. Element i of row r lies at
// r * row_stride + i * stride. There are separate kernels for rows of contiguous elements and for
// other rows.
//
// A block takes a row, or as many rows of contiguous elements as it has threads along y. Or a long
// row is cut into parts, the same ones in every launch of that shape. A block stores the state of
// its part in the workspace. The block that finishes a row's last part joins all parts in order, so
// the result has the same bits in every run.
//
// The workspace begins with counters, which are zero before and after a launch. The states of all
// parts follow. It may be null if rows stay whole.
#pragma once

#include "device/block.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "device/platform_atomics.cuh"
#include "families/row_elements.cuh"
#include "tuning/split.hpp"
#include "tuning/workspace.hpp"

namespace kiln::families {

using namespace device;

// How the elements of a row lie.
enum class Elements { kSideBySide, kApart };

// Scratch memory of a block. Outside of the kernels' templates, which have long mangled names.
template <class State>
struct SplitScratch {
  State of[tuning::kSplitThreads];
};
template <class State>
KILN_DEVICE SplitScratch<State>& split_scratch() {
  KILN_SHARED(scratch, SplitScratch<State>);
  return scratch;
}
KILN_DEVICE u32& split_flag() {
  KILN_SHARED(flag, u32);
  return flag;
}

// Parts have `each` elements, at most 2^30; the last ones may have fewer. The launch helper ensures
// that there are less than 2^31 parts and less than 2^31 rows.
template <class Reduction, Elements kElements, class T, class Out, class Order>
struct SplitRows {
  using State = typename Reduction::State;

  u32 rows;
  u64 per_row, row_stride, stride;
  u32 parts, each;
  const T* src;
  Out* dst;
  u32* counters;
  State* states;
  Order order;

  // Joins the states of all threads of the block; if `across`, of those with the same lane index;
  // if the block has several rows, of those along x, which are lanes of one wave.
  KILN_DEVICE static State join_team(State state, bool across) {
    SplitScratch<State>& scratch = split_scratch<State>();
    const bool by_lanes = kElements == Elements::kSideBySide && block_y() != 1;
    const u32 both = block_threads() | wave_width();
    const u32 width = by_lanes ? block_size() : both & (0 - both);
    if (!across) state = join_lanes<Reduction>(state, width);
    if (by_lanes) return state;
    barrier();
    scratch.of[thread_rank()] = state;
    barrier();
    const u32 first = across ? lane_index() : 0;
    state = scratch.of[first];
#pragma unroll 1
    for (u32 i = first + width; i < block_threads(); i += width) {
      state = Reduction::join(state, scratch.of[i]);
    }
    return state;
  }

  // A block takes a group of rows at once: one row, one for each lane, or one for each thread along
  // y.
  KILN_DEVICE void run() const {
    u32& is_last = split_flag();
    const u32 width = wave_width();
    const bool across = kElements == Elements::kApart && (block_threads() & (width - 1)) == 0 &&
                        row_stride == 1 && rows > 1;
    u32 abreast = across ? width : 1, mine = across ? lane_index() : 0;
    Team team = across ? Team{wave_index(), block_threads() / width, width} : block_team();
    if constexpr (kElements == Elements::kSideBySide) {
      abreast = block_y();
      mine = thread_y();
      team = {thread_index(), block_size()};
    }
#pragma unroll 1
    for (u32 b = block_index();; b += block_count()) {
      const u32 group = b / parts;
      const u32 row = group * abreast + mine;
      if (row - mine >= rows) return;
      const u64 first = static_cast<u64>(b - group * parts) * each;
      const u64 left = first < per_row ? per_row - first : 0;
      const u32 count = left < each ? static_cast<u32>(left) : each;
      const u32 index = static_cast<u32>(first);
      const T* const from = src + row * row_stride;
      State state = Reduction::identity();
      if constexpr (kElements == Elements::kSideBySide) {
        const u32 its = row < rows ? count : 0;
        state = take_neighbours<Reduction>(from + first, its, index, team, order);
      } else if (row < rows) {
        state =
            take_strided<Reduction, 8>(from + first * stride, stride, count, index, team, order);
      }
      bool whole = parts == 1;
#pragma unroll 1
      for (;;) {
        state = join_team(state, across);
        if (whole) break;
        if (thread_rank() == 0) is_last = 0;
        barrier();
        if (team.rank == 0) {
          states[b * abreast + mine] = state;
          u32* const counter = counters + group;
          if (atomic_add_ordered(counter, 1) == parts * abreast - 1) {
            *counter = 0;
            is_last = 1;
          }
        }
        barrier();
        whole = uniform(is_last) != 0;
        if (!whole) break;
        state = Reduction::identity();
#pragma unroll 1
        for (u32 i = team.rank; i < parts; i += team.threads) {
          state = Reduction::join(state, states[(group * parts + i) * abreast + mine]);
        }
      }
      if (whole && team.rank == 0 && row < rows) {
        dst[row] = result_of<Reduction, Out>(state, ~0u, order);  // indices count within a row
      }
    }
  }
};

template <class Reduction, Elements kElements, class Order, class T, class Out>
KILN_DEVICE void split_reduce(u64 rows, u64 per_row, u64 row_stride, u64 stride, u32 parts,
                              u32 each, Order order, const T* src, Out* dst, u8* workspace) {
  // A number, since the workspace may be null.
  const u64 states = address_of(workspace) + tuning::kWorkspaceCounters;
  const SplitRows<Reduction, kElements, T, Out, Order> work{
      static_cast<u32>(rows),
      per_row,
      row_stride,
      stride,
      parts,
      each,
      src,
      dst,
      reinterpret_cast<u32*>(workspace),
      reinterpret_cast<typename Reduction::State*>(states),
      order};
  work.run();
}

}  // namespace kiln::families
