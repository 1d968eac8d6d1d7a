// dst[r] = softmax of row r. Rows are contiguous, and there are as many as threads along x; the
// reference gives each a block of 32 threads along y.
//
// A team takes a row: one walk finds its maximum, one the sum of its weights, and one writes. A
// weight is an element's exponential, by the maximum's. A row that fits into the registers of its
// team is read once; of a longer one, weights that lose nothing in T wait in the output. Where there
// are many rows, more of each is kept: straight code, long to start, that keeps the memory busy.
#pragma once

#include "device/arithmetic.cuh"
#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/exponential.cuh"
#include "device/limits.cuh"
#include "device/platform.cuh"
#include "device/row_team.cuh"
#include "families/team.cuh"
#include "tuning/rows.hpp"

namespace kiln::families {

using namespace device;

// NaN is no maximum: it makes the sum NaN.
template <class N>
struct Largest {
  KILN_DEVICE static N identity() { return least<N, N>(); }
  KILN_DEVICE static N join(N a, N b) { return b > a ? b : a; }
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

// exp(difference), the difference of an element to its row's maximum being at most 0, times a factor
// that is the same in all of the row. As exact as the machine has it for f32 and f64. For narrower
// types the error is far below their last place, and the factor 2^24 keeps weights normal numbers.
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

template <class T>
struct SoftmaxRow {
  using N = typename Arithmetic<T>::Number;
  static constexpr u32 kCount = 16 / sizeof(T);
  // Chunks of a row that a thread keeps, of few rows and of many.
  static constexpr u32 kChunks = tuning::softmax_pieces(sizeof(T), false);
  static constexpr u32 kManyChunks = tuning::softmax_pieces(sizeof(T), true);
  static constexpr u32 kKept = kChunks * kCount;

  u32 columns;
  bool by_chunks;
  Team team;

  // The column of the thread's element `k`, in the slab that begins at `first`.
  KILN_DEVICE u32 column(u32 first, u32 k) const {
    return by_chunks ? first + (k / kCount * team.threads + team.rank) * kCount + k % kCount
                     : first + k * team.threads + team.rank;
  }
  KILN_DEVICE u32 slab() const { return team.threads * kKept; }

  // What is behind the end is -infinity.
  KILN_DEVICE void read(const T* row, u32 first, N (&x)[kKept]) const {
    if (by_chunks) {
#pragma unroll
      for (u32 c = 0; c < kChunks; ++c) {
        const u32 at = column(first, c * kCount);
        Chunk<T, kCount> chunk;
        if (at < columns) chunk.load(row + at);
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) {
          x[c * kCount + j] = at < columns ? widen(chunk.get(j)) : least<N, N>();
        }
      }
    } else {
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        const u32 at = column(first, k);
        x[k] = at < columns ? widen(row[at]) : least<N, N>();
      }
    }
  }
  KILN_DEVICE void write(T* row, u32 first, const N (&x)[kKept], N scale) const {
    if (by_chunks) {
#pragma unroll
      for (u32 c = 0; c < kChunks; ++c) {
        const u32 at = column(first, c * kCount);
        Chunk<T, kCount> chunk;
        chunk.clear();
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) chunk.put(j, narrow<T>(x[c * kCount + j] * scale));
        if (at < columns) chunk.store(row + at);
      }
    } else {
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        const u32 at = column(first, k);
        if (at < columns) row[at] = narrow<T>(x[k] * scale);
      }
    }
  }

  KILN_DEVICE void run(const T* from, T* to, bool exists) const {
    constexpr bool kWaits = sizeof(T) >= 4;
    const u32 end = exists ? columns : 0;
    const bool kept = columns <= slab();
    N x[kKept];
    N maximum = Largest<N>::identity();
#pragma unroll 1
    for (u32 first = 0; first < end; first += slab()) {
      read(from, first, x);
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) maximum = Largest<N>::join(maximum, x[k]);
    }
    // The two reductions take turns, each with memory of its own.
    maximum = row_reduce<Largest<N>, false>(team, maximum, 0, false);
    N sum = 0;
#pragma unroll 1
    for (u32 first = 0; first < end; first += slab()) {
      if (!kept) read(from, first, x);
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        x[k] = softmax_weight<T>(x[k] - maximum);
        sum += x[k];
      }
      if (kWaits && !kept) write(to, first, x, 1);
    }
    sum = row_reduce<Total<N>, false>(team, sum, 0, false);
    const N scale = 1 / sum;
#pragma unroll 1
    for (u32 first = 0; first < end; first += slab()) {
      if (!kept) {
        read(kWaits ? to : from, first, x);
        if constexpr (!kWaits) {
#pragma unroll
          for (u32 k = 0; k < kKept; ++k) x[k] = softmax_weight<T>(x[k] - maximum);
        }
      }
      write(to, first, x, scale);
    }
  }

  // The same by chunks, where the team keeps all of the row: it is on its way at once.
  KILN_DEVICE void run_at_once(const T* from, T* to, bool exists) const {
    const u32 end = exists ? columns : 0;
    const T nothing = narrow<T>(least<N, N>());
    Chunk<T, kCount> chunk[kManyChunks];
#pragma unroll
    for (u32 c = 0; c < kManyChunks; ++c) {
      const u32 at = column(0, c * kCount);
      chunk[c].fill(nothing);
      if (at < end) chunk[c].load(from + at);
    }
    N x[kManyChunks * kCount];
    N maximum = Largest<N>::identity();
#pragma unroll
    for (u32 k = 0; k < kManyChunks * kCount; ++k) {
      x[k] = widen(chunk[k / kCount].get(k % kCount));
      maximum = Largest<N>::join(maximum, x[k]);
    }
    maximum = row_reduce<Largest<N>, false>(team, maximum, 0, false);
    N sum = 0;
#pragma unroll
    for (u32 k = 0; k < kManyChunks * kCount; ++k) {
      x[k] = softmax_weight<T>(x[k] - maximum);
      sum += x[k];
    }
    const N scale = 1 / row_reduce<Total<N>, false>(team, sum, 0, false);
#pragma unroll
    for (u32 c = 0; c < kManyChunks; ++c) {
      const u32 at = column(0, c * kCount);
      chunk[c].clear();
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) chunk[c].put(j, narrow<T>(x[c * kCount + j] * scale));
      if (at < end) chunk[c].store(to + at);
    }
  }
};

template <class T>
KILN_DEVICE void softmax(const T* src, T* dst, i32 n_cols) {
  if (leaves_at_once()) return;
  using Row = SoftmaxRow<T>;
  const u32 columns = static_cast<u32>(n_cols);
  const bool by_chunks = (address_of(src) | address_of(dst) | columns * sizeof(T)) % 16 == 0;
  const u32 pieces = by_chunks ? columns / Row::kCount : columns;
  const u32 blocks = row_blocks((static_cast<u64>(columns) * sizeof(T) + 15) / 16);
  if (block_index() >= blocks) return;
  const u64 rows = static_cast<u64>(block_count()) * block_size();
  // Many rows: the fewer lanes have one, the fewer instructions. A row that does not fit into the
  // registers of a wave is a block's.
  const bool many = rows * pieces > resident_threads();
  constexpr u32 kFew = Row::kChunks, kMany = Row::kManyChunks, kElements = Row::kKept;
  const u32 most = !by_chunks ? kElements : many ? kMany : kFew;
  // A block shares a row where it is whole waves.
  const bool whole_waves = (block_threads() & (wave_width() - 1)) == 0;
  RowTeams teams;
  teams.share(pieces, many ? most : 1, whole_waves ? most : tuning::kAnyPiecesOfLane);
  const Row row{columns, by_chunks, teams.team};
  u64 mine = static_cast<u64>(block_index()) * teams.count + teams.mine;
  const u64 lead = teams.mine - teams.first, stride = static_cast<u64>(blocks) * teams.count;
  if (kMany > kFew && many && by_chunks && pieces <= kMany * teams.team.threads) {
#pragma unroll 1
    for (; mine - lead < rows; mine += stride) {
      row.run_at_once(src + mine * columns, dst + mine * columns, mine < rows);
    }
  } else {
#pragma unroll 1
    for (; mine - lead < rows; mine += stride) {
      row.run(src + mine * columns, dst + mine * columns, mine < rows);
    }
  }
}

}  // namespace kiln::families
