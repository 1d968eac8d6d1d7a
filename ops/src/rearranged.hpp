// Copies of views that are a whole transpose or slice: by the kernels of module rearrange, whose code
// knows what it copies, in place of ucopy's, which finds each element's place by division.
#pragma once

#include <optional>

#include "kiln/ops/fill.hpp"
#include "kiln/ops/unary.hpp"
#include "operands.hpp"

namespace kiln::ops {

// The tiles of a transpose of so many elements, which go one by one where tiles are mostly empty.
struct TransposeTiles {
  std::size_t count;
  bool are_mostly_empty;
};
TransposeTiles tiles_of(const Transpose& call, std::size_t elements);

// What slice_<T> takes: of each of `left`, `count` places of `right` elements from place `start` on, a
// `step` apart, out of `size` places; the same of each of so many arrays, `pitch` elements apart.
struct Places {
  std::size_t left = 1, size = 1, right = 1, step = 1, count = 1;
  std::size_t arrays = 1, pitch = 0;
  std::size_t start = 0;
};
Result<Launch> plan_places(DType dtype, const Places& places, const void* inp, void* out,
                           const Gpu& gpu);

// The launch for a copy of a view of merged dims; none where it is neither, or ucopy is as fast.
Result<std::optional<Launch>> plan_rearranged(const Unary& copy, const ViewBlock& view,
                                              std::size_t count, const Gpu& gpu);

}  // namespace kiln::ops
