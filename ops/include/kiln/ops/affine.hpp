// affine: out[i] = inp[idx(i)] * mul + add.
//
// Kernels: affine_<T>, for the element types of tables/affine.hpp. Integers wrap. f32 and f64 round
// once (fused multiply-add), f16 and bf16 once or twice. f8 is computed in f32 and saturates.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

struct Affine {
  DType dtype = DType::kF32;
  Layout layout;              // of `inp`; `out` has the same dims, row-major contiguous
  const void* inp = nullptr;  // null: `out`, in place, for which the layout must be contiguous
  void* out = nullptr;
  Scalar mul, add;  // of type `dtype`
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape, the dtype or the scalar that no kernel takes.
Result<Launch> plan(const Affine& call, const Gpu& gpu = {});

}  // namespace kiln::ops
