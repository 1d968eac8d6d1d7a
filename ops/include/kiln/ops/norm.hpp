// Row-wise operations, for f16 bf16 f32 f64. `src` and `dst` are (rows, columns), row-major
// contiguous. `dst` may be `src`.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// softmax_<T>: dst = exp(src - max(row)) / sum(exp(src - max(row))).
struct Softmax {
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
  // With kOwn: number of parts that a row is cut into. A block works on each part, in two launches.
  // 0: the plan chooses, and may also give a row to one block or to part of a block. Parts are
  // whole multiples of 128 elements, up to 2^30, so there may be fewer or more. All rows together:
  // up to 2^24 parts.
  std::uint32_t parts = 0;
};

// rmsnorm_<T>: dst = src * alpha / sqrt(mean(src^2) + epsilon).
struct RmsNorm {
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* src = nullptr;
  void* dst = nullptr;
  const void* alpha = nullptr;  // one element per column; null: ones
  float epsilon = 1e-5f;
  Geometry geometry = Geometry::kOwn;
  std::uint32_t parts = 0;  // as for Softmax
};

// layernorm_<T>: dst = (src - mean) * alpha / sqrt(variance + epsilon) + beta.
struct LayerNorm {
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* src = nullptr;
  void* dst = nullptr;
  const void* alpha = nullptr;  // one element per column; null: ones
  const void* beta = nullptr;   // one element per column; null: zeros
  float epsilon = 1e-5f;
  Geometry geometry = Geometry::kOwn;
  std::uint32_t parts = 0;  // as for Softmax
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes. None takes rows without
// elements, or no rows.
Result<Launch> plan(const Softmax& call, const Gpu& gpu = {});
Result<Launch> plan(const RmsNorm& call, const Gpu& gpu = {});
Result<Launch> plan(const LayerNorm& call, const Gpu& gpu = {});

}  // namespace kiln::ops
