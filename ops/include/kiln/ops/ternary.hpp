// ternary: out[i] = condition[idx(i)] != 0 ? on_true[idx(i)] : on_false[idx(i)]. The bits of the
// elements do not change.
//
// Kernels: where_<C>_<T>, for the pairs of tables/ternary.hpp. For large views whose rows are not
// whole 16-byte chunks, kiln adds where_tiles_<C>_<T>, one for each condition type and element
// size.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

struct Where {
  DType condition_dtype = DType::kU8;
  DType dtype = DType::kF32;
  Layout condition_layout, true_layout, false_layout;  // equal dims; `out` has them, contiguous
  const void* condition = nullptr;
  const void* on_true = nullptr;
  const void* on_false = nullptr;
  void* out = nullptr;  // may be `on_true` or `on_false` if that has a contiguous layout
  Geometry geometry = Geometry::kOwn;
  Tiles tiles = Tiles::kBySize;
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Where& call, const Gpu& gpu = {});

}  // namespace kiln::ops
