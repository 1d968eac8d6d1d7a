// The norms of rows: y = (x - mean) * alpha / sqrt(mean of (x - mean)^2 + eps) + beta, or the same
// with 0 for the mean. Rows are contiguous, computed in f32.
//
// A row belongs to the threads of a block, or, in blocks of several short rows, to those along x.
// It comes from memory once and is then walked in the cache: 32 registers a thread let the
// reference's blocks of 1024 threads take turns, which more for keeping the row would not. The mean
// comes first, then the squares of the deviations from it, so that nothing cancels.
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
  KILN_DEVICE static f32 shuffle(f32 s, u32 source, u32 width, Here here) {
    return device::shuffle(s, source, width, here);
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
  f32 mean;
  f32 scale;

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
  KILN_DEVICE f32 sum_chunks(const T* row, bool squares) const {
    f32 sum = 0;
#pragma unroll 1
    for (u32 at = team.rank * kCount; at < columns; at += team.threads * kCount) {
      Piece piece;
      piece.load(row + at);
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) sum = add(sum, as_f32(piece.get(j)), squares);
    }
    return sum;
  }
  KILN_DEVICE f32 sum_elements(const T* row, bool squares) const {
    constexpr u32 kAhead = 4;
    f32 sum = 0;
#pragma unroll 1
    for (u32 at = team.rank; at < columns;) {
      f32 x[kAhead];
#pragma unroll
      for (u32 j = 0; j < kAhead; ++j, at += team.threads) {
        x[j] = at < columns ? as_f32(row[at]) : mean;
      }
#pragma unroll
      for (u32 j = 0; j < kAhead; ++j) sum = add(sum, x[j], squares);
    }
    return sum;
  }

  KILN_DEVICE void write_chunks(const T* from, T* to) const {
#pragma unroll 1
    for (u32 at = team.rank * kCount; at < columns; at += team.threads * kCount) {
      Piece piece, weights, biases, results;
      piece.load(from + at);
      weights.fill(narrow<T>(1.0f));
      biases.clear();
      if (alpha != nullptr) weights.load(alpha + at);
      if (kCentered && beta != nullptr) biases.load(beta + at);
      results.set([&](u32 j) {
        return result(as_f32(piece.get(j)), as_f32(weights.get(j)), as_f32(biases.get(j)));
      });
      results.store(to + at);
    }
  }
  KILN_DEVICE void write_elements(const T* from, T* to) const {
#pragma unroll 1
    for (u32 at = team.rank; at < columns; at += team.threads) {
      const f32 weight = alpha == nullptr ? 1 : as_f32(alpha[at]);
      const f32 bias = !kCentered || beta == nullptr ? 0 : as_f32(beta[at]);
      to[at] = narrow<T>(result(as_f32(from[at]), weight, bias));
    }
  }
};

template <Center kCenter, class T>
KILN_DEVICE void norm(const T* src, T* dst, const T* alpha, const T* beta, i32 n_cols, f32 eps) {
  const u32 along_x = block_size();
  const bool apart = block_y() != 1 && along_x <= wave_width() && (along_x & (along_x - 1)) == 0;
  const Team team = apart ? Team{thread_index(), along_x} : block_team();
  Norm<kCenter, T> row{alpha, beta, static_cast<u32>(n_cols), team, 0, 0};
  const u64 bits = address_of(src) | address_of(dst) | address_of(alpha) | address_of(beta) |
                   row.columns * sizeof(T);
  const bool in_chunks = bits % 16 == 0;
  const f32 part = reciprocal_of_count(static_cast<f32>(n_cols));
  u64 number = static_cast<u64>(block_index()) * block_y() + (apart ? thread_y() : 0);
#pragma unroll 1
  for (u32 left = apart ? 1 : block_y(); left != 0; --left, ++number) {
    const T* const from = src + number * row.columns;
    T* const to = dst + number * row.columns;
    row.mean = 0;
    // First the mean, where it counts, then the mean of the squares.
    constexpr u32 kSums = kCenter == Center::kMean ? 2 : 1;
#pragma unroll 1
    for (u32 sums = kSums; sums != 0; --sums) {
      const bool squares = sums == 1;
      const f32 sum = in_chunks ? row.sum_chunks(from, squares) : row.sum_elements(from, squares);
      const f32 mean = team_reduce<F32Sum>(row.team, sum) * part;
      if (squares) {
        row.scale = math::reciprocal_root(mean + eps);
      } else {
        row.mean = mean;
      }
    }
    if (in_chunks) {
      row.write_chunks(from, to);
    } else {
      row.write_elements(from, to);
    }
  }
}

}  // namespace kiln::families
