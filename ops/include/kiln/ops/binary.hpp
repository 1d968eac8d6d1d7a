// binary: out[i] = lhs[idx(i)] op rhs[idx(i)].
//
// Kernels: <root>_<T> for u8 u32 i64 f16 bf16 f32 f64 f8_e4m3, in the table below. Arithmetic gives
// T: integers wrap, floats round once; an integer divided by 0 gives any value, and never traps.
// Comparisons give u8, 0 or 1; with a NaN only "ne" holds. maximum and minimum: f64, f32 and f8
// ignore a NaN, f16 and bf16 keep it.
#pragma once

#include <string_view>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// The order is the order of kBinaryOps.
enum class BinaryOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
};

struct BinaryOpInfo {
  BinaryOp op;
  std::string_view root;  // of the kernels' names
  bool compares;          // the output is u8
};

inline constexpr BinaryOpInfo kBinaryOps[] = {
    {BinaryOp::kAdd, "badd", false},
    {BinaryOp::kSub, "bsub", false},
    {BinaryOp::kMul, "bmul", false},
    {BinaryOp::kDiv, "bdiv", false},
    {BinaryOp::kMaximum, "bmaximum", false},
    {BinaryOp::kMinimum, "bminimum", false},
    {BinaryOp::kEq, "eq", true},
    {BinaryOp::kNe, "ne", true},
    {BinaryOp::kLt, "lt", true},
    {BinaryOp::kLe, "le", true},
    {BinaryOp::kGt, "gt", true},
    {BinaryOp::kGe, "ge", true},
};

constexpr const BinaryOpInfo& info(BinaryOp op) { return kBinaryOps[static_cast<std::size_t>(op)]; }
constexpr DType output_dtype(BinaryOp op, DType dtype) {
  return info(op).compares ? DType::kU8 : dtype;
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
