// dst[r] = softmax of row r. Rows are contiguous, and there are as many as threads along x; the
// reference gives each a block of 32 threads along y.
//
// A team takes a row: one walk finds its maximum, one the sum of its exponentials, and one writes.
// A row that fits into the registers of its team is read once; of a longer one, exponentials that
// lose nothing in T wait in the output.
#pragma once

#include "device/arithmetic.cuh"
#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/limits.cuh"
#include "device/platform.cuh"
#include "families/team.cuh"

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

template <class T>
struct SoftmaxRow {
  using N = typename Arithmetic<T>::Number;
  // Exact exponentials, of f16 too: they are summed, where an approximation's bias would add up.
  using M = Arithmetic<N>;
  static constexpr u32 kCount = 16 / sizeof(T);
  static constexpr u32 kChunks = kCount == 8 ? 1 : 2;  // that a thread keeps
  static constexpr u32 kKept = kChunks * kCount;
  // Exponentials side by side; of f64, which are long functions, one after the other.
  static constexpr u32 kAbreast = sizeof(N) == 8 ? 1 : kKept;

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
    maximum = team_reduce<Largest<N>>(team, maximum);
    N sum = 0;
#pragma unroll 1
    for (u32 first = 0; first < end; first += slab()) {
      if (!kept) read(from, first, x);
#pragma unroll 1
      for (u32 done = 0; done < kKept; done += kAbreast) {
#pragma unroll
        for (u32 k = 0; k < kAbreast; ++k) {
          x[k] = M::exp(x[k] - maximum);
          sum += x[k];
        }
        if constexpr (kAbreast == 1) {  // the next one comes first
          const N last = x[0];
#pragma unroll
          for (u32 k = 0; k + 1 < kKept; ++k) x[k] = x[k + 1];
          x[kKept - 1] = last;
        }
      }
      if (kWaits && !kept) write(to, first, x, 1);
    }
    sum = team_reduce<Total<N>>(team, sum);
    const N scale = 1 / sum;
#pragma unroll 1
    for (u32 first = 0; first < end; first += slab()) {
      if (!kept) {
        read(kWaits ? to : from, first, x);
        if constexpr (!kWaits) {
#pragma unroll
          for (u32 k = 0; k < kKept; ++k) x[k] = M::exp(x[k] - maximum);
        }
      }
      write(to, first, x, scale);
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
  const u32 blocks = row_blocks(pieces);
  if (block_index() >= blocks) return;
  const u64 rows = static_cast<u64>(block_count()) * block_size();
  // Many rows: the fewer lanes have one, the fewer instructions. A row that does not fit into the
  // registers of a wave is a block's.
  constexpr u32 kAllChunks = Row::kChunks, kAllElements = Row::kKept;
  const u32 most = by_chunks ? kAllChunks : kAllElements;
  const RowTeams teams(pieces, rows * pieces > resident_threads() ? most : 1, most);
  const Row row{columns, by_chunks, teams.team};
#pragma unroll 1
  for (u64 mine = static_cast<u64>(block_index()) * teams.count + teams.mine;
       mine - teams.mine + teams.first < rows; mine += static_cast<u64>(blocks) * teams.count) {
    row.run(src + mine * columns, dst + mine * columns, mine < rows);
  }
}

}  // namespace kiln::families
