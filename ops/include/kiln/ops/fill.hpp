// fill: constants and row copies, for the element types of tables/fill.hpp.
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

// const_set_<T>: every element of the strided view at `out` = value; what lies between the elements
// of the view stays as it is.
struct ConstSet {
  Scalar value;
  Layout layout;  // of `out`
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// copy2d_<T>: out[r * out_stride + c] = inp[r * inp_stride + c] for r < rows and c < columns.
// Strides count elements. Nothing to copy is an error like every other empty launch.
struct Copy2d {
  DType dtype = DType::kF32;
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t inp_stride = 0, out_stride = 0;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Names of our own: in our geometry alone.

// arange_<T>: out[i] = start + i step. Floats in f64 and rounded once; integers wrap.
struct Arange {
  Scalar start, step;  // their dtype is that of the elements, also i16 and i32
  std::size_t count = 0;
  void* out = nullptr;
};

// transpose_<T>: out[m, c, r] = inp[m, r, c], both row-major contiguous.
struct Transpose {
  DType dtype = DType::kF32;
  std::size_t matrices = 1, rows = 0, columns = 0;  // of `inp`
  const void* inp = nullptr;
  void* out = nullptr;
};

// slice_<T>: out[l, j, r] = inp[l, start + j step, r], for l over the dims before `dim` and r over
// those behind it. Both row-major contiguous.
struct Slice {
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`; `out` has `count` places in `dim`
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
