// Walks a large view of one input. Each thread takes a column: several elements along one dim,
// which is called the cut.
//
// If the innermost dim has stride 1 and kLeastForLines elements, it is the cut. It is divided into
// lines of kLine neighbours, one thread for each, and a column is the same element of several
// lines. If another dim has stride 1, it is the cut, and a column is neighbours in that dim.
//
// Measured on an H200, own geometry, in us, affine_f32 of 4096x4096: from rows of 8192 elements,
// single elements -> columns, 112 -> 54; with rows that repeat one element, lines -> neighbours,
// 40 -> 24.
#pragma once

#include "device/index.cuh"

namespace kiln::device {

// Describes the columns of a view. A column's number has two parts: the lower part counts within
// the inner dims, the upper part within the outer dims.
struct Columns {
  u32 inner;  // number of columns of the inner dims; all ones if all dims are inner
  u32 dims;   // the first inner dim; the cut, shifted by kCut; kLines. Or kRows or kNone

  static constexpr u32 kLines = 1u << 31;
  static constexpr u32 kRows = 1u << 15;  // rows of whole chunks, and no columns
  static constexpr u32 kCut = 16;
  static constexpr u32 kSingle = 0x7fffu << kCut;  // no cut: a column is one element
  static constexpr u32 kNone = ~0u;                // the array is contiguous

  static constexpr u32 kLogNeighbours = 3;
  static_assert(1u << kLogNeighbours == tuning::kNeighbours);

  KILN_DEVICE static Columns none() { return {1u << 30, kNone}; }
  KILN_DEVICE static u32 split(u32 dims) { return dims & (kRows - 1); }
  KILN_DEVICE static u32 cut(u32 dims) { return dims >> kCut & 0x7fff; }
  // Logarithms of the distance between a column's elements in their dim, and of their number.
  KILN_DEVICE static u32 log_step(u32 dims) { return (dims & kLines) != 0 ? kLogLine : 0; }
  KILN_DEVICE static u32 log_count(u32 dims) {
    return (dims & kLines) != 0 ? tuning::kLogLines : kLogNeighbours;
  }
  // Number of columns along a cut of `size` elements.
  KILN_DEVICE static u32 along(u32 size, u32 dims) {
    const u32 log = log_step(dims);
    return (((size - 1) >> (log + log_count(dims))) + 1) << log;
  }
};

// Position of a column in the view (`at`) and in the output (`to`), and the distance between its
// elements in each.
struct Column {
  u64 at;
  u64 to;
  u32 step;
  u32 to_step;
  u32 count;
};

// Plans the columns of a view.
//
// A view of 2^31 or more elements has outer dims but no cut, and it is never reported as
// contiguous. Neighbours in a dim that is not innermost form a column only if they are at least
// `min_step` elements apart in the output. If log_chunk is not 0, the view is reported as kRows
// when its rows consist of chunks of 2^log_chunk elements, fewer than 2^31 in all: the rows' length
// and all strides but that of the innermost dim are multiples of that.
KILN_DEVICE Columns plan_columns(const Views<1>& view, u64 numel, u32 min_step, u32 log_chunk) {
  u32 dims = Columns::kSingle;
  const bool is_huge = numel >> 31 != 0;
  bool is_contiguous = !is_huge;
  u32 inner = 1, expected = 1, bits = 0;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = opaque(dim - 1);
    const u32 size = view.size(dim);
    const u64 stride = view.stride(0, dim);
    const bool is_innermost = inner == 1;
    u32 several = size;
    if (is_huge) {
      const u64 product = static_cast<u64>(inner) * several;
      if (product >> 31 != 0 && Columns::split(dims) == 0) dims |= dim + 1;
      if (Columns::split(dims) != 0) several = 1;
    } else if (dims == Columns::kSingle && stride == 1 &&
               size >= (is_innermost ? tuning::kLeastForLines : 2) &&
               (is_innermost || inner >= min_step)) {
      dims = dim << Columns::kCut | (is_innermost ? Columns::kLines : 0);
      several = Columns::along(size, dims);
    }
    is_contiguous = is_contiguous && (stride == expected || size == 1);
    // Neighbours of the innermost dim must be adjacent: any other stride makes `bits` odd.
    bits |= dim + 1 != view.rank ? static_cast<u32>(stride) : stride == 1 ? size : 1;
    expected *= size;
    inner *= several;
  }
  if (is_contiguous || inner == 0) return Columns::none();  // `inner` is 0 without elements
  if (log_chunk != 0 && bits % (1u << log_chunk) == 0 && (numel >> log_chunk) >> 31 == 0) {
    dims = Columns::kRows;
  }
  return {dims == Columns::kSingle ? ~0u : inner, dims};
}

// Finds a column. Without a cut, `to` is valid within the inner dims only.
KILN_DEVICE Column find_column(const Views<1>& view, u32 dims, u32 upper, u32 lower) {
  Column column{0, 0, 0, 0, 1};
  u32 rest = lower, inside = 1;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = opaque(dim - 1);
    const u32 size = view.size(dim);
    const u64 stride = view.stride(0, dim);
    const bool is_cut = dim == Columns::cut(dims);
    if (dim + 1 == Columns::split(dims)) rest = upper;
    u32 digit = rest;
    if (dim != 0) {
      const u32 several = is_cut ? Columns::along(size, dims) : size;
      rest = quotient_of_31_bits(rest, several);
      digit -= rest * several;
    }
    if (is_cut) {
      const u32 log = Columns::log_step(dims), most = 1u << Columns::log_count(dims);
      digit += (digit >> log << log) * (most - 1);
      const u32 left = (size + (1u << log) - 1 - digit) >> log;
      column.count = digit >= size ? 0 : left < most ? left : most;
      column.step = 1u << log;
      column.to_step = inside << log;
    }
    column.at += digit * stride;
    column.to += static_cast<u64>(digit) * inside;
    inside *= size;
  }
  return column;
}

}  // namespace kiln::device
