// What the families share when they plan a launch: kernel names and grids.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kernels/tuning/rows.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "own_kernels.hpp"

namespace kiln::ops {

// Sets the launch's kernel: that of `rows` for `dtype`. The error (kInvalidInput) lists the dtypes
// that there are kernels for.
Result<void> set_kernel(Launch& launch, const KernelRows& rows, DType dtype);

// One-dimensional: `own`, or one thread for each of `count` elements in blocks of 1024, as the
// reference host launches. Errors (kInvalidInput): a count that the reference's 32 bits cannot
// hold.
Result<void> set_grid(Launch& launch, Geometry geometry, std::size_t count, tuning::Launch own);

// The device, as kernels/tuning knows it.
tuning::Spread spread_over(const Gpu& gpu);

// The same for a kernel with an element for each thread: ours are those of kernels/tuning for the
// device, elements of `widest` bytes (0: the widest of the kernel's), and contiguous operands or
// views.
Result<void> set_elementwise_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                  std::size_t count, bool contiguous, std::size_t widest = 0);

// An error unless `dtype` is one of those that `root` takes.
Result<void> require_dtype(std::string_view root, DType dtype, std::initializer_list<DType> taken);
// An error unless the scalar argument `name` is of `dtype`.
Result<void> require_scalar(std::string_view name, const Scalar& scalar, DType dtype);

}  // namespace kiln::ops
