// dst[r] = the reduction of elements [r * per_row, (r + 1) * per_row) of a view, whose reduced dims
// come last.
//
// In small launches with a block for each row and a thread for each element, each thread takes one.
// Elsewhere a team takes a row. Where neighbouring rows are neighbours in memory and the elements of
// a row are not, the lanes of a wave go over neighbouring rows, and the waves of a block over slices
// of them.
#pragma once

#include "device/block.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/row_elements.cuh"
#include "families/team.cuh"

namespace kiln::families {

using namespace device;

// How the rows of a view lie.
struct RowShape {
  bool contiguous;  // the whole view
  bool even;        // the elements of a row are `stride` apart
  u64 stride;
  u64 rows_apart;  // a row and the next one, where both differ in the innermost kept dim alone
  u32 kept;        // dims that are not within a row; all where a row is no whole dims
};

KILN_DEVICE RowShape shape_of_rows(const Views<1>& view, u64 per_row) {
  RowShape shape{true, true, 1, 0, 0};
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
    } else if (shape.kept == 0) {
      shape.rows_apart = stride;
      shape.kept = count == per_row ? dim + 1 : view.rank;
    }
    count *= size;
  }
  return shape;
}

// Where element `i` of the first dims of a view lies.
KILN_ASIDE u64 place_of(Views<1> view, u32 dims, u64 i) {
  u64 place = 0;
#pragma unroll 1
  for (u32 dim = dims; dim != 0;) {
    dim = unknown(dim - 1);
    const u32 size = view.size(dim);
    const u64 above = quotient(i, size);
    place += (i - above * size) * view.stride(0, dim);
    i = above;
  }
  return place;
}

KILN_DEVICE bool is_contiguous(const Views<1>& view) {
  u64 count = 1;
  bool contiguous = true;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = unknown(dim - 1);
    const u64 size = view.size(dim);
    contiguous = contiguous & ((view.stride(0, dim) == count) | (size == 1));
    count *= size;
  }
  return contiguous;
}

// Whether all blocks work, all threads are on the device at once, and there is a block for each row
// and a thread for each element.
KILN_DEVICE bool has_one_each(u64 numel, u64 per_row) {
  constexpr u32 kMost = kMachine.multiprocessors * kMachine.threads;
  const u64 threads = static_cast<u64>(block_count()) * block_threads();
  return threads <= kMost && block_count() <= most_blocks() && per_row <= block_threads() &&
         block_count() * per_row >= numel;
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
  const Views<1> view{info, static_cast<u32>(num_dims)};
  if (has_one_each(numel, per_row)) {
    const u32 last = num_dims == 0 ? 1 : view.size(view.rank - 1);
    const u64 first = block_index() * per_row;
    const u32 rank = thread_rank();
    u64 at = first + rank;
    auto state = Reduction::identity();
    if (rank < per_row && at < numel) {
      if (!is_contiguous(view)) at = place_of(view, view.rank, at);
      state = Reduction::take(state, src[at], rank);
    }
    state = block_reduce<Reduction>(state);
    if (rank == 0 && first < numel) dst[block_index()] = Reduction::result(state, last);
    return;
  }
  const u64 pieces = (per_row * sizeof(T) + 15) / 16;
  const u32 blocks = row_blocks(pieces);
  if (block_index() >= blocks) return;
  const RowShape shape = shape_of_rows(view, per_row);
  const u32 last_dim = num_dims == 0 ? 1 : view.size(view.rank - 1);
  const bool dense = shape.even & (shape.stride == 1);
  const bool has_block_each = blocks * per_row >= numel;
  // Many rows: the fewer lanes have one, the fewer instructions.
  const bool many = dense & (numel / (kChunksAhead * 16 / sizeof(T)) > resident_threads());
  const u32 waves = block_threads() / wave_width();
  const u32 most = has_block_each                               ? tuning::kPiecesOfLane / 4
                   : numel >= per_row * blocks * waves && dense ? tuning::kAnyPiecesOfLane
                                                                : tuning::kPiecesOfLane;
  RowTeams teams(dense ? pieces : per_row, many ? kChunksAhead : 1, most);
  if (has_block_each) teams.take_one();
  if (!dense && shape.even && shape.rows_apart == 1 && numel >= tuning::kAcross &&
      (numel >= tuning::kAcrossAnyway || per_row <= waves * tuning::kAcrossEach) &&
      (block_threads() & (wave_width() - 1)) == 0) {
    teams.go_across();
  }
  const Team team = teams.team;
#pragma unroll 1
  for (u64 base = static_cast<u64>(block_index()) * teams.count;
       teams.first < teams.count && (base + teams.first) * per_row < numel;
       base += static_cast<u64>(blocks) * teams.count) {
    const u64 row = base + teams.mine;
    const u64 first = row * per_row;
    const bool exists = teams.mine < teams.count && first < numel;
    typename Reduction::State state = Reduction::identity();
    if (exists) {
      u64 place = first;
      if (!shape.contiguous) {
        place = place_of(view, shape.kept, shape.kept == view.rank ? first : row);
      }
      const T* const from = src + place;
      const u64 count = numel - first < per_row ? numel - first : per_row;
      if (shape.even) {
#pragma unroll 1
        for (u64 done = 0; done < count; done += kPart) {
          const u32 some = static_cast<u32>(count - done < kPart ? count - done : kPart);
          state = take_elements<Reduction, 4>(state, from + done * shape.stride, shape.stride, some,
                                              static_cast<u32>(done), team);
        }
      } else {
        // The digits of a place within the row are those of the inner dims.
#pragma unroll 1
        for (u64 i = team.rank; i < count; i += team.threads) {
          state = Reduction::take(state, from[place_of(view, view.rank, i)], static_cast<u32>(i));
        }
      }
    }
    state = team_reduce<Reduction>(team, state);
    if (exists && team.rank == 0) dst[row] = Reduction::result(state, last_dim);
  }
}

}  // namespace kiln::families
