// layernorm and rmsnorm of contiguous rows, computed in f32:
//
//   y = (x - mean) * alpha / sqrt(mean of (x - mean)^2 + eps) + beta
//
// rmsnorm has 0 for the mean and no beta.
//
// A row of at most two elements per lane is loaded at once, together with alpha and beta. Any other
// row belongs to as many waves of its block as have work, or, if a block has several rows, to the
// threads along x. Norm walks rows of aligned 16-byte chunks. LooseNorm walks other rows by aligned
// chunks of four elements. SingleNorm walks them by single elements, for types that gain nothing
// from chunks or would spill registers. All three keep a short row in registers. A longer row is
// read from memory once and then re-read from cache.
//
// One walk finds mean and variance if the mean is at most twice the standard deviation. A larger
// mean would cancel, so a second walk sums the deviations from the mean that the first one found.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/row_team.cuh"
#include "families/row_chunks.cuh"

namespace kiln::families {

using namespace device;

enum class Center { kZero, kMean };

// Sums of squared deviations from a number and, for kMean, of the deviations.
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

// Returns 1 / n for a whole number n: exact for powers of two, otherwise within one unit in the
// last place.
KILN_DEVICE f32 reciprocal_of_count(f32 n) {
  const f32 r = reciprocal_approximate(n);
  return math::fma(r, math::fma(-n, r, 1.0f), r);
}

template <class T>
KILN_DEVICE f32 as_f32(T x) {
  return static_cast<f32>(widen(x));
}

// The mean of a row and its scale. The scale is the variance (for kZero the mean square) until
// moments_of_row() turns it into 1 / sqrt(variance + eps).
template <Center kCenter>
struct Moments {
  static constexpr bool kCentered = kCenter == Center::kMean;
  f32 mean = 0, scale = 0;

  // Updates the moments from the sums of a walk over `columns` elements, relative to `mean`.
  // Returns true if no further walk is needed. NaN would stay NaN.
  KILN_DEVICE bool found(const Sums<kCenter>& sums, u32 columns) {
    const f32 part = reciprocal_of_count(static_cast<f32>(static_cast<i32>(columns)));
    scale = sums.squares * part;
    if constexpr (!kCentered)
      return true;
    else {
      const f32 offset = sums.deviations * part;
      mean += offset;
      scale = math::fma(-offset, offset, scale);  // the variance
      return !(offset * offset > 4 * scale);
    }
  }
  template <class T>
  KILN_DEVICE f32 result(f32 value, T weight, T bias) const {
    const f32 y = (value - mean) * scale;
    if constexpr (!kCentered) return y * as_f32(weight);
    return math::fma(y, as_f32(weight), as_f32(bias));
  }
};

// Computes the moments of a row that a team walks, twice if the first mean is too far off.
// `walk(sums, mean, is_first)` adds the thread's elements to `sums`, each less `mean`.
template <Center kCenter, class Walk>
KILN_DEVICE Moments<kCenter> moments_of_row(const Team& team, u32 columns, f32 eps,
                                            const Walk& walk) {
  Moments<kCenter> moments;
  u32 turn = 0;
#pragma unroll 1
  for (;; turn = 1) {
    Sums<kCenter> sums = Sums<kCenter>::identity();
    walk(sums, moments.mean, turn == 0);
    sums = row_reduce<Sums<kCenter>, true>(team, sums, turn, kCenter == Center::kMean);
    if (moments.found(sums, columns) || turn == 1) break;
  }
  moments.scale = math::reciprocal_root(moments.scale + eps);
  return moments;
}

struct Plus {
  KILN_DEVICE static f32 identity() { return 0; }
  KILN_DEVICE static f32 join(f32 a, f32 b) { return a + b; }
  KILN_DEVICE static f32 exchange(f32 x, u32 mask, u32 width, Here here) {
    return device::exchange(x, mask, width, here);
  }
};

// The norm of a row of at most kNormElements elements per lane. All loads are issued before the
// first value is used.
template <Center kCenter, class T>
KILN_DEVICE void short_norm(const T* src, T* dst, const T* alpha, const T* beta, u32 columns,
                            u32 lanes, u32 rank, f32 eps) {
  constexpr u32 kCount = tuning::kNormElements;
  constexpr bool kCentered = kCenter == Center::kMean;
  T x[kCount], weight[kCount], bias[kCount];
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    const u32 at = k * lanes + rank;
    x[k] = bias[k] = narrow<T>(0.0f);
    weight[k] = narrow<T>(1.0f);
    if (at < columns) {
      x[k] = src[at];
      if (alpha != nullptr) weight[k] = alpha[at];
      if (kCentered && beta != nullptr) bias[k] = beta[at];
    }
  }
  const f32 part = reciprocal_of_count(static_cast<f32>(static_cast<i32>(columns)));
  Moments<kCenter> moments;
  if (kCentered) {
    f32 sum = 0;
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) sum += as_f32(x[k]);
    moments.mean = join_lanes<Plus>(sum, lanes) * part;
  }
  f32 squares = 0;
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    const f32 deviation = k * lanes + rank < columns ? as_f32(x[k]) - moments.mean : 0;
    squares = math::fma(deviation, deviation, squares);
  }
  moments.scale = math::reciprocal_root(math::fma(join_lanes<Plus>(squares, lanes), part, eps));
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    const u32 at = k * lanes + rank;
    if (at < columns) dst[at] = narrow<T>(moments.result(as_f32(x[k]), weight[k], bias[k]));
  }
}

// Walks rows of aligned 16-byte chunks.
template <Center kCenter, class T>
struct Norm {
  static constexpr bool kCentered = kCenter == Center::kMean;
  static constexpr u32 kCount = 16 / sizeof(T);  // elements of a chunk
  static constexpr u32 kKept = 2;                // chunks that a thread keeps
  // Number of chunks that are written together. One by one is less code, but slower for rmsnorm and
  // f64. Measured on an H200, in us, one by one -> together: layernorm_f64 2^12 3.62 -> 3.50;
  // rmsnorm_f16 8x4096 2.39 -> 2.27.
  static constexpr u32 kWritten = kCentered && sizeof(T) < 8 ? 1 : kKept;
  using Piece = Chunk<T, kCount>;

  const T* src;
  T* dst;
  const T* alpha;
  const T* beta;
  u32 columns;
  f32 eps;
  Team team;

  // slab(): number of columns that the team holds at once. column(): first column of the thread's
  // k-th chunk of a slab, if its first chunk begins at column `at`.
  KILN_DEVICE u32 slab() const { return kKept * kCount * team.threads; }
  KILN_DEVICE u32 column(u32 at, u32 k) const { return at + k * kCount * team.threads; }

  template <u32 kPieces>
  KILN_DEVICE void read(Piece (&x)[kKept], u64 start, u32 at) const {
#pragma unroll
    for (u32 k = 0; k < kPieces; ++k) {
      if (column(at, k) < columns) x[k].load(src + (start + column(at, k)));
    }
  }

  // Processes the row that begins at element `start`.
  KILN_DEVICE void run(u64 start) const {
    const u32 first = team.rank < team.threads ? team.rank * kCount : columns;
    const bool kept = columns <= slab();
    Piece x[kKept];
    const auto walk = [&](Sums<kCenter>& sums, f32 mean, bool is_first) {
#pragma unroll 1
      for (u32 at = first; at < columns; at += slab()) {
        if (!kept || is_first) read<kKept>(x, start, at);
#pragma unroll
        for (u32 k = 0; k < kKept; ++k) {
          if (column(at, k) < columns) {
#pragma unroll
            for (u32 j = 0; j < kCount; ++j) sums.add(as_f32(x[k].get(j)) - mean);
          }
        }
      }
    };
    const Moments<kCenter> moments = moments_of_row<kCenter>(team, columns, eps, walk);
#pragma unroll 1
    for (u32 at = first; at < columns; at = column(at, kWritten)) {
      if (!kept) read<kWritten>(x, start, at);
#pragma unroll
      for (u32 k = 0; k < kWritten; ++k) {
        const u32 c = column(at, k);
        if (c < columns) {
          Piece weights, biases;
          weights.fill(narrow<T>(1.0f));
          biases.clear();
          if (alpha != nullptr) weights.load(alpha + c);
          if (kCentered && beta != nullptr) biases.load(beta + c);
          Piece results;
          results.set([&](u32 j) {
            return moments.result(as_f32(x[k].get(j)), weights.get(j), biases.get(j));
          });
          results.store(dst + (start + c));
        }
      }
      // The next kept chunk takes the place of the one just written.
      if (kWritten == 1) x[0] = x[1];
    }
  }
};

// Walks rows by single elements. Loads the weights of several elements before it stores the first
// result: the compiler must assume that they overlap.
//
// Measured on an H200, reference geometry (32 threads a row), in us, loads before each store ->
// loads before all stores (the original): layernorm_f64 17x1023 17.9 -> 12.4 (19.6).
template <Center kCenter, class T>
struct SingleNorm {
  static constexpr bool kCentered = kCenter == Center::kMean;
  static constexpr u32 kKept = sizeof(T) == 8 ? 3 : 4;  // elements a thread keeps

  const T* src;
  T* dst;
  const T* alpha;
  const T* beta;
  u32 columns;
  f32 eps;
  Team team;

  KILN_DEVICE u32 slab() const { return kKept * team.threads; }
  KILN_DEVICE u32 column(u32 at, u32 k) const { return at + k * team.threads; }
  // Replaces columns behind the row's end by the thread's own, so that loads need no branch. No
  // other thread writes that one.
  KILN_DEVICE u32 column_there(u32 at, u32 k) const {
    return column(at, k) < columns ? column(at, k) : at;
  }

  KILN_DEVICE void read(f32 (&x)[kKept], const T* row, u32 at) const {
    T values[kKept];
#pragma unroll
    for (u32 k = 0; k < kKept; ++k) values[k] = row[column_there(at, k)];
#pragma unroll
    for (u32 k = 0; k < kKept; ++k) x[k] = as_f32(values[k]);
  }

  // Processes the row that begins at element `start`.
  KILN_DEVICE void run(u64 start) const {
    const u32 first = team.rank < team.threads ? team.rank : columns;
    const bool kept = columns <= slab();
    const T* const row = src + start;
    f32 x[kKept];
    const auto walk = [&](Sums<kCenter>& sums, f32 mean, bool is_first) {
#pragma unroll 1
      for (u32 at = first; at < columns; at += slab()) {
        if (!kept || is_first) read(x, row, at);
#pragma unroll
        for (u32 k = 0; k < kKept; ++k) {
          if (column(at, k) < columns) sums.add(x[k] - mean);
        }
      }
    };
    const Moments<kCenter> moments = moments_of_row<kCenter>(team, columns, eps, walk);
#pragma unroll 1
    for (u32 at = first; at < columns; at += slab()) {
      if (!kept) read(x, row, at);
      T weights[kKept], biases[kKept];
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        const u32 c = column_there(at, k);
        weights[k] = opaque(alpha != nullptr) != 0 ? alpha[c] : narrow<T>(1.0f);
        biases[k] = kCentered && opaque(beta != nullptr) != 0 ? beta[c] : narrow<T>(0.0f);
      }
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        const u32 c = column(at, k);
        if (c < columns) dst[start + c] = narrow<T>(moments.result(x[k], weights[k], biases[k]));
      }
    }
  }
};

// Walks a row of any alignment by aligned chunks of four elements, and by single elements before
// the first chunk and after the last one.
template <Center kCenter, class T>
struct LooseNorm {
  static constexpr bool kCentered = kCenter == Center::kMean;
  static constexpr bool kServes = tuning::norms_loosely(sizeof(T), kCentered);
  static constexpr u32 kCount = 4;                 // elements of a chunk
  static constexpr u32 kKept = kCentered ? 1 : 2;  // chunks that a thread keeps
  using Piece = Chunk<T, kCount>;

  const T* from;
  T* to;
  const T* alpha;
  const T* beta;
  u32 columns;
  f32 eps;
  RowChunks<T, kCount, kKept> its;

  KILN_DEVICE void read(Piece (&x)[kKept], u32 first) const {
#pragma unroll
    for (u32 k = 0; k < kKept; ++k) {
      const u32 at = its.chunk_at(first, k);
      if (at < its.chunks) x[k].load(from + its.column_of_chunk(at));
    }
  }
  // Weights or biases of a chunk, at any alignment. All loads are issued before the first value is
  // used. Two-byte values are loaded in pairs if the pairs are aligned.
  //
  // Measured on an H200, in us, half a chunk after the other -> this: reference geometry,
  // layernorm_f16 17x1023 10.2 -> 7.9; own geometry, rmsnorm_f32 131072x333 95.6 -> 91.5,
  // rmsnorm_f16 131072x333 60.3 -> 61.8.
  struct Table {
    u32 word[kCount];
    bool by_pairs;

    KILN_DEVICE Table(const T* values, u32 c, f32 otherwise) {
      const u64 where = address_of(values) + u64{c} * sizeof(T);  // not used if null
      const T* const from = reinterpret_cast<const T*>(where);
      by_pairs = sizeof(T) == 2 && values != nullptr && where % 4 == 0;
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) word[j] = bits_of(narrow<T>(otherwise));
      if (sizeof(T) == 2 && opaque(by_pairs) != 0) {
#pragma unroll
        for (u32 j = 0; j < kCount; j += 2) {
          Chunk<T, 2> pair;
          pair.load(from + j);
          word[j] = pair.word[0];
        }
      } else if (opaque(values != nullptr) != 0) {
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) word[j] = bits_of(from[j]);
      }
    }
    KILN_DEVICE T get(u32 j) const {
      const u32 bits = j % 2 == 1 && by_pairs ? word[j - 1] >> 16 : word[j];
      return bit_cast<T>(static_cast<BitsOf<T>>(bits));
    }
  };

  KILN_DEVICE void run() const {
    const u32 threads = its.team.threads;
    const bool joins = kBarriersPassOver || its.team.rank < threads;
    const bool kept = !its.has_slab(threads);
    Piece x[kKept];
    T one;
    const auto walk = [&](Sums<kCenter>& sums, f32 mean, bool is_first) {
#pragma unroll 1
      for (u32 first = 0; joins && its.has_slab(first); first += threads) {
        const u32 i = first + its.team.rank;
        if (!kept || is_first) {
          read(x, first);
          if (i < its.single) one = from[its.column_of_single(i)];
        }
#pragma unroll
        for (u32 k = 0; k < kKept; ++k) {
          if (its.chunk_at(first, k) < its.chunks) {
#pragma unroll
            for (u32 j = 0; j < kCount; ++j) sums.add(as_f32(x[k].get(j)) - mean);
          }
        }
        if (i < its.single) sums.add(as_f32(one) - mean);
      }
    };
    const Moments<kCenter> moments = moments_of_row<kCenter>(its.team, columns, eps, walk);
#pragma unroll 1
    for (u32 first = 0; joins && first * kKept < its.chunks; first += threads) {
      if (!kept) read(x, first);
#pragma unroll
      for (u32 k = 0; k < kKept; ++k) {
        const u32 at = its.chunk_at(first, k);
        if (at < its.chunks) {
          const u32 c = its.column_of_chunk(at);
          const Table weights(alpha, c, 1), biases(kCentered ? beta : nullptr, c, 0);
          Piece results;
          results.set([&](u32 j) {
            return moments.result(as_f32(x[k].get(j)), weights.get(j), biases.get(j));
          });
          results.store(to + c);
        }
      }
    }
#pragma unroll 1
    for (u32 i = its.team.rank; joins && i < its.single; i += threads) {
      const u32 c = its.column_of_single(i);
      const T weight = opaque(alpha != nullptr) != 0 ? alpha[c] : narrow<T>(1.0f);
      const T bias = kCentered && opaque(beta != nullptr) != 0 ? beta[c] : narrow<T>(0.0f);
      to[c] = narrow<T>(moments.result(as_f32(from[c]), weight, bias));
    }
  }
};

// `Row` is Norm or SingleNorm, which load `kCount` elements at once.
template <class Row, u32 kCount, Center kCenter, class T>
KILN_DEVICE void norm_by(const T* src, T* dst, const T* alpha, const T* beta, u32 columns,
                         f32 eps) {
  const Team team = row_team((columns + kCount - 1) / kCount);
  // An early return would make layernorm of f64 spill registers on sm_80.
  constexpr bool kReturns = kBarriersPassOver && !(kCenter == Center::kMean && sizeof(T) == 8);
  if (kReturns && team.rank >= team.threads) return;
  const u64 row = static_cast<u64>(block_index()) * block_y() + thread_y();
  Row{src, dst, alpha, beta, columns, eps, team}.run(row * columns);
}

template <Center kCenter, class T>
KILN_DEVICE void loose_norm(const T* src, T* dst, const T* alpha, const T* beta, u32 columns,
                            f32 eps) {
  using Row = LooseNorm<kCenter, T>;
  const u64 row = static_cast<u64>(block_index()) * block_y() + thread_y();
  const T* const from = src + row * columns;
  const bool same_alignment = (address_of(src) ^ address_of(dst)) % Row::Piece::kBytes == 0;
  RowChunks<T, Row::kCount, Row::kKept> its({}, from, columns, same_alignment);
  its.team = row_team(its.single > its.chunks ? its.single : its.chunks);
  if (kBarriersPassOver && its.team.rank >= its.team.threads) return;
  Row{from, dst + row * columns, alpha, beta, columns, eps, its}.run();
}

template <Center kCenter, class T>
KILN_DEVICE void norm(const T* src, T* dst, const T* alpha, const T* beta, i32 n_cols, f32 eps) {
  u32 columns = static_cast<u32>(n_cols);
  if (n_cols < 0) {
    const RowExtent extent(n_cols);
    columns = extent.columns;
    // These threads have no row. They may return: in blocks of several rows a team is part of a
    // wave and waits for no other team.
    if (block_index() + 1 == block_count() && thread_y() + extent.missing >= block_y()) return;
  }
  const u32 both = opaque(block_size()) | wave_width(), lanes = both & (0 - both);
  if (columns <= tuning::kNormElements * lanes) {
    const u64 start = (static_cast<u64>(block_index()) * block_y() + thread_y()) * columns;
    const u32 rank = thread_index() < lanes ? thread_index() : columns;
    return short_norm<kCenter>(src + start, dst + start, alpha, beta, columns,
                               lanes_for(columns, lanes), rank, eps);
  }
  const u64 bits = address_of(src) | address_of(dst) | address_of(alpha) | address_of(beta) |
                   columns * sizeof(T);
  if (bits % 16 == 0) {
    norm_by<Norm<kCenter, T>, 16 / sizeof(T), kCenter>(src, dst, alpha, beta, columns, eps);
  } else if constexpr (LooseNorm<kCenter, T>::kServes) {
    loose_norm<kCenter>(src, dst, alpha, beta, columns, eps);
  } else {
    norm_by<SingleNorm<kCenter, T>, 1, kCenter>(src, dst, alpha, beta, columns, eps);
  }
}

}  // namespace kiln::families
