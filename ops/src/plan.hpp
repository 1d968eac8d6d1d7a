// What the families share when they plan a launch: kernel names, grids, layout blocks.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kernels/tuning/elementwise.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "own_kernels.hpp"

namespace kiln::ops {

// "affine_f32". The kernels spell f8e4m3 "f8_e4m3", and in most of unary "fp8_e4m3".
enum class F8Spelling : std::uint8_t { kF8E4M3, kFp8E4M3 };
KernelName kernel_name(std::string_view root, DType dtype,
                        F8Spelling spelling = F8Spelling::kF8E4M3);

// Sets the launch's kernel: that of `rows` for `dtype`. The error (kInvalidInput) lists the dtypes that
// there are kernels for.
Result<void> set_kernel(Launch& launch, const KernelRows& rows, DType dtype);

// One-dimensional: `own`, or one thread for each of `count` elements in blocks of 1024, as the
// reference host launches. Errors (kInvalidInput): a count that the reference's 32 bits cannot hold.
Result<void> set_grid(Launch& launch, Geometry geometry, std::size_t count, tuning::Launch own);

// Our numbers for an elementwise kernel on that device, whose largest elements have `bytes`.
tuning::Launch over_elements(const Gpu& gpu, bool contiguous, std::size_t count, std::size_t bytes);

// The layout block of one strided operand: nothing when it is contiguous.
LayoutBlock layout_block(const Layout& layout);

// An error unless `dtype` is one of those that `root` takes.
Result<void> require_dtype(std::string_view root, DType dtype, std::initializer_list<DType> taken);
// An error unless the kernels of `root`, which move elements and leave their bits alone, or which
// compute in floats, are there for `dtype`.
Result<void> require_moved_dtype(std::string_view root, DType dtype);
Result<void> require_float_dtype(std::string_view root, DType dtype);

// An error unless the scalar argument `name` is of `dtype`.
Result<void> require_scalar(std::string_view name, const Scalar& scalar, DType dtype);

}  // namespace kiln::ops
