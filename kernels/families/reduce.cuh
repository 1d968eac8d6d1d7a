// dst[r] = the reduction of elements [r * per_row, (r + 1) * per_row) of a view. The reduced dims
// come last.
//
// In a small launch with a block for each row and a thread for every element, or for every four, a
// block takes its row and each thread loads all of its elements at once. In other launches a team
// takes a row. If rows are neighbours in memory and the elements of a row are not, neighbouring
// lanes take neighbouring rows, and a block takes as many rows as keep the whole device busy.
#pragma once

#include "device/block.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "device/row_team.cuh"
#include "families/row_elements.cuh"
#include "families/team.cuh"

namespace kiln::families {

using namespace device;

// Describes how the rows of a view lie in memory.
struct RowShape {
  bool contiguous;  // the whole view is contiguous
  bool even;        // the elements of a row are `stride` apart
  u64 stride;
  u64 row_stride;  // from a row to the next one in the innermost kept dim
  u32 kept;        // number of dims outside of a row; all dims if a row is not made of whole dims
};

KILN_DEVICE RowShape shape_of_rows(const Views<1>& view, u64 per_row) {
  RowShape shape{true, true, 1, 0, 0};
  bool regular = true;  // all elements so far are shape.stride apart
  u64 count = 1;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = opaque(dim - 1);
    const u64 size = view.size(dim);
    const u64 stride = view.stride(0, dim);
    if (size == 1) continue;
    if (count == 1) shape.stride = stride;
    regular = regular & (stride == shape.stride * count);
    if (count < per_row) {
      shape.even = regular;
    } else if (shape.kept == 0) {
      shape.row_stride = stride;
      shape.kept = count == per_row ? dim + 1 : view.rank;
    }
    count *= size;
  }
  shape.contiguous = regular & (shape.stride == 1);
  return shape;
}

// Returns where element `i` of the first `dims` dims of a view lies.
KILN_NOINLINE u64 place_of(Views<1> view, u32 dims, u64 i) {
  u64 place = 0;
#pragma unroll 1
  for (u32 dim = dims; dim != 0;) {
    dim = opaque(dim - 1);
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
  for (u32 dim = view.rank; dim != 0 && contiguous;) {
    dim = opaque(dim - 1);
    const u64 size = view.size(dim);
    contiguous = (view.stride(0, dim) == count) | (size == 1);
    count *= size;
  }
  return contiguous;
}

// Threads with 32 registers each that the device holds at once.
inline constexpr u32 kMaxThreads = kMachine.multiprocessors * kMachine.threads;

// Most elements that a thread loads at once.
inline constexpr u32 kAtOnce = 4;

// Scratch memory of a block. Outside of templates on the reduction, which have long mangled names.
template <class State>
KILN_DEVICE BlockScratch<State>& team_scratch() {
  KILN_SHARED(scratch, BlockScratch<State>);
  return scratch;
}

// Returns log2 of the rows that a block takes, in a launch with a block for each row: as many as
// are needed for the registers of all working blocks to fit on the device at once.
KILN_DEVICE u32 log_rows_of_block() {
  const u32 all = block_count() * block_threads();
  if (block_threads() <= wave_width() || all <= kMaxThreads / 2) return 0;
  return all <= kMaxThreads ? 1 : 2;
}

// Returns true if the launch has a block for each row, with a power of two of threads: one for each
// element, or for up to kAtOnce in blocks of more than a wave. All working blocks must fit on the
// device at once, unless they are single waves, which take no longer than their launch. Returns
// false if there are no elements.
KILN_DEVICE bool has_thread_each(u64 numel, u64 per_row) {
  const u32 blocks = block_count(), threads = block_threads(), log = log_rows_of_block();
  const u64 taken = static_cast<u64>(blocks) * static_cast<u32>(per_row);
  const bool fit = (blocks <= kMaxThreads / 32) & (blocks * threads <= 2 * kMaxThreads);
  const bool is_wave = threads <= wave_width();
  const u32 most = is_wave ? threads : kAtOnce * threads >> log;
  return static_cast<bool>((fit | is_wave) & (per_row <= most) & (numel - 1 < taken) &
                           (taken >> 32 == 0) & ((threads & (threads - 1)) == 0));
}

KILN_DEVICE u32 last_size(const Views<1>& view) {
  return view.rank == 0 ? 1 : view.size(view.rank - 1);
}

// Each thread takes an element of a row, or up to kAtOnce elements that are evenly apart. If they
// are not, does nothing and returns false. If the registers of all blocks do not fit on the device
// at once, the first blocks take two or four rows each and the others exit.
//
// Measured on an H200, reference geometry, in us, by teams -> this (the original): fast_sum_f64
// 3x197x12x64 permuted 9.3 -> 6.6 (7.2); fast_argmax_f64 512x1024 8.3 -> 5.6 (12.1).
template <class Reduction, class T, class Out>
KILN_DEVICE bool reduce_at_once(u32 numel, u32 per_row, const Views<1>& view, const T* src,
                                Out* dst) {
  const u32 log_rows = log_rows_of_block();
  const u32 base = block_index() << log_rows;
  const u32 threads = block_threads() >> log_rows, log = highest_bit(threads);  // of a row
  // The block has no work, neither here nor by teams.
  if (!likely(base < block_count()) &&
      block_index() * block_threads() >= multiprocessors() * 1024) {
    return true;
  }
  const u32 last = last_size(view);
  // If rows run along the last dim, an element within its row is found without a division.
  const bool contiguous = uniform(is_contiguous(view)) != 0, along = uniform(last) == per_row;
  const bool several = threads < per_row, many = 2 * threads < per_row;
  // All blocks must decide this alike, before some exit. Indices count within the last dim.
  if (!along && (Reduction::kIsIndex || (several && !contiguous))) return false;
  if (base >= block_count()) return true;
  const u32 rank = thread_rank() & (threads - 1);
  const u32 row = base + (thread_rank() >> log), start = row * per_row, at = start + rank;
  const u32 left = start < numel ? numel - start : 0;
  const u32 count = left < per_row ? left : per_row;  // elements of the row
  u64 place = at, step = threads;
  if (!contiguous) {
    const u32 dims = along ? view.rank - 1 : view.rank;
    const u64 stride = along ? view.stride(0, dims) : 0;
    place = place_of(view, dims, along ? row : at) + rank * stride;
    step = threads * stride;
  }
  T x[kAtOnce];
#pragma unroll
  for (u32 k = 0; k < kAtOnce; ++k) x[k] = Reduction::neutral();
  const T* from = src + place;
  if (rank < count) x[0] = *from;
#pragma unroll
  for (u32 k = 1; k < kAtOnce; ++k) {
    if (k == 1 ? !several : !many) break;
    from += step;
    if (rank + k * threads < count) x[k] = *from;
  }
  auto state = Reduction::take(Reduction::identity(), x[0], rank);
#pragma unroll
  for (u32 k = 1; k < kAtOnce; ++k) {
    if (k == 1 ? !several : !many) break;
    state = Reduction::take(state, x[k], rank + k * threads);
  }
  auto& scratch = team_scratch<typename Reduction::State>();
  const u32 most = wave_width();
  state = join_lanes<Reduction>(state, threads < most ? threads : most);
  if (threads > most) {
    const u32 wave = uniform(wave_index());
    if (lane_index() == 0) scratch.of[wave] = state;
    barrier();
    const u32 waves = threads / most;
    if ((wave & (waves - 1)) != 0) return true;
    state = rank < waves ? scratch.of[wave + rank] : Reduction::identity();
    state = join_lanes<Reduction>(state, waves);
  }
  if (rank == 0 && start < numel) dst[row] = Reduction::result(state, ~0u);
  return true;
}

// How rows lie, and which ones a block takes. By default all threads of a block share one row.
struct RowWalk {
  RowShape shape;
  RowTeams teams;
  u32 base;  // row number minus team number
  u32 step;  // from a team's row to its next one
};

// Plans the walk for `blocks` working blocks. A piece is a chunk of 2^log_count elements.
KILN_NOINLINE RowWalk walk_rows(Views<1> view, u64 numel, u64 per_row, u32 log_count, u32 blocks) {
  RowWalk walk;
  walk.shape = shape_of_rows(view, per_row);
  const RowShape& shape = walk.shape;
  RowTeams& teams = walk.teams;
  const u32 each = per_row >> 32 == 0 ? static_cast<u32>(per_row) : ~0u;
  const u32 pieces = ((each - 1) >> log_count) + 1;
  const u32 threads = block_threads();
  const bool dense = shape.even & (shape.stride == 1);
  const f32 rows = static_cast<f32>(numel) * reciprocal_approximate(static_cast<f32>(per_row));
  const bool has_block_each = rows < static_cast<f32>(blocks) + 0.5f;
  // If there are many rows, fewer lanes per row take fewer instructions.
  const u32 log_ahead = highest_bit(kChunksAhead);
  const bool many = dense & (numel >> log_count > resident_threads() / tuning::kManyPieces);
  // The more rows a block has, the longer a row may be that is left to a single wave.
  const u32 of_lane = tuning::kPiecesOfLane * (dense ? 1 : 2);
  const u32 of_block = static_cast<u32>(rows * reciprocal_approximate(static_cast<f32>(blocks)));
  teams.share(dense ? pieces : each, many ? log_ahead : 0,
              has_block_each ? tuning::kPiecesOfLane / 4 : of_lane * of_block);
  // If all blocks have work, the waves of a block take rows far apart, so that all blocks read one
  // region of memory at a time. With fewer rows, some blocks have none, which leaves room for
  // blocks to exit. Measured on an H200, in us, neighbouring rows -> this: f16 131072x333 175 ->
  // 154.
  const u32 waves = threads / wave_width();
  const bool is_whole = waves * wave_width() == threads;
  u32 number = block_index(), each_of = teams.count;  // parts before this one; rows of a part
  walk.step = blocks * each_of;
  if (has_block_each) {
    teams.take_one();
    each_of = 1;
    walk.step = blocks;  // the last row may be incomplete
  } else if (!dense && shape.even && shape.row_stride == 1 && numel >= tuning::kAcross &&
             is_whole && (threads & (threads - 1)) == 0) {
    each_of = teams.go_across(rows, blocks);
    walk.step = blocks * each_of;
  } else if (each_of >= waves && is_whole && rows >= static_cast<f32>(walk.step)) {
    number += wave_index() * (blocks - 1);
    each_of = wave_width() >> highest_bit(teams.team.threads);
  }
  walk.base = number * each_of;
  return walk;
}

// The rows of a launch: less than 2^31, since the reference geometry has a block for each.
template <class T>
struct Rows {
  Views<1> view;
  u64 numel, per_row;
  const T* src;
  RowWalk walk;

  KILN_DEVICE u64 first_of(u32 row) const { return row * per_row; }
  KILN_DEVICE bool has(u32 row) const { return first_of(row) < numel; }

  // Reduces the thread's share of its team's row.
  template <class Reduction, class Order>
  KILN_DEVICE typename Reduction::State take(const Order& order) const {
    auto state = Reduction::identity();
    const RowShape& shape = walk.shape;
    const RowTeams& teams = walk.teams;
    const Team& team = teams.team;
    const u32 row = walk.base + teams.mine;
    const u64 first = first_of(row);
    if (teams.mine >= teams.count || first >= numel) return state;
    const u64 left = numel - first, count = left < per_row ? left : per_row;
    // take_elements() counts with 32 bits.
    const bool even = shape.even && count >> 31 == 0;
#pragma unroll 1
    for (u64 i = even ? 0 : team.rank; i < count; i += team.threads) {
      u64 place = first + i;
      if (!shape.contiguous) {
        place = place_of(view, even ? shape.kept : view.rank,
                         even && shape.kept != view.rank ? row : place);
      }
      const T* const from = src + place;
      if (even) {
        return take_elements<Reduction, kAtOnce>(from, shape.stride, static_cast<u32>(count), team,
                                                 order);
      }
      state = Reduction::take(state, order.turned(*from), static_cast<u32>(i));
    }
    return state;
  }

  // Joins the states of a team's threads and stores the result of its row.
  template <class Reduction, class Out, class Order>
  KILN_DEVICE void store(typename Reduction::State state, u32 last, Out* dst,
                         const Order& order) const {
    auto& scratch = team_scratch<typename Reduction::State>();
    const RowTeams& teams = walk.teams;
    const Team& team = teams.team;
    // Groups of lanes join first: waves, or the largest parts of waves that divide the team.
    const u32 extent = team.threads * team.step;
    const u32 both = extent | wave_width(), width = both & (0 - both);
    state = join_lanes<Reduction>(state, width, team.step);
    bool gives = team.rank == 0;
    u32 which = teams.mine;
    if (width != extent) {
      const u32 thread = thread_rank(), log = highest_bit(width);
      const u32 lane = thread & (width - 1), groups = extent >> log;
      barrier();  // an earlier call may still read the scratch memory
      if (lane < team.step) scratch.of[(thread >> log) * team.step + lane] = state;
      barrier();
      // A single row is joined by the lanes of a group; each of several rows by as many lanes as
      // there are groups.
      const u32 lanes = team.step == 1 ? width : groups;
      which = thread >> highest_bit(lanes);
      if (uniform(thread & ~(wave_width() - 1)) >= team.step * lanes) return;
      const u32 rank = thread & (lanes - 1);
      gives = rank == 0;
      state = Reduction::identity();
#pragma unroll 1
      for (u32 i = rank; i < groups && which < team.step; i += lanes) {
        state = Reduction::join(state, scratch.of[i * team.step + which]);
      }
      state = join_lanes<Reduction>(state, lanes);
    }
    const u32 row = walk.base + which;
    if (gives && which < teams.count && has(row)) {
      dst[row] = result_of<Reduction, Out>(state, last, order);
    }
  }
};

// Reduces rows by teams, in any launch.
template <class Reduction, class Order, class T, class Out>
KILN_DEVICE void reduce_rows(const Views<1>& view, u64 numel, u64 per_row, const T* src, Out* dst,
                             const Order& order) {
  constexpr u32 kCount = 16 / sizeof(T);
  const u32 each = per_row >> 32 == 0 ? static_cast<u32>(per_row) : ~0u;
  const u32 blocks = row_blocks((each - 1) / kCount + 1);
  if (block_index() >= blocks) return;
  Rows<T> rows{view, numel, per_row, src,
               walk_rows(view, numel, per_row, highest_bit(kCount), blocks)};
  RowWalk& walk = rows.walk;
  const u32 last = last_size(view);
  // uniform() tells the compiler which values the lanes of a wave share. Otherwise it would emit
  // each exchange between lanes twice.
  Team& team = walk.teams.team;
  team.threads = uniform(team.threads);
  team.step = uniform(team.step);
  const u32 first = uniform(walk.teams.first);
  if (first >= walk.teams.count) return;
#pragma unroll 1
  for (;; walk.base += walk.step) {
    if (uniform(rows.has(walk.base + first)) == 0) return;
    const auto state = rows.template take<Reduction>(order);
    rows.template store<Reduction>(state, last, dst, order);
  }
}

// Not inlined, so that the maximum and the minimum of a type share it in PTX.
template <class Reduction, class T, class Out>
KILN_NOINLINE void reduce_rows_outlined(Views<1> view, u64 numel, u64 per_row, const T* src,
                                        Out* dst, bool reversed) {
  reduce_rows<Reduction>(view, numel, per_row, src, dst, EitherOrder<T>(reversed));
}

template <class Reduction, class T, class Out>
KILN_DEVICE void reduce(u64 numel, u64 per_row, u64 num_dims, const u64* info, const T* src,
                        Out* dst) {
  if (per_row == 0) {
    if (thread_rank() == 0) dst[block_index()] = Reduction::result(Reduction::identity(), 1);
    return;
  }
  if (block_threads() > wave_width() && leaves_at_once()) return;
  const Views<1> view{info, static_cast<u32>(num_dims)};
  if (has_thread_each(numel, per_row) &&
      reduce_at_once<Reduction>(static_cast<u32>(numel), static_cast<u32>(per_row), view, src,
                                dst)) {
    return;
  }
  if constexpr (kArchitecture == tuning::Architecture::kSm80 && Reduction::kHasOrder) {
    reduce_rows_outlined<typename Reduction::Given>(view, numel, per_row, src, dst,
                                                    Reduction::kReversed);
  } else {
    reduce_rows<Reduction>(view, numel, per_row, src, dst, InOrder<T>());
  }
}

}  // namespace kiln::families
