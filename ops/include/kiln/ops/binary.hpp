// binary: out[i] = lhs[idx(i)] op rhs[idx(i)].
//
// Kernels: <root>_<T>, for the operations and element types of tables/binary.hpp. The result of
// arithmetic is a T: integers wrap, floats round once. An integer divided by 0 gives an arbitrary
// value and never traps. Comparisons give u8, 0 or 1; with a NaN, only "ne" is true. For maximum
// and minimum, f64, f32 and f8 ignore a NaN, and f16 and bf16 keep it.
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
  std::string_view root;  // how the kernels' names begin
  BinaryOutput output;
};

inline constexpr BinaryOpInfo kBinaryOps[] = {
#define KILN_ROW(root, op, dtypes, output) {BinaryOp::k##op, #root, BinaryOutput::k##output},
    KILN_EACH_BINARY(KILN_ROW)
#undef KILN_ROW
};

// A number that is no operation gets the first one's entry. plan() refuses it.
constexpr const BinaryOpInfo& info(BinaryOp op) {
  const auto at = static_cast<std::size_t>(op);
  return kBinaryOps[at < std::size(kBinaryOps) ? at : 0];
}
// Returns the dtype of `out`: u8 for a comparison, otherwise that of the operands.
constexpr DType output_dtype(BinaryOp op, DType dtype) {
  return info(op).output == BinaryOutput::kTruth ? DType::kU8 : dtype;
}

struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  DType dtype = DType::kF32;      // of both operands
  Layout lhs_layout, rhs_layout;  // equal dims; `out` has them, too, row-major contiguous
  const void* lhs = nullptr;
  const void* rhs = nullptr;
  // Elements of output_dtype(op, dtype). May be an operand with a contiguous layout and elements of
  // that type.
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shapes or the dtype that no kernel takes.
Result<Launch> plan(const Binary& call, const Gpu& gpu = {});

}  // namespace kiln::ops
