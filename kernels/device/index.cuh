// Where the elements of strided views lie.
//
// Views that share one shape come as the ABI's `info` array: first the sizes of the dims, then for
// each view as many strides, all in elements, outermost first. A stride of 0 broadcasts.
#pragma once

#include "device/platform.cuh"
#include "tuning/views.hpp"

namespace kiln::device {

// a / b for a below 2^21. The half keeps a quotient 1/2b from the next integer, which is further than
// f32 errs: a reciprocal by 2^-23 of it at most, a product by half of that.
inline constexpr u32 kSmallIndex = 1u << 21;
KILN_DEVICE u32 small_quotient(u32 a, u32 b) {
  const f32 inverse = reciprocal_approximate(static_cast<f32>(b));
  return static_cast<u32>((static_cast<f32>(a) + 0.5f) * inverse);
}

// a / b for a below 2^63, in 32 bits where they suffice.
KILN_DEVICE u64 quotient(u64 a, u64 b) {
  if ((a | b) >> 32 == 0) return static_cast<u32>(a) / static_cast<u32>(b);
  const f32 inverse = reciprocal_approximate(static_cast<f32>(b));
  u64 result = 0;
  i64 rest = static_cast<i64>(a);
  // Each step leaves a millionth of the rest; three, one too many or too few.
#pragma unroll 1
  for (u32 step = 0; step < 3; ++step) {
    const i64 part = static_cast<i64>(math::floor(static_cast<f32>(rest) * inverse));
    result += static_cast<u64>(part);
    rest -= part * static_cast<i64>(b);
  }
  return rest < 0 ? result - 1 : rest >= static_cast<i64>(b) ? result + 1 : result;
}

// N views of one shape, as the kernel is told of them. No dim of a view that is not contiguous has
// 2^32 elements.
template <u32 N>
struct Views {
  const u64* info;
  u32 rank;

  KILN_DEVICE u32 size(u32 dim) const { return static_cast<u32>(info[dim]); }
  KILN_DEVICE u64 stride(u32 view, u32 dim) const { return info[(1 + view) * rank + dim]; }
};

// Where an element of each of N views lies.
template <u32 N>
struct Place {
  u64 at[N];
};

// Of element `i` of contiguous views.
template <u32 N>
KILN_DEVICE Place<N> place_in_order(u64 i) {
  Place<N> place;
#pragma unroll
  for (u32 n = 0; n < N; ++n) place.at[n] = i;
  return place;
}

// Of element `i`. Of launches of less than 2^21 elements, which are most, by quotients in f32: the
// instructions are what such a launch takes. NVIDIA H200, us for uexp_f32 of 3x197x12x64 permuted, in the
// reference's geometry: 6.4 by 32-bit divisions, 5.2 so; of 16x16 transposed 1.42, 1.29.
template <u32 N>
KILN_DEVICE Place<N> find_element(const Views<N>& views, u32 i) {
  Place<N> place{};
#pragma unroll 1
  for (u32 dim = views.rank; dim != 0;) {
    dim = unknown(dim - 1);
    u64 stride[N];
#pragma unroll
    for (u32 n = 0; n < N; ++n) stride[n] = views.stride(n, dim);
    u32 digit = i;
    if (dim != 0) {
      const u32 size = views.size(dim);
      i = small_quotient(i, size);
      digit -= i * size;
    }
#pragma unroll
    for (u32 n = 0; n < N; ++n) place.at[n] += digit * stride[n];
  }
  return place;
}

// Of any element, of dims of 2^32 elements, too. Most indices are small, or become so by the first division.
// Strides are read where they are used: all before the division would take registers that three views lack.
template <u32 N>
KILN_DEVICE Place<N> find_element(const Views<N>& views, u64 i) {
  Place<N> place{};
#pragma unroll 1
  for (u32 dim = views.rank; dim != 0;) {
    dim = unknown(dim - 1);
    u64 digit = i;
    if (dim != 0) {
      const u64 size = views.info[dim];
      const bool is_small = (i | size >> 11) >> 21 == 0;  // kSmallIndex, and a size of 32 bits
      i = is_small ? small_quotient(static_cast<u32>(i), static_cast<u32>(size))
                   : quotient(i, size);
      digit -= i * size;
    }
#pragma unroll
    for (u32 n = 0; n < N; ++n) place.at[n] += digit * views.stride(n, dim);
  }
  return place;
}

// How views are walked: by groups of elements, one to a thread. Of one dim, the cut, a group has
// several elements: neighbours, or the same element of several lines. A line is kLine neighbours in
// the innermost dim, one for each of as many threads. A group's number has two parts: the lower
// counts within the inner dims, which together have less than 2^31 groups; the upper within the
// others.
//
// A thread keeps its walk in registers beside what it moves, so it is few words: `dims` holds the
// first inner dim and the cut, below 2^13 each, and answers.
using tuning::kLine;
using tuning::kLogLine;
struct Walk {
  u32 inner;  // groups
  u32 outer;
  u32 dims;
  bool contiguous;  // every view is row-major without gaps

  static constexpr u32 kLogWide = 26;
  static constexpr u32 kLines = 1u << 30;
  static constexpr u32 kRows = 1u << 31;

  // The first inner dim.
  KILN_DEVICE u32 split() const { return dims & 0x1fff; }
  // The dim that is cut; none where it equals the rank.
  KILN_DEVICE u32 cut() const { return dims >> 13 & 0x1fff; }
  // The views in which long groups lie side by side and begin where an access may: a bit each.
  // None: groups are short.
  KILN_DEVICE u32 wide() const { return dims >> kLogWide & 7; }
  // Whether a group's elements are those of several lines.
  KILN_DEVICE bool lines() const { return (dims & kLines) != 0; }
  // Whether groups are whole chunks, aligned alike in all views.
  KILN_DEVICE bool rows() const { return (dims & kRows) != 0; }
  // Of what lies between a group's elements in their dim: 1, or kLine.
  KILN_DEVICE u32 log_apart() const { return lines() ? kLogLine : 0; }
};

// Where a group of elements lies: its first, how many there are, and how far apart in the output.
template <u32 N>
struct Group {
  u64 at[N];
  u64 out;
  u64 out_apart;
  u32 count;
};

// A group has 2^kChunk elements, moved by one access, where the views allow it. Otherwise they are moved
// by single ones: 2^kSeveral neighbours, or those of several lines. Of large turned views, 2^kWide
// neighbours, unless that is 0; 2^kUnit of them fill an access.
template <u32 kChunk, u32 kSeveral, u32 kWide, u32 kUnit>
struct Walker {
  KILN_DEVICE static u32 log_count(const Walk& walk) {
    if (walk.rows()) return kChunk;
    if (walk.lines()) return tuning::kLogLines;
    return kWide != 0 && walk.wide() != 0 ? kWide : kSeveral;
  }
  // Groups along the cut, a dim of `size` elements.
  KILN_DEVICE static u32 groups(const Walk& walk, u32 size) {
    return (((size - 1) >> (log_count(walk) + walk.log_apart())) + 1) << walk.log_apart();
  }

  // `aligned`: the arrays begin where a chunk may. `wide`: there are enough elements for long
  // groups.
  template <u32 N>
  KILN_DEVICE static Walk plan(const Views<N>& views, bool aligned, bool wide) {
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
    // The views whose neighbours lie in the innermost dim, in the cut, or in another dim as well;
    // and the bits of all other strides.
    u32 inner = 0, beside = 0, again = 0, bits[N] = {};
    u64 expected = 1;
#pragma unroll 1
    for (u32 dim = views.rank; dim != 0;) {
      dim = unknown(dim - 1);
      const u32 size = views.size(dim);
      u32 here = 0;
      bool lines = size > kLine;
#pragma unroll
      for (u32 n = 0; n < N; ++n) {
        const u64 stride = views.stride(n, dim);
        walk.contiguous = walk.contiguous && (stride == expected || size == 1);
        lines = lines && stride <= 1;
        if (stride == 1) {
          here |= 1u << n;
        } else {
          bits[n] |= static_cast<u32>(stride);
        }
      }
      if (dim + 1 == views.rank) {
        inner = here;
        if (lines) walk.dims = Walk::kLines;
      } else if (cut != views.rank) {
        again |= here;
      } else if (here != 0) {
        cut = dim;
        beside = here;
      }
      expected *= size;
    }
    // Groups of whole chunks or long ones are told by all dims.
    u32 all = 0, whole = beside & ~(inner | again);
#pragma unroll
    for (u32 n = 0; n < N; ++n) {
      all |= bits[n];
      if (bits[n] % (1u << kUnit) != 0) whole &= ~(1u << n);
    }
    if (aligned && cut == views.rank && inner == (1u << N) - 1 &&
        (all | views.size(views.rank - 1)) % (1u << kChunk) == 0) {
      walk.dims = Walk::kRows;
    } else if (kWide != 0 && wide && !walk.lines()) {
      walk.dims = whole << Walk::kLogWide;
    }
    if (walk.lines() || walk.rows()) cut = views.rank - 1;
#pragma unroll 1
    for (u32 dim = views.rank; dim != 0;) {
      dim = unknown(dim - 1);
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
      dim = unknown(dim - 1);
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
        const u32 log_apart = walk.log_apart();
        const u32 line = digit >> log_apart << log_apart;
        digit += (line << log_count(walk)) - line;
        const u32 most = 1u << log_count(walk);
        const u32 left = (size + (1u << log_apart) - 1 - digit) >> log_apart;
        found.count = digit >= size ? 0 : left < most ? left : most;
        found.out_apart = out_stride << log_apart;
      }
      found.out += digit * out_stride;
      out_stride *= size;
#pragma unroll
      for (u32 n = 0; n < N; ++n) found.at[n] += digit * views.stride(n, dim);
    }
    return found;
  }

  // How far apart a group's elements lie in view `n`. There is a cut.
  template <u32 N>
  KILN_DEVICE static u64 apart(const Views<N>& views, const Walk& walk, u32 n) {
    return views.stride(n, walk.cut()) << walk.log_apart();
  }
};

}  // namespace kiln::device
