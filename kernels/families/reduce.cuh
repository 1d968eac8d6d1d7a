// dst[r] = the reduction of elements [r * per_row, (r + 1) * per_row) of a view, whose reduced dims
// come last.
//
// In small launches with a block for each row and a thread for each element, or for every four, all
// that a thread takes is on its way at once. Elsewhere a team takes a row. Where neighbouring rows are neighbours in memory and the
// elements of a row are not, neighbouring lanes go over neighbouring rows, and a block over as many
// rows as give all of the device work.
#pragma once

#include "device/block.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "device/row_team.cuh"
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
    const u64 stride = view.stride(0, dim);
    u64 digit = i;
    if (dim != 0) {
      const u32 size = view.size(dim);
      i = quotient(i, size);
      digit -= i * size;
    }
    place += digit * stride;
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

// Threads that the device holds at once, where they have 32 registers.
inline constexpr u32 kMostThreads = kMachine.multiprocessors * kMachine.threads;

// Elements that a thread takes at once.
inline constexpr u32 kAtOnce = 4;

// Whether half of the blocks do all: where the registers of all do not fit on the device at once.
KILN_DEVICE bool halves_blocks() {
  return block_threads() > wave_width() && block_count() * block_threads() > kMostThreads / 2;
}

// Whether there is a block, of a power of two threads, for each row and a thread for each element,
// or of more than a wave for every few, and all fit on the device at once; or each is a wave, which
// takes no longer than its launch.
KILN_DEVICE bool has_one_each(u64 numel, u64 per_row) {
  const u32 blocks = block_count(), threads = block_threads();
  const u64 taken = static_cast<u64>(blocks) * static_cast<u32>(per_row);
  const bool fit = (blocks <= most_blocks()) & (blocks * threads <= kMostThreads);
  const bool is_wave = threads <= wave_width();
  const u32 most = is_wave ? threads : halves_blocks() ? kAtOnce / 2 * threads : kAtOnce * threads;
  return static_cast<bool>((fit | is_wave) & (per_row <= most) & (taken >= numel) &
                           (taken >> 32 == 0) & ((threads & (threads - 1)) == 0));
}

KILN_DEVICE u32 last_size(const Views<1>& view) {
  return view.rank == 0 ? 1 : view.size(view.rank - 1);
}

// What the threads of a team have, joined, becomes the result of its row.
template <class Reduction, class Out>
KILN_DEVICE void store_rows(const RowTeams& teams, typename Reduction::State state, u64 base,
                            u64 per_row, u64 numel, u32 last_dim, Out* dst) {
  KILN_SHARED(scratch, BlockScratch<typename Reduction::State>);
  const Team& team = teams.team;
  // By groups of lanes that fill the team: waves, or the largest parts of them.
  const u32 extent = team.threads * team.step;
  const u32 both = extent | wave_width(), width = both & (0 - both);
  state = join_lanes<Reduction>(state, width, team.step);
  const u32 thread = thread_rank(), log = highest_bit(width);
  bool gives = team.rank == 0;
  u32 which = teams.mine;
  if (width != extent) {
    const u32 lane = thread & (width - 1), groups = extent >> log;
    barrier();  // what an earlier call left may still be read
    if (lane < team.step) scratch.of[(thread >> log) * team.step + lane] = state;
    barrier();
    // Of one row the first wave joins what all groups left; of several, a thread has one group's.
    const u32 part = team.step == 1 ? wave_width() : groups;
    const u32 joined = team.step == 1 ? width : groups;
    which = thread >> highest_bit(part);
    gives = (thread & (part - 1)) == 0;
    if ((thread & ~(wave_width() - 1)) >= team.step * part) return;
    state = Reduction::identity();
#pragma unroll 1
    for (u32 i = thread & (joined - 1); i < groups && which < team.step; i += joined) {
      state = Reduction::join(state, scratch.of[i * team.step + which]);
    }
    state = join_lanes<Reduction>(state, joined);
  }
  if (gives && which < teams.count && (base + which) * per_row < numel) {
    dst[base + which] = Reduction::result(state, last_dim);
  }
}

// A thread takes an element of a row, or a few. Where the registers of all blocks do not fit on the
// device at once, half of the blocks leave, and a block of the others has two rows.
template <class Reduction, class T, class Out>
KILN_DEVICE void reduce_at_once(u64 numel, u32 per_row, const Views<1>& view, const T* src,
                                Out* dst) {
  const u32 twice = halves_blocks() ? 1 : 0;
  const u32 base = block_index() << twice;
  if (base >= block_count()) return;
  const u32 threads = block_threads() >> twice, log = highest_bit(threads);  // of a row
  const u32 rank = thread_rank() & (threads - 1);
  const u32 row = base + (thread_rank() >> log), at = row * per_row + rank, last = last_size(view);
  const bool several = threads < per_row;
  u64 place = at, apart = threads;
  bool even = true;
  if (!is_contiguous(view)) {
    // Of rows along the last dim nothing is divided to find the element.
    const bool along = last == per_row;
    const u32 dims = along ? view.rank - 1 : view.rank;
    const u64 stride = along ? view.stride(0, dims) : 0;
    place = place_of(view, dims, along ? row : at) + rank * stride;
    apart = threads * stride;
    even = along;
  }
  T x[kAtOnce];
#pragma unroll
  for (u32 k = 0; k < kAtOnce; ++k) x[k] = Reduction::neutral();
  if (rank < per_row && at < numel) x[0] = src[place];
  if (several) {
#pragma unroll
    for (u32 k = 1; k < kAtOnce; ++k) {
      const u32 skipped = k << log;
      if (skipped >= per_row) continue;
      place = even ? place + apart : place_of(view, view.rank, at + skipped);
      if (rank + skipped < per_row && at + skipped < numel) x[k] = src[place];
    }
  }
  auto state = Reduction::take(Reduction::identity(), x[0], rank);
  if (several) {
#pragma unroll
    for (u32 k = 1; k < kAtOnce; ++k) {
      if (k << log < per_row) state = Reduction::take(state, x[k], rank + (k << log));
    }
  }
  KILN_SHARED(scratch, RowScratch<typename Reduction::State>);
  const u32 most = wave_width();
  state = join_lanes<Reduction>(state, threads < most ? threads : most);
  if (threads > most) {
    if (lane_index() == 0) scratch.of[0][wave_index()] = state;
    barrier();
    if (rank >= most) return;
    const u32 waves = threads / most;
    state = rank < waves ? scratch.of[0][wave_index() + rank] : Reduction::identity();
    state = join_lanes<Reduction>(state, waves);
  }
  if (rank == 0 && at < numel) dst[row] = Reduction::result(state, last);
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
  if (block_threads() > wave_width() && leaves_at_once()) return;
  const Views<1> view{info, static_cast<u32>(num_dims)};
  if (has_one_each(numel, per_row)) {
    return reduce_at_once<Reduction>(numel, static_cast<u32>(per_row), view, src, dst);
  }
  const u64 pieces = (per_row * sizeof(T) + 15) / 16;
  const u32 blocks = row_blocks(pieces);
  if (block_index() >= blocks) return;
  const RowShape shape = shape_of_rows(view, per_row);
  const bool dense = shape.even & (shape.stride == 1);
  const bool has_block_each = blocks * per_row >= numel;
  // Many rows: the fewer lanes have one, the fewer instructions.
  const bool many = dense & (numel / (kChunksAhead * 16 / sizeof(T)) > resident_threads());
  // The more rows a block has, the longer those that a wave of it takes.
  const f32 rows_of_block =
      static_cast<f32>(numel) * reciprocal_approximate(static_cast<f32>(blocks * per_row));
  const u32 of_lane = tuning::kPiecesOfLane * (dense ? 1 : 2);
  const u32 most =
      has_block_each ? tuning::kPiecesOfLane / 4 : of_lane * static_cast<u32>(rows_of_block);
  RowTeams teams;
  teams.share(dense ? pieces : per_row, many ? highest_bit(kChunksAhead) : 0, most);
  if (has_block_each) {
    teams.take_one();
  } else if (!dense && shape.even && shape.rows_apart == 1 && numel >= tuning::kAcross &&
             block_threads() >= wave_width() && (block_threads() & (block_threads() - 1)) == 0) {
    teams.go_across(numel, per_row, blocks);
  }
  const Team team = teams.team;
#pragma unroll 1
  for (u64 base = static_cast<u64>(block_index()) * teams.count;
       teams.first < teams.count && (base + teams.first) * per_row < numel;
       base += static_cast<u64>(blocks) * teams.count) {
    const u64 row = base + teams.mine;
    const u64 first = row * per_row;
    typename Reduction::State state = Reduction::identity();
    if (teams.mine < teams.count && first < numel) {
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
          const auto part = take_elements<Reduction, 4>(from + done * shape.stride, shape.stride, some,
                                                        static_cast<u32>(done), team);
          state = Reduction::join(state, part);
        }
      } else {
        // The digits of a place within the row are those of the inner dims.
#pragma unroll 1
        for (u64 i = team.rank; i < count; i += team.threads) {
          state = Reduction::take(state, from[place_of(view, view.rank, i)], static_cast<u32>(i));
        }
      }
    }
    store_rows<Reduction>(teams, state, base, per_row, numel, last_size(view), dst);
  }
}

}  // namespace kiln::families
