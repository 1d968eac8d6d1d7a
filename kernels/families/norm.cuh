// The norms of rows: y = (x - mean) * alpha / sqrt(mean of (x - mean)^2 + eps) + beta, or the same
// with 0 for the mean. Rows are contiguous, computed in f32.
//
// A row belongs to the threads of a block, or, in blocks of several short rows, to those along x.
// It is kept in registers where sixteen bytes a thread suffice; else it comes from memory once and
// is then walked in the cache. The mean comes first, then the squares of the deviations from it, so
// that nothing cancels.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

enum class Center { kZero, kMean };

struct F32Sum {
  KILN_DEVICE static f32 identity() { return 0; }
  KILN_DEVICE static f32 join(f32 a, f32 b) { return a + b; }
  KILN_DEVICE static f32 exchange(f32 s, u32 mask, u32 width, Here here) {
    return device::exchange(s, mask, width, here);
  }
};

// 1 / n for a whole number n: exact of powers of two, else within one unit in the last place.
KILN_DEVICE f32 reciprocal_of_count(f32 n) {
  const f32 r = reciprocal_approximate(n);
  return math::fma(r, math::fma(-n, r, 1.0f), r);
}

template <class T>
KILN_DEVICE f32 as_f32(T x) {
  return static_cast<f32>(widen(x));
}

// The rows of one kernel, and what is known of a row so far.
template <Center kCenter, class T>
struct Norm {
  static constexpr u32 kCount = 16 / sizeof(T);
  static constexpr bool kCentered = kCenter == Center::kMean;
  using Piece = Chunk<T, kCount>;

  const T* alpha;
  const T* beta;
  u32 columns;
  Team team;
  bool in_chunks;
  f32 mean;
  f32 scale;

  // The columns that a team reads at once begin at `first`; of those this is the thread's j-th.
  KILN_DEVICE u32 slab() const { return team.threads * kCount; }
  KILN_DEVICE u32 column(u32 first, u32 j) const {
    return in_chunks ? first + team.rank * kCount + j : first + j * team.threads + team.rank;
  }
  KILN_DEVICE void read(Piece& piece, const T* row, u32 first) const {
    if (in_chunks) {
      if (column(first, 0) < columns) piece.load(row + column(first, 0));
    } else {
      piece.clear();
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) {
        if (column(first, j) < columns) piece.put(j, row[column(first, j)]);
      }
    }
  }
  KILN_DEVICE void write(const Piece& piece, T* row, u32 first) const {
    if (in_chunks) {
      if (column(first, 0) < columns) piece.store(row + column(first, 0));
    } else {
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) {
        if (column(first, j) < columns) row[column(first, j)] = piece.get(j);
      }
    }
  }

  KILN_DEVICE f32 result(f32 x, f32 weight, f32 bias) const {
    if constexpr (!kCentered) return x * scale * weight;
    return math::fma((x - mean) * scale, weight, bias);
  }
  // The sum of the elements less `mean`, or of their squares.
  KILN_DEVICE f32 add(f32 sum, f32 x, bool squares) const {
    if constexpr (!kCentered) return math::fma(x, x, sum);
    x -= mean;
    return math::fma(x, squares ? x : 1, sum);
  }

  KILN_DEVICE void run(const T* from, T* to) {
    const f32 part = reciprocal_of_count(static_cast<f32>(static_cast<i32>(columns)));
    const bool kept = columns <= slab();
    Piece piece;
    mean = 0;
    // First the mean, where it counts, then the mean of the squares.
    constexpr u32 kSums = kCentered ? 2 : 1;
#pragma unroll 1
    for (u32 sums = kSums; sums != 0; --sums) {
      const bool squares = sums == 1;
      f32 sum = 0;
#pragma unroll 1
      for (u32 first = 0; first < columns; first += slab()) {
        if (!kept || sums == kSums) read(piece, from, first);
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) {
          const f32 x = column(first, j) < columns ? as_f32(piece.get(j)) : mean;
          sum = add(sum, x, squares);
        }
      }
      const f32 result = team_reduce<F32Sum>(team, sum) * part;
      if (squares) {
        scale = math::reciprocal_root(result + eps);
      } else {
        mean = result;
      }
    }
#pragma unroll 1
    for (u32 first = 0; first < columns; first += slab()) {
      Piece weights, biases;
      if (!kept) read(piece, from, first);
      weights.fill(narrow<T>(1.0f));
      biases.clear();
      if (alpha != nullptr) read(weights, alpha, first);
      if (kCentered && beta != nullptr) read(biases, beta, first);
      Piece results;
      results.set([&](u32 j) {
        return result(as_f32(piece.get(j)), as_f32(weights.get(j)), as_f32(biases.get(j)));
      });
      write(results, to, first);
    }
  }
  f32 eps;
};

template <Center kCenter, class T>
KILN_DEVICE void norm(const T* src, T* dst, const T* alpha, const T* beta, i32 n_cols, f32 eps) {
  const u32 along_x = block_size();
  const bool apart = block_y() != 1 && along_x <= wave_width() && (along_x & (along_x - 1)) == 0;
  const Team team = apart ? Team{thread_index(), along_x} : block_team();
  const u32 columns = static_cast<u32>(n_cols);
  const u64 bits = address_of(src) | address_of(dst) | address_of(alpha) | address_of(beta) |
                   columns * sizeof(T);
  Norm<kCenter, T> row{alpha, beta, columns, team, bits % 16 == 0, 0, 0, eps};
  u64 number = static_cast<u64>(block_index()) * block_y() + (apart ? thread_y() : 0);
#pragma unroll 1
  for (u32 left = apart ? 1 : block_y(); left != 0; --left, ++number) {
    row.run(src + number * columns, dst + number * columns);
  }
}

}  // namespace kiln::families
