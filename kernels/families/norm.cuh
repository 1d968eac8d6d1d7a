// The norms of rows: y = (x - mean) * alpha / sqrt(mean of (x - mean)^2 + eps) + beta, or the same
// with 0 for the mean. Rows are contiguous, computed in f32.
//
// A row belongs to the threads of a block, or, in blocks of several short rows, to those along x.
// It is kept in registers where sixteen bytes a thread suffice; else it comes from memory once and
// is then walked in the cache. Mean and variance come from one walk where the mean is small beside
// the deviations. Elsewhere that would cancel, and a second walk sums the deviations from the mean
// that the first one found.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

enum class Center { kZero, kMean };

// The sums of deviations from a number, where they count, and of their squares.
template <Center kCenter>
struct Sums {
  f32 squares, deviations;

  KILN_DEVICE void add(f32 deviation) {
    deviations += deviation;
    squares = math::fma(deviation, deviation, squares);
  }
  KILN_DEVICE static Sums identity() { return {0, 0}; }
  KILN_DEVICE static Sums join(Sums a, Sums b) {
    return {a.squares + b.squares, a.deviations + b.deviations};
  }
  KILN_DEVICE static Sums exchange(Sums s, u32 mask, u32 width, Here here) {
    return {device::exchange(s.squares, mask, width, here),
            device::exchange(s.deviations, mask, width, here)};
  }
};
template <>
struct Sums<Center::kZero> {
  f32 squares;

  KILN_DEVICE void add(f32 deviation) { squares = math::fma(deviation, deviation, squares); }
  KILN_DEVICE static Sums identity() { return {0}; }
  KILN_DEVICE static Sums join(Sums a, Sums b) { return {a.squares + b.squares}; }
  KILN_DEVICE static Sums exchange(Sums s, u32 mask, u32 width, Here here) {
    return {device::exchange(s.squares, mask, width, here)};
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

  KILN_DEVICE void run(const T* from, T* to) {
    const bool kept = columns <= slab();
    Piece piece;
    mean = 0;
#pragma unroll 1
    for (bool again = false;; again = true) {
      Sums<kCenter> sums = Sums<kCenter>::identity();
#pragma unroll 1
      for (u32 first = 0; first < columns; first += slab()) {
        if (!kept || !again) read(piece, from, first);
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) {
          if (column(first, j) < columns) sums.add(as_f32(piece.get(j)) - mean);
        }
      }
      sums = team_reduce<Sums<kCenter>>(team, sums);
      const f32 part = reciprocal_of_count(static_cast<f32>(static_cast<i32>(columns)));
      scale = sums.squares * part;
      if constexpr (!kCentered) {
        break;
      } else {
        const f32 offset = sums.deviations * part;
        mean += offset;
        scale = math::fma(-offset, offset, scale);  // the variance
        if (again || offset * offset <= 4 * scale) break;
      }
    }
    scale = math::reciprocal_root(scale + eps);
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
  u64 at = (static_cast<u64>(block_index()) * block_y() + (apart ? thread_y() : 0)) * columns;
#pragma unroll 1
  for (u32 left = apart ? 1 : block_y(); left != 0; --left, at += columns) {
    row.run(src + at, dst + at);
  }
}

}  // namespace kiln::families
