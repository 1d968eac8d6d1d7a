// fill: constants, sequences, and copies of rows, transposes and slices, for the element types of
// tables/fill.hpp and tables/rearrange.hpp.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// fill_<T>: buffer[0 .. count) = value.
struct Fill {
  Scalar value;
  std::size_t count = 0;
  void* buffer = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// const_set_<T>: sets every element of the strided view at `out` to `value`. Elements between those
// of the view do not change.
struct ConstSet {
  Scalar value;
  Layout layout;  // of the view
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// copy2d_<T>: out[r * out_stride + c] = inp[r * inp_stride + c] for r < rows and c < columns.
// Strides are numbers of elements. An empty copy is an error, like every empty launch.
struct Copy2d {
  DType dtype = DType::kF32;
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t inp_stride = 0, out_stride = 0;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// kiln adds the kernels below. They have no reference geometry.

// arange_<T>: out[i] = start + i * step. Floats are computed in f64 and rounded once; integers
// wrap.
struct Arange {
  Scalar start, step;  // of the dtype of `out`; i16 and i32 are allowed
  std::size_t count = 0;
  void* out = nullptr;
};

// transpose_<T>: out[m, c, r] = inp[m, r, c]. Both are row-major contiguous.
struct Transpose {
  DType dtype = DType::kF32;
  std::size_t matrices = 1, rows = 0, columns = 0;  // of `inp`
  const void* inp = nullptr;
  void* out = nullptr;
};

// slice_<T>: out[l, j, r] = inp[l, start + j * step, r], where l stands for all dims before `dim`
// and r for all dims after it. Both are row-major contiguous.
struct Slice {
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`; `out` differs in `dim`, which has `count` elements
  std::size_t dim = 0;
  std::size_t start = 0, step = 1, count = 0;
  const void* inp = nullptr;
  void* out = nullptr;
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Fill& call, const Gpu& gpu = {});
Result<Launch> plan(const ConstSet& call, const Gpu& gpu = {});
Result<Launch> plan(const Copy2d& call, const Gpu& gpu = {});
Result<Launch> plan(const Arange& call, const Gpu& gpu = {});
Result<Launch> plan(const Transpose& call, const Gpu& gpu = {});
Result<Launch> plan(const Slice& call, const Gpu& gpu = {});

}  // namespace kiln::ops
