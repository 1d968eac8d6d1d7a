// Locates the elements of strided views.
//
// Views of one shape come as the ABI's `info` array: the sizes of the dims, then the strides of
// each view, in elements. Outer dims come first. A stride of 0 broadcasts.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "tuning/views.hpp"

namespace kiln::device {

// a / b for a below 2^21. Adding 1/2 to a keeps the quotient at least 1/(2b) away from the next
// integer. That exceeds the error of f32: at most 2^-23 of the quotient by the reciprocal, and half
// of that by the product.
inline constexpr u32 kSmallIndex = 1u << 21;
KILN_DEVICE u32 small_quotient(u32 a, u32 b) {
  const f32 inverse = reciprocal_approximate(static_cast<f32>(b));
  return static_cast<u32>((static_cast<f32>(a) + 0.5f) * inverse);
}

// a / b for a below 2^31. The first quotient is exact for a below 2^21, as in small_quotient().
// Beyond, it has a relative error of at most 2^-22, and the second is at most one too small, which
// the last step corrects.
KILN_DEVICE u32 quotient_of_31_bits(u32 a, u32 b) {
  const f32 inverse = reciprocal_approximate(static_cast<f32>(b));
  u32 result = static_cast<u32>((static_cast<f32>(a) + 0.5f) * inverse);
  if (a >= kSmallIndex) {
    const f32 rest = static_cast<f32>(static_cast<i32>(a - result * b));
    result += static_cast<u32>(math::floor_to_i32(math::fma(rest, inverse, -0x1p-10f)));
    if (a - result * b >= b) ++result;
  }
  return result;
}

// The upper half of a * b.
KILN_DEVICE u32 high_product(u32 a, u32 b) {
  return static_cast<u32>(static_cast<u64>(a) * b >> 32);
}

// a / b for a below 2^63. It is a 32-bit division if both have 32 bits.
KILN_DEVICE u64 quotient(u64 a, u64 b) {
  if ((a | b) >> 32 == 0) return static_cast<u32>(a) / static_cast<u32>(b);
  const f32 inverse = reciprocal_approximate(static_cast<f32>(b));
  u64 result = 0;
  i64 rest = static_cast<i64>(a);
  // Each step reduces the rest to a millionth. After three, the result is at most one too large or
  // small.
#pragma unroll 1
  for (u32 step = 0; step < 3; ++step) {
    const i64 part = static_cast<i64>(math::floor(static_cast<f32>(rest) * inverse));
    result += static_cast<u64>(part);
    rest -= part * static_cast<i64>(b);
  }
  return rest < 0 ? result - 1 : rest >= static_cast<i64>(b) ? result + 1 : result;
}

// N views of one shape, as passed to the kernel. The dims of a view that is not contiguous have
// fewer than 2^32 elements.
template <u32 N>
struct Views {
  const u64* info;
  u32 rank;

  KILN_DEVICE u32 size(u32 dim) const { return static_cast<u32>(info[dim]); }
  KILN_DEVICE u64 stride(u32 view, u32 dim) const { return info[(1 + view) * rank + dim]; }
};

// The position of an element in each of N views.
template <u32 N>
struct Place {
  u64 at[N];
};

template <u32 N, u32 kPlaces>
struct ViewTable;
template <u32 N, u32 kPlaces>
KILN_NOINLINE Place<kPlaces> find_outlined(ViewTable<N, kPlaces> table, u32 i) {
  return table.find_inlined(i);
}

// The launch helper's table of N views (tuning/views.hpp), if there is one. It locates units in
// these, and if they are groups, also in the output.
template <u32 N, u32 kPlaces = N>
struct ViewTable {
  const u64* info;
  u32 rank;
  u32 known;  // the upper half of num_dims

  static constexpr u32 kWords = tuning::ViewTable::words_of_entry(kPlaces);
  using Entry = Chunk<u32, kWords>;

  KILN_DEVICE ViewTable(const u64* block, u64 num_dims)
      : info(block), rank(static_cast<u32>(num_dims)), known(static_cast<u32>(num_dims >> 32)) {}

  // Hidden, or the compiler would prepare for a table in threads without one. Measured on an H200,
  // reference geometry, plain -> hidden: binary operations on views 1 to 4% longer.
  KILN_DEVICE bool exists() const { return opaque(known) != 0; }
  KILN_DEVICE bool has_chunks() const { return (known & tuning::ViewTable::kChunks) != 0; }
  // One bit for each view whose rows repeat one element, or in which groups are dense.
  KILN_DEVICE u32 bits() const { return known >> tuning::ViewTable::kLogBits; }

  KILN_DEVICE bool has_groups() const { return (known & tuning::ViewTable::kGroups) != 0; }

  KILN_DEVICE const u32* start() const {
    const u32 block = (1 + N) * rank;
    return reinterpret_cast<const u32*>(info + block + block % 2);
  }
  KILN_DEVICE static Entry load(const u32* from) {
    Entry entry;
    entry.load(from);
    return entry;
  }
  // Describes groups: their number, and the distance between neighbours in the output and in each
  // view.
  KILN_DEVICE Entry groups() const { return load(start()); }

  // Locates unit `i`. Not inlined for sm_80, which is also shipped as PTX: inlining would put a copy
  // into every kernel.
  KILN_DEVICE Place<kPlaces> find(u32 i) const {
    if constexpr (kArchitecture == tuning::Architecture::kSm80 && kPlaces == N) {
      return find_outlined(*this, i);
    }
    return find_inlined(i);
  }
  KILN_DEVICE Place<kPlaces> find_inlined(u32 i) const {
    const u32* next = start() + (kPlaces == N ? 0 : kWords);
    Entry entry = load(next);
    u32 at[kPlaces];
#pragma unroll
    for (u32 n = 0; n < kPlaces; ++n) at[n] = i * entry.word[2 + n];
    u32 steps = known >> tuning::ViewTable::kLogSteps & tuning::ViewTable::kMaxSteps;
#pragma unroll 1
    for (; steps != 0; --steps) {
      next += kWords;
      entry = load(next);
      i = high_product(i, entry.word[0]) >> entry.word[1];
#pragma unroll
      for (u32 n = 0; n < kPlaces; ++n) at[n] += i * entry.word[2 + n];
    }
    Place<kPlaces> place;
#pragma unroll
    for (u32 n = 0; n < kPlaces; ++n) place.at[n] = at[n];
    return place;
  }
};

// Locates element `i` of contiguous views.
template <u32 N>
KILN_DEVICE Place<N> place_in_order(u64 i) {
  Place<N> place;
#pragma unroll
  for (u32 n = 0; n < N; ++n) place.at[n] = i;
  return place;
}

// Locates element `i` of fewer than 2^31, by quotients in f32. Those of indices below 2^21 need no
// correction: small launches, the most frequent ones, take as long as their instructions.
// Measured on an H200, reference geometry, in us, 32-bit divisions -> quotients in f32: uexp_f32 of
// 3x197x12x64 permuted 6.4 -> 5.2; of 16x16 transposed 1.42 -> 1.29.
template <u32 N>
KILN_DEVICE Place<N> find_element(const Views<N>& views, u32 i) {
  Place<N> place{};
#pragma unroll 1
  for (u32 dim = views.rank; dim != 0;) {
    dim = opaque(dim - 1);
    u64 stride[N];
#pragma unroll
    for (u32 n = 0; n < N; ++n) stride[n] = views.stride(n, dim);
    u32 digit = i;
    if (dim != 0) {
      const u32 size = views.size(dim);
      i = quotient_of_31_bits(i, size);
      digit -= i * size;
    }
#pragma unroll
    for (u32 n = 0; n < N; ++n) place.at[n] += digit * stride[n];
  }
  return place;
}

// Locates chunk `i` of fewer than 2^31, in views whose rows consist of chunks of 2^log_chunk
// elements. Strides are read where they are used, which takes fewer registers.
template <u32 N>
KILN_DEVICE Place<N> find_chunk(const Views<N>& views, u32 i, u32 log_chunk) {
  Place<N> place{};
#pragma unroll 1
  for (u32 dim = views.rank; dim != 0;) {
    dim = opaque(dim - 1);
    u32 digit = i;
    if (dim != 0) {
      const u32 size = views.size(dim) >> log_chunk;
      i = quotient_of_31_bits(i, size);
      digit -= i * size;
    }
    digit <<= log_chunk;
    log_chunk = 0;
#pragma unroll
    for (u32 n = 0; n < N; ++n) place.at[n] += digit * views.stride(n, dim);
  }
  return place;
}

// Locates any element, also in dims of 2^32 or more elements. Most indices are small, or become so
// by the first division. Strides are read where they are used. Reading them before the division
// would take registers that kernels of three views lack.
template <u32 N>
KILN_DEVICE Place<N> find_element(const Views<N>& views, u64 i) {
  Place<N> place{};
#pragma unroll 1
  for (u32 dim = views.rank; dim != 0;) {
    dim = opaque(dim - 1);
    u64 digit = i;
    if (dim != 0) {
      const u64 size = views.info[dim];
      const bool is_small = (i | size >> 11) >> 21 == 0;  // i below kSmallIndex, size below 2^32
      i = is_small ? small_quotient(static_cast<u32>(i), static_cast<u32>(size))
                   : quotient(i, size);
      digit -= i * size;
    }
#pragma unroll
    for (u32 n = 0; n < N; ++n) place.at[n] += digit * views.stride(n, dim);
  }
  return place;
}

// Describes how views are walked: in groups of elements, one group for each thread. A group has
// several elements along one dim, which is called the cut. They are neighbours, or the same element
// of several lines. A line is kLine neighbours in the innermost dim, one for each of as many
// threads. A group's number has two parts: the lower part counts within the inner dims, which
// together have fewer than 2^31 groups; the upper part counts within the outer dims.
//
// A thread keeps its Walk in registers beside the elements that it moves, so a Walk is small:
// `dims` packs the first inner dim and the cut, each below 2^13, and flags.
using tuning::kLine;
using tuning::kLogLine;
struct Walk {
  u32 inner;  // number of groups within the inner dims
  u32 outer;
  u32 dims;
  bool contiguous;  // every view is row-major without gaps

  static constexpr u32 kLogWhole = 26;
  static constexpr u32 kLines = 1u << 30;
  static constexpr u32 kRows = 1u << 31;

  // The first inner dim.
  KILN_DEVICE u32 split() const { return dims & 0x1fff; }
  // The dim that is cut, or the rank if there is none.
  KILN_DEVICE u32 cut() const { return dims >> 13 & 0x1fff; }
  // If groups are whole chunks: one bit for each view whose chunks are contiguous. A chunk of the
  // other views repeats one element.
  KILN_DEVICE u32 whole() const { return dims >> kLogWhole & 7; }
  // True if a group is the same element of several lines.
  KILN_DEVICE bool lines() const { return (dims & kLines) != 0; }
  // True if groups are whole chunks, equally aligned in all views that do not repeat an element.
  KILN_DEVICE bool rows() const { return (dims & kRows) != 0; }
  // Logarithm of the distance between a group's elements in their dim, which is 1 or kLine.
  KILN_DEVICE u32 log_step() const { return lines() ? kLogLine : 0; }
};

// The position of a group: its first element in each view and in the output, the distance between
// its elements in the output, and their number.
template <u32 N>
struct Group {
  u64 at[N];
  u64 out;
  u64 out_step;
  u32 count;
};

// Walks views. If they allow it, a group is 2^kChunk elements that one access moves. Otherwise
// elements are moved singly, and a group is 2^kSeveral neighbours or the same element of several
// lines. With kRepeats, a chunk of a view may repeat one element.
template <u32 kChunk, u32 kSeveral, bool kRepeats>
struct Walker {
  KILN_DEVICE static u32 log_count(const Walk& walk) {
    if (walk.rows()) return kChunk;
    return walk.lines() ? tuning::kLogLines : kSeveral;
  }
  // Number of groups along the cut, a dim of `size` elements.
  KILN_DEVICE static u32 groups(const Walk& walk, u32 size) {
    return (((size - 1) >> (log_count(walk) + walk.log_step())) + 1) << walk.log_step();
  }

  // `aligned`: the arrays begin where a chunk may.
  template <u32 N>
  KILN_DEVICE static Walk plan(const Views<N>& views, bool aligned) {
    Walk walk{1, 1, 0, true};
    u32 cut = views.rank, split = 0;
    const auto count = [&](u32 dim, u32 size) {
      const u32 several = dim == cut ? groups(walk, size) : size;
      const u64 product = static_cast<u64>(walk.inner) * several;
      if (split == 0 && product >> 31 == 0) {
        walk.inner = static_cast<u32>(product);
      } else {
        if (split == 0) split = dim + 1;
        walk.outer *= several;
      }
    };
    // The views with stride 1 in the innermost dim, with stride 0 in it, and with stride 1 in a
    // further dim, one bit each; and the bits of all other strides of a view.
    u32 inner = 0, repeats = 0, further = 0, bits[N] = {};
    u64 expected = 1;
#pragma unroll 1
    for (u32 dim = views.rank; dim != 0;) {
      dim = opaque(dim - 1);
      const u32 size = views.size(dim);
      u32 here = 0;
      bool lines = size >= tuning::kLeastForLines;
#pragma unroll
      for (u32 n = 0; n < N; ++n) {
        const u64 stride = views.stride(n, dim);
        walk.contiguous = walk.contiguous && (stride == expected || size == 1);
        lines = lines && stride <= 1;
        if (stride == 1) {
          here |= 1u << n;
        } else {
          bits[n] |= static_cast<u32>(stride);
          if (kRepeats && dim + 1 == views.rank && stride == 0) repeats |= 1u << n;
        }
      }
      if (dim + 1 == views.rank) {
        inner = here;
        if (lines) walk.dims = Walk::kLines;
      } else {
        if (here != 0 && cut == views.rank) cut = dim;
        further |= here;
      }
      expected *= size;
    }
    // Whole chunks depend on all dims.
    u32 all = 0;
#pragma unroll
    for (u32 n = 0; n < N; ++n) {
      if ((inner >> n & 1) != 0) all |= bits[n];
    }
    if (aligned && (inner | repeats) == (1u << N) - 1 && (further & inner) == 0 &&
        (all | views.size(views.rank - 1)) % (1u << kChunk) == 0) {
      walk.dims = Walk::kRows | inner << Walk::kLogWhole;
    }
    if (walk.lines() || walk.rows()) cut = views.rank - 1;
#pragma unroll 1
    for (u32 dim = views.rank; dim != 0;) {
      dim = opaque(dim - 1);
      count(dim, views.size(dim));
    }
    walk.dims |= split | cut << 13;
    return walk;
  }

  template <u32 N>
  KILN_DEVICE static Group<N> find(const Views<N>& views, const Walk& walk, u32 upper, u32 lower) {
    Group<N> found{};
    found.count = 1;
    u32 rest = lower;
    u64 out_stride = 1;
#pragma unroll 1
    for (u32 dim = views.rank; dim != 0;) {
      dim = opaque(dim - 1);
      const u32 size = views.size(dim);
      if (dim + 1 == walk.split()) rest = upper;
      u32 digit = rest;
      const bool is_cut = dim == walk.cut();
      if (dim != 0) {
        const u32 several = is_cut ? groups(walk, size) : size;
        rest /= several;
        digit -= rest * several;
      }
      if (is_cut) {
        const u32 log_step = walk.log_step();
        const u32 line = digit >> log_step << log_step;
        digit += (line << log_count(walk)) - line;
        const u32 most = 1u << log_count(walk);
        const u32 left = (size + (1u << log_step) - 1 - digit) >> log_step;
        found.count = digit >= size ? 0 : left < most ? left : most;
        found.out_step = out_stride << log_step;
      }
      found.out += digit * out_stride;
      out_stride *= size;
#pragma unroll
      for (u32 n = 0; n < N; ++n) found.at[n] += digit * views.stride(n, dim);
    }
    return found;
  }

  // Distance between a group's elements in view `n`. There must be a cut.
  template <u32 N>
  KILN_DEVICE static u64 step(const Views<N>& views, const Walk& walk, u32 n) {
    return views.stride(n, walk.cut()) << walk.log_step();
  }
};

}  // namespace kiln::device
