// Copies of views that are a whole transpose or slice. The kernels of module rearrange know what
// they copy, while ucopy finds each element's place by division.
#pragma once

#include <optional>

#include "kiln/ops/fill.hpp"
#include "kiln/ops/unary.hpp"
#include "operands.hpp"

namespace kiln::ops {

// The tiles of a transpose of `elements` elements. If they are mostly empty, elements go one by
// one.
struct TransposeTiles {
  std::size_t count;
  bool are_mostly_empty;
};
TransposeTiles tiles_of(const Transpose& call, std::size_t elements);

// The places that slice_<T> takes. Each array has `left` groups of `size` places, with `right`
// elements per place. From each group, the kernel takes `count` places, beginning at place `start`,
// `step` places apart. There are `arrays` arrays, `pitch` elements apart.
struct Places {
  std::size_t left = 1, size = 1, right = 1, step = 1, count = 1;
  std::size_t arrays = 1, pitch = 0;
  std::size_t start = 0;
};
Result<Launch> plan_places(DType dtype, const Places& places, const void* inp, void* out,
                           const Gpu& gpu);

// Plans the copy of a view with merged dims. Returns nothing if the view is neither a transpose nor
// a slice, or if ucopy is as fast.
Result<std::optional<Launch>> plan_rearranged(const Unary& copy, const ViewBlock& view,
                                              std::size_t count, const Gpu& gpu);

}  // namespace kiln::ops
