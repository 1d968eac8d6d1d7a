// What the families share when they plan a launch: kernel names, grids, layout blocks.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// "affine_f32". The kernels spell f8e4m3 "f8_e4m3", and in most of unary "fp8_e4m3".
enum class F8Spelling : std::uint8_t { kF8E4M3, kFp8E4M3 };
std::string kernel_name(std::string_view root, DType dtype,
                        F8Spelling spelling = F8Spelling::kF8E4M3);

// The grid of a kernel that walks `count` elements of `dtype` in a grid-stride loop.
// Errors (kInvalidInput): a count that the reference's 32 bits, or any grid, cannot hold.
Result<void> set_map_grid(Launch& launch, Geometry geometry, DType dtype, std::size_t count);

// The layout block of one strided operand: nothing when it is contiguous.
std::vector<std::size_t> layout_block(const Layout& layout);

// An error unless `dtype` is one of `taken`.
Result<void> require_dtype(std::string_view family, DType dtype,
                           std::initializer_list<DType> taken);

// An error unless the scalar argument `name` is of `dtype`.
Result<void> require_scalar(std::string_view name, const Scalar& scalar, DType dtype);

}  // namespace kiln::ops
