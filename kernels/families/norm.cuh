// The norms of rows: y = (x - mean) * alpha / sqrt(mean of (x - mean)^2 + eps) + beta, or the same
// with 0 for the mean. Rows are contiguous, computed in f32.
//
// A row belongs to as many waves of a block as have a piece of it, or, in blocks of several short
// rows, to the threads along x. It is kept in registers where two pieces of sixteen bytes a thread
// suffice; else it comes from memory once and is then walked in the cache. Mean and variance come
// from one walk where the mean is small beside the deviations. Elsewhere that would cancel, and a
// second walk sums the deviations from the mean that the first one found.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/row_team.cuh"

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

// The rows of one kernel, walked in pieces of `kCount` neighbours: sixteen bytes, or one element.
template <Center kCenter, class T, u32 kCount>
struct Norm {
  static constexpr bool kCentered = kCenter == Center::kMean;
  // Pieces that a thread keeps.
  static constexpr u32 kKept = kCount != 1 ? 2 : sizeof(T) == 8 ? 3 : 4;
  using Piece = Chunk<T, kCount>;

  const T* src;
  T* dst;
  const T* alpha;
  const T* beta;
  u32 columns;
  f32 eps;
  Team team;

  // Columns that the team has at once. Its pieces follow one another; a thread's k-th, where its
  // first one begins at column `at`, begins here.
  KILN_DEVICE u32 slab() const { return kKept * kCount * team.threads; }
  KILN_DEVICE u32 column(u32 at, u32 k) const { return at + k * kCount * team.threads; }

  KILN_DEVICE void read(Piece (&x)[kKept], u64 start, u32 at) const {
#pragma unroll
    for (u32 k = 0; k < kKept; ++k) {
      if (column(at, k) < columns) x[k].load(src + (start + column(at, k)));
    }
  }

  // The row whose first element is number `start`.
  KILN_DEVICE void run(u64 start) const {
    const u32 first = team.rank < team.threads ? team.rank * kCount : columns;
    const bool kept = columns <= slab();
    Piece x[kKept];
    f32 mean = 0, scale;
    u32 turn = 0;
#pragma unroll 1
    for (;; turn = 1) {
      Sums<kCenter> sums = Sums<kCenter>::identity();
#pragma unroll 1
      for (u32 at = first; at < columns; at += slab()) {
        if (!kept || turn == 0) read(x, start, at);
#pragma unroll
        for (u32 k = 0; k < kKept; ++k) {
          if (column(at, k) < columns) {
#pragma unroll
            for (u32 j = 0; j < kCount; ++j) sums.add(as_f32(x[k].get(j)) - mean);
          }
        }
      }
      sums = row_reduce<Sums<kCenter>, true>(team, sums, turn, kCentered);
      const f32 part = reciprocal_of_count(static_cast<f32>(static_cast<i32>(columns)));
      scale = sums.squares * part;
      if constexpr (!kCentered) {
        break;
      } else {
        const f32 offset = sums.deviations * part;
        mean += offset;
        scale = math::fma(-offset, offset, scale);  // the variance
        if (turn == 1 || offset * offset <= 4 * scale) break;
      }
    }
    scale = math::reciprocal_root(scale + eps);
#pragma unroll 1
    for (u32 at = first; at < columns; at += slab()) {
      if (!kept) read(x, start, at);
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        const u32 c = column(at, k);
        if (c < columns) {
          Piece weights, biases;
          weights.fill(narrow<T>(1.0f));
          biases.clear();
          if (alpha != nullptr) weights.load(alpha + c);
          if (kCentered && beta != nullptr) biases.load(beta + c);
          Piece results;
          results.set([&](u32 j) {
            const f32 y = (as_f32(x[k].get(j)) - mean) * scale;
            if constexpr (!kCentered) return y * as_f32(weights.get(j));
            return math::fma(y, as_f32(weights.get(j)), as_f32(biases.get(j)));
          });
          results.store(dst + (start + c));
        }
      }
    }
  }
};

template <u32 kCount, Center kCenter, class T>
KILN_DEVICE void norm_by(const T* src, T* dst, const T* alpha, const T* beta, u32 columns,
                         f32 eps) {
  const Team team = row_team((columns + kCount - 1) / kCount);
  // layernorm of f64 would spill on sm_80.
  constexpr bool kReturns = kBarriersPassOver && !(kCenter == Center::kMean && sizeof(T) == 8);
  if (kReturns && team.rank >= team.threads) return;
  const u64 row = static_cast<u64>(block_index()) * block_y() + thread_y();
  Norm<kCenter, T, kCount>{src, dst, alpha, beta, columns, eps, team}.run(row * columns);
}

template <Center kCenter, class T>
KILN_DEVICE void norm(const T* src, T* dst, const T* alpha, const T* beta, i32 n_cols, f32 eps) {
  const auto [columns, missing] = RowExtent(n_cols);
  // A row that is missing: its team is of lanes, which wait for no other team.
  if (block_index() + 1 == block_count() && thread_y() + missing >= block_y()) return;
  const u64 bits = address_of(src) | address_of(dst) | address_of(alpha) | address_of(beta) |
                   columns * sizeof(T);
  if (bits % 16 == 0) {
    norm_by<16 / sizeof(T), kCenter>(src, dst, alpha, beta, columns, eps);
  } else {
    norm_by<1, kCenter>(src, dst, alpha, beta, columns, eps);
  }
}

}  // namespace kiln::families
