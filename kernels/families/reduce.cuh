// dst[r] = the reduction of elements [r * per_row, (r + 1) * per_row) of a view, whose reduced dims
// come last.
//
// Of rows that are contiguous, a team reads chunks. Where neighbouring rows are neighbours in
// memory and the elements of a row are not, the lanes of a wave go over neighbouring rows, and the
// waves of a block over slices of them.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/team.cuh"

namespace kiln::families {

using namespace device;

// How the rows of a view lie.
struct RowShape {
  bool contiguous;  // the whole view
  bool even;        // the elements of a row are `stride` apart
  u64 stride;
  u64 rows_apart;  // a row and the next one, where both differ in the innermost kept dim alone
};

KILN_DEVICE RowShape shape_of_rows(const Views<1>& view, u64 per_row) {
  RowShape shape{true, true, 1, 0};
  u64 count = 1;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = unknown(dim - 1);
    const u64 size = view.size(dim);
    const u64 stride = view.stride(0, dim);
    if (size == 1) continue;
    shape.contiguous = shape.contiguous & (stride == count);
    if (count < per_row) {
      if (count == 1) shape.stride = stride;
      shape.even = shape.even & (stride == shape.stride * count);
    } else if (shape.rows_apart == 0) {
      shape.rows_apart = stride;
    }
    count *= size;
  }
  return shape;
}

// Where element `i` of a view lies.
KILN_ASIDE u64 place_of(Views<1> view, u64 i) {
  u64 place = 0;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = unknown(dim - 1);
    const u32 size = view.size(dim);
    const u64 above = quotient(i, size);
    place += (i - above * size) * view.stride(0, dim);
    i = above;
  }
  return place;
}

// What a thread of a team sees of `count` elements, `stride` apart.
template <class Reduction, class T>
KILN_DEVICE typename Reduction::State take_elements(typename Reduction::State state, const T* from,
                                                    u64 stride, u32 count, u32 index,
                                                    const Team& team) {
  constexpr u32 kCount = 16 / sizeof(T);
  constexpr u32 kAhead = 4;
  const bool aligned = (stride == 1) & (address_of(from) % 16 == 0);
  const u32 whole = aligned ? count / kCount : 0;  // chunks that one access reads
#pragma unroll 1
  for (u32 c = team.rank; c * kCount < count;) {
    Chunk<T, kCount> chunk[kAhead];
    u32 loaded = 1;
    u32 valid = count - c * kCount;
    if (c < whole) {
      chunk[0].load(from + c * kCount);
      if (whole - c > (kAhead - 1) * team.threads) {
        loaded = kAhead;
#pragma unroll
        for (u32 k = 1; k < kAhead; ++k) chunk[k].load(from + (c + k * team.threads) * kCount);
      }
    } else {
      chunk[0].clear();
      const T* at = from + c * kCount * stride;
#pragma unroll
      for (u32 j = 0; j < kCount; ++j, at += stride) {
        if (j < valid) chunk[0].put(j, *at);
      }
    }
#pragma unroll 1
    for (;;) {
      // Sums of chunks lose less than one long sum.
      auto part = Reduction::identity();
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) {
        if (j < valid) part = Reduction::take(part, chunk[0].get(j), index + c * kCount + j);
      }
      state = Reduction::join(state, part);
      c += team.threads;
      valid = count - c * kCount;
      if (--loaded == 0) break;
#pragma unroll
      for (u32 k = 0; k + 1 < kAhead; ++k) chunk[k] = chunk[k + 1];
    }
  }
  return state;
}

template <class Reduction, class T, class Out>
KILN_DEVICE void reduce(u64 numel, u64 per_row, u64 num_dims, const u64* info, const T* src,
                        Out* dst) {
  // Elements of a row that are counted in 32 bits; a longer row has several parts.
  constexpr u64 kPart = 1u << 30;
  if (per_row == 0) {
    if (thread_rank() == 0) dst[block_index()] = Reduction::result(Reduction::identity(), 1);
    return;
  }
  if (leaves_at_once()) return;
  const u32 blocks = row_blocks((per_row * sizeof(T) + 15) / 16);
  if (block_index() >= blocks) return;
  const Views<1> view{info, static_cast<u32>(num_dims)};
  const RowShape shape = shape_of_rows(view, per_row);
  const u32 last_dim = num_dims == 0 ? 1 : view.size(view.rank - 1);
  const bool dense = shape.even & (shape.stride == 1);
  RowTeams teams(dense ? (per_row * sizeof(T) + 15) / 16 : per_row);
  if (!dense && shape.even && shape.rows_apart == 1 && numel >= tuning::kAcross &&
      (block_threads() & (wave_width() - 1)) == 0) {
    teams.go_across();
  }
  const Team team = teams.team;
#pragma unroll 1
  for (u64 row = static_cast<u64>(block_index()) * teams.count + teams.mine;
       (row - teams.mine + teams.first) * per_row < numel;
       row += static_cast<u64>(blocks) * teams.count) {
    const u64 first = row * per_row;
    typename Reduction::State state = Reduction::identity();
    if (first < numel) {
      const T* const from = src + (shape.contiguous ? first : place_of(view, first));
      const u64 count = numel - first < per_row ? numel - first : per_row;
      if (shape.even) {
#pragma unroll 1
        for (u64 done = 0; done < count; done += kPart) {
          const u32 some = static_cast<u32>(count - done < kPart ? count - done : kPart);
          state = take_elements<Reduction>(state, from + done * shape.stride, shape.stride, some,
                                           static_cast<u32>(done), team);
        }
      } else {
        // The digits of a place within the row are those of the inner dims.
#pragma unroll 1
        for (u64 i = team.rank; i < count; i += team.threads) {
          state = Reduction::take(state, from[place_of(view, i)], static_cast<u32>(i));
        }
      }
    }
    state = team_reduce<Reduction>(team, state);
    if (first < numel && team.rank == 0) dst[row] = Reduction::result(state, last_dim);
  }
}

}  // namespace kiln::families
