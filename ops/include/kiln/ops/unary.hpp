// unary: out[i] = op(inp[idx(i)]).
//
// Kernels: u<op>_<T> for f16 bf16 f32 f64 f8_e4m3; copy also for u8 u32 i64. The table below is the
// one list of operations. What each computes, and how exactly, is stated by the references in
// tests/kernels/families/unary.cpp.
#pragma once

#include <string_view>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// The order is the order of kUnaryOps.
enum class UnaryOp : std::uint8_t {
  kAbs,
  kCeil,
  kCopy,
  kCos,
  kElu,
  kErf,
  kExp,
  kFloor,
  kGelu,
  kGeluErf,
  kLog,
  kNeg,
  kNormcdf,
  kPowf,
  kRecip,
  kRelu,
  kRound,
  kSigmoid,
  kSign,
  kSilu,
  kSin,
  kSqr,
  kSqrt,
  kTanh,
};

struct UnaryOpInfo {
  UnaryOp op;
  std::string_view name;  // without the kernels' leading 'u'
  bool has_parameter;     // elu: the slope; powf: the exponent
};

inline constexpr UnaryOpInfo kUnaryOps[] = {
    {UnaryOp::kAbs, "abs", false},         {UnaryOp::kCeil, "ceil", false},
    {UnaryOp::kCopy, "copy", false},       {UnaryOp::kCos, "cos", false},
    {UnaryOp::kElu, "elu", true},          {UnaryOp::kErf, "erf", false},
    {UnaryOp::kExp, "exp", false},         {UnaryOp::kFloor, "floor", false},
    {UnaryOp::kGelu, "gelu", false},       {UnaryOp::kGeluErf, "gelu_erf", false},
    {UnaryOp::kLog, "log", false},         {UnaryOp::kNeg, "neg", false},
    {UnaryOp::kNormcdf, "normcdf", false}, {UnaryOp::kPowf, "powf", true},
    {UnaryOp::kRecip, "recip", false},     {UnaryOp::kRelu, "relu", false},
    {UnaryOp::kRound, "round", false},     {UnaryOp::kSigmoid, "sigmoid", false},
    {UnaryOp::kSign, "sign", false},       {UnaryOp::kSilu, "silu", false},
    {UnaryOp::kSin, "sin", false},         {UnaryOp::kSqr, "sqr", false},
    {UnaryOp::kSqrt, "sqrt", false},       {UnaryOp::kTanh, "tanh", false},
};

constexpr const UnaryOpInfo& info(UnaryOp op) { return kUnaryOps[static_cast<std::size_t>(op)]; }

struct Unary {
  UnaryOp op = UnaryOp::kCopy;
  DType dtype = DType::kF32;
  Layout layout;              // of `inp`; `out` is row-major contiguous
  const void* inp = nullptr;  // null: in place, reads `out`
  void* out = nullptr;
  Scalar parameter;  // of `dtype`; read where the operation has one
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Unary& call, const Gpu& gpu = {});

}  // namespace kiln::ops
