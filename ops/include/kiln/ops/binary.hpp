// binary: out[i] = lhs[idx(i)] op rhs[idx(i)].
//
// Kernels: <root>_<T>, for the operations and element types of tables/binary.hpp. Arithmetic gives
// T: integers wrap, floats round once; an integer divided by 0 gives any value, and never traps.
// Comparisons give u8, 0 or 1; with a NaN only "ne" holds. maximum and minimum: f64, f32 and f8
// ignore a NaN, f16 and bf16 keep it.
#pragma once

#include <string_view>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/ops/tables/binary.hpp"

namespace kiln::ops {

enum class BinaryOp : std::uint8_t {
#define KILN_ROW(root, op, dtypes, output) k##op,
  KILN_EACH_BINARY(KILN_ROW)
#undef KILN_ROW
};

enum class BinaryOutput : std::uint8_t { kSame, kTruth };

struct BinaryOpInfo {
  BinaryOp op;
  std::string_view root;  // of the kernels' names
  BinaryOutput output;
};

inline constexpr BinaryOpInfo kBinaryOps[] = {
#define KILN_ROW(root, op, dtypes, output) {BinaryOp::k##op, #root, BinaryOutput::k##output},
    KILN_EACH_BINARY(KILN_ROW)
#undef KILN_ROW
};

constexpr const BinaryOpInfo& info(BinaryOp op) { return kBinaryOps[static_cast<std::size_t>(op)]; }
constexpr DType output_dtype(BinaryOp op, DType dtype) {
  return info(op).output == BinaryOutput::kTruth ? DType::kU8 : dtype;
}

struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  DType dtype = DType::kF32;      // of both operands
  Layout lhs_layout, rhs_layout;  // of the same dims; `out` is row-major contiguous
  const void* lhs = nullptr;
  const void* rhs = nullptr;
  void* out = nullptr;  // of output_dtype(op, dtype)
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Binary& call, const Gpu& gpu = {});

}  // namespace kiln::ops
