// dst[r] = softmax of row r. Rows are contiguous. There are as many as threads along x, less those
// that n_cols says are missing (tuning/rows.hpp), and fewer than 2^32. The reference geometry has
// 32 threads along y for each row.
//
// A team takes a row. One walk finds the maximum, one sums the weights, and one writes. The weight
// of an element is exp(element - maximum). A row that fits into the registers of its team is read
// once. For a longer row of f32 or f64, weights are kept in the output until the sum is known. Rows
// are moved by aligned chunks and the single elements around them, short rows by single elements
// only.
#pragma once

#include "device/arithmetic.cuh"
#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/exponential.cuh"
#include "device/limits.cuh"
#include "device/platform.cuh"
#include "device/platform_extreme.cuh"
#include "device/row_team.cuh"
#include "families/row_chunks.cuh"
#include "families/team.cuh"
#include "tuning/rows.hpp"

namespace kiln::families {

using namespace device;

// The maximum. It ignores NaN, which makes the sum NaN.
template <class N>
struct Largest {
  KILN_DEVICE static N identity() { return least<N, N>(); }
  KILN_DEVICE static N join(N a, N b) {
    if constexpr (sizeof(N) == 4) return math::extreme<1, false>(a, b);
    return b > a ? b : a;
  }
  KILN_DEVICE static N exchange(N x, u32 mask, u32 width, Here here) {
    return device::exchange(x, mask, width, here);
  }
};
template <class N>
struct Total {
  KILN_DEVICE static N identity() { return 0; }
  KILN_DEVICE static N join(N a, N b) { return a + b; }
  KILN_DEVICE static N exchange(N x, u32 mask, u32 width, Here here) {
    return device::exchange(x, mask, width, here);
  }
};

// Returns exp(difference), times a factor that is the same for the whole row. `difference` is an
// element minus its row's maximum, so at most 0, or minus a number that is less than the maximum by
// at most 2. For f32 and f64 the result is as exact as the platform's exp. For narrower types the
// error is far below their last place, and the factor 2^24 keeps weights normal numbers.
template <class T, class N>
KILN_DEVICE N softmax_weight(N difference) {
  if constexpr (sizeof(T) == 8) {
    return exp_of_negative(difference);
  } else if constexpr (sizeof(T) == 4) {
    return math::exp(difference);
  } else {
    return exp2_approximate(math::fma(difference, 0x1.715476p+0f, 24.0f));
  }
}

// Returns 1 / sum for a sum of such weights, which is NaN or lies between 1 and 2^34 times that
// factor. The result is within one unit in the last place of f32 and f64. For narrower types the
// error is far below their last place. A division would take more instructions.
template <class T, class N>
KILN_DEVICE N softmax_scale(N sum) {
  N r = reciprocal_approximate(static_cast<f32>(sum));
#pragma unroll
  for (u32 bytes = 2; bytes < sizeof(T); bytes *= 2) r = math::fma(r, math::fma(-sum, r, N{1}), r);
  return r;
}

template <class T>
struct SoftmaxRow {
  using N = typename Arithmetic<T>::Number;
  static constexpr u32 kCount = 16 / sizeof(T);
  // A thread keeps kChunks chunks and one single element.
  static constexpr u32 kChunks = tuning::kSoftmaxPieces;
  static constexpr u32 kKept = kChunks * kCount + 1;
  // Maximum number of chunks per lane if a wave takes a row and there are many rows.
  static constexpr u32 kMax = tuning::softmax_walked(sizeof(T));
  // Elements of a short row that a thread keeps.
  static constexpr u32 kElements = tuning::softmax_elements(sizeof(T));

  RowChunks<T, kCount, kChunks> its;

  KILN_DEVICE SoftmaxRow(const Team& team, const T* from, u32 columns, bool same_alignment)
      : its(team, from, columns, same_alignment) {}

  // Calls act(k) for each place k that the thread keeps of a slab, including some behind the row's
  // end. Chunks that no thread of the team has are skipped, except for f64, whose numbers fill the
  // registers.
  template <class Act>
  KILN_DEVICE void each_of(u32 first, Act act) const {
    // Number of chunks computed side by side.
    constexpr u32 kTogether = sizeof(T) == 4 ? 2 : sizeof(T) == 8 ? kChunks : 1;
#pragma unroll
    for (u32 c = 0; c < kChunks; c += kTogether) {
      if (c == 0 || first * kChunks + c * its.team.threads < its.chunks) {
#pragma unroll
        for (u32 j = 0; j < kTogether * kCount; ++j) act(c * kCount + j);
      }
    }
    act(kKept - 1);
  }

  // Elements behind the row's end become -infinity.
  KILN_DEVICE void read(const T* row, u32 first, N (&x)[kKept]) const {
    const T nothing = narrow<T>(least<N, N>());
    Chunk<T, kCount> chunk[kChunks];
#pragma unroll
    for (u32 c = 0; c < kChunks; ++c) {
      const u32 at = its.chunk_at(first, c);
      chunk[c].fill(nothing);
      if (at < its.chunks) chunk[c].load(row + its.column_of_chunk(at));
    }
    T one = nothing;
    const u32 i = first + its.team.rank;
    if (i < its.single) one = row[its.column_of_single(i)];
    each_of(first, [&](u32 k) {
      x[k] = widen(k + 1 < kKept ? chunk[k / kCount % kChunks].get(k % kCount) : one);
    });
  }
  KILN_DEVICE void write(T* row, u32 first, const N (&x)[kKept], N scale) const {
#pragma unroll
    for (u32 c = 0; c < kChunks; ++c) {
      const u32 at = its.chunk_at(first, c);
      if (at < its.chunks) {
        Chunk<T, kCount> chunk;
        chunk.set([&](u32 j) { return x[c * kCount + j] * scale; });
        chunk.store(row + its.column_of_chunk(at));
      }
    }
    const u32 i = first + its.team.rank;
    if (i < its.single) row[its.column_of_single(i)] = narrow<T>(x[kKept - 1] * scale);
  }

  KILN_DEVICE void run(const T* from, T* to) const {
    constexpr bool kWaits = sizeof(T) >= 4;
    const bool kept = !its.has_slab(its.team.threads);
    N x[kKept];
    N maximum = Largest<N>::identity();
#pragma unroll 1
    for (u32 first = 0; its.has_slab(first); first += its.team.threads) {
      read(from, first, x);
      each_of(first, [&](u32 k) { maximum = Largest<N>::join(maximum, x[k]); });
    }
    // Both reductions can use turn 0: they alternate, and each has scratch memory of its own.
    maximum = row_reduce<Largest<N>, false>(its.team, maximum, 0, true);
    const auto weigh = [&](u32 k) { x[k] = softmax_weight<T>(x[k] - maximum); };
    N sums[2] = {};  // of every second place, which lose less precision than one long sum
#pragma unroll 1
    for (u32 first = 0; its.has_slab(first); first += its.team.threads) {
      if (!kept) read(from, first, x);
      each_of(first, [&](u32 k) {
        weigh(k);
        sums[k % 2] += x[k];
      });
      if (kWaits && !kept) write(to, first, x, 1);
    }
    const N sum = row_reduce<Total<N>, false>(its.team, sums[0] + sums[1], 0, true);
    const N scale = softmax_scale<T>(sum);
#pragma unroll 1
    for (u32 first = 0; its.has_slab(first); first += its.team.threads) {
      if (!kept) {
        read(kWaits ? to : from, first, x);
        if constexpr (!kWaits) each_of(first, weigh);
      }
      write(to, first, x, scale);
    }
  }
};

// Softmax of a short row. A thread keeps all of its elements in registers. `kWave`: the team is a
// wave.
template <bool kWave, class T>
KILN_DEVICE void softmax_short(Team team, const T* from, T* to, u32 columns) {
  using N = typename Arithmetic<T>::Number;
  constexpr u32 kCount = SoftmaxRow<T>::kElements;
  N x[kCount];
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    const u32 at = k * team.threads + team.rank;
    T one = narrow<T>(least<N, N>());
    if (at < columns) one = from[at];
    x[k] = widen(one);
  }
  N maximum = x[0], sum = 0;
#pragma unroll
  for (u32 k = 1; k < kCount; ++k) maximum = Largest<N>::join(maximum, x[k]);
  maximum = kWave ? join_wave<Largest<N>>(maximum, KILN_HERE)
                  : join_lanes<Largest<N>>(maximum, team.threads);
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    x[k] = softmax_weight<T>(x[k] - maximum);
    sum += x[k];
  }
  sum = kWave ? join_wave<Total<N>>(sum, KILN_HERE) : join_lanes<Total<N>>(sum, team.threads);
  const N scale = softmax_scale<T>(sum);
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    const u32 at = k * team.threads + team.rank;
    if (at < columns) to[at] = narrow<T>(x[k] * scale);
  }
}

template <class T>
KILN_NOINLINE void softmax_short_outlined(Team team, const T* from, T* to, u32 columns) {
  softmax_short<false>(team, from, to, columns);
}

template <class T>
KILN_DEVICE void softmax(const T* src, T* dst, i32 n_cols) {
  using Row = SoftmaxRow<T>;
  constexpr u32 kCount = Row::kCount, kReferenceThreads = 32;
  const RowExtent extent(n_cols);
  const u32 columns = extent.columns;
  u32 pieces = columns / kCount;
  // A block of one wave takes a single row if the row has more than two chunks per lane.
  const bool one_wave = block_threads() == wave_width();
  const bool alone = one_wave && pieces > 2 * wave_width();
  // Each block has a short row, and all blocks fit on the device at once. If there are many rows of
  // at most half a wave, a wave takes several instead.
  const u32 at_once = columns > wave_width() / 2 ? 2 : 16;
  if (one_wave && block_size() == 1 && columns <= Row::kElements * wave_width() &&
      block_count() <= resident_threads() / wave_width() / at_once) {
    const u64 start = static_cast<u64>(block_index()) * columns;
    return softmax_short<true>({thread_rank(), wave_width()}, src + start, dst + start, columns);
  }
  // Blocks of kiln's own geometry all work, unless they are large.
  const bool all_work =
      block_threads() > kReferenceThreads && block_threads() <= tuning::kSoftmaxExits;
  if (!alone && (all_work ? leaves_to_all() : leaves_at_once())) return;
  const u32 blocks = alone ? block_count() : all_work ? all_blocks() : row_blocks(pieces);
  if (block_index() >= blocks) return;
  const u32 rows = block_count() * block_size();
  const bool aligned = (address_of(src) | address_of(dst) | columns * sizeof(T)) % 16 == 0;
  const bool same_alignment = (address_of(src) ^ address_of(dst)) % 16 == 0;
  // With many rows, each gets fewer lanes, which takes fewer instructions. A row that is too long
  // for a wave gets a whole block, if blocks consist of whole waves.
  const u64 all = static_cast<u64>(rows) * pieces;
  const bool many = all > resident_threads() / 8;
  const bool whole_waves = (block_threads() & (wave_width() - 1)) == 0;
  // Short rows go by single elements, unless there are many and they are aligned: then they go by
  // chunks.
  const u32 of_lane = !many ? Row::kElements : aligned ? 0 : tuning::kSoftmaxShort / sizeof(T);
  const bool is_short = whole_waves && columns <= of_lane * wave_width();
  const u32 each = !many ? 1 : is_short ? Row::kElements : Row::kChunks;
  u32 most = all > resident_threads() ? Row::kMax : Row::kChunks;
  if (is_short || !whole_waves) most = tuning::kAnyPiecesOfLane;
  // There is at least a thread for each element before and after the chunks.
  const u32 ends = aligned ? 0 : 2 * (kCount - 1) * each;
  pieces = is_short || !same_alignment ? columns : pieces < ends ? ends : pieces;
  RowTeams teams;
  teams.share(pieces, highest_bit(each), most);
  const u32 stride = blocks * teams.count, lead = teams.mine - teams.first;
  const auto take = [&](u32 mine) {
    const T* const from = src + static_cast<u64>(mine) * columns;
    T* const to = dst + static_cast<u64>(mine) * columns;
    const u32 its = mine + extent.missing < rows ? columns : 0;
    if (is_short) {
      softmax_short_outlined(teams.team, from, to, its);
    } else {
      Row(teams.team, from, its, same_alignment).run(from, to);
    }
  };
  u32 first = block_index() * teams.count + teams.first;
  if constexpr (sizeof(T) == 2) {
    // uniform() tells the compiler that the lanes of a wave agree, which is less code but slower
    // for wider types. Measured on an H200, in us, without -> with: f64 2^12, reference geometry,
    // 6.6 -> 7.0; f32 2^28, own geometry, 545 -> 576.
    first = uniform(first);
#pragma unroll 1
    for (; first < rows; first += stride) {
      take(first + lead);
      if (rows - first <= stride) return;  // 32 bits cannot count further
    }
  } else {
#pragma unroll 1
    for (u32 mine = first + lead; mine - lead < rows; mine += stride) {
      take(mine);
      if (rows - (mine - lead) <= stride) return;
    }
  }
}

}  // namespace kiln::families
