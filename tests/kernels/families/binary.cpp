// badd_<T>, ..., bminimum_<T>: out[i] = lhs[idx(i)] op rhs[idx(i)]; eq_<T>, ..., ge_<T> give 0
// or 1.
//
// Contract: integers wrap, and division by 0 may give any value. Floats round once. The sign of a
// zero follows IEEE 754, except that maximum and minimum may return either zero. Maximum and
// minimum ignore a NaN in f64, f32 and f8 (a signalling NaN may give a quiet one), and propagate it
// in f16 and bf16.
#include "kiln/ops/binary.hpp"

#include <algorithm>
#include <cmath>

#include "tests/kernels/elementwise.hpp"
#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

using ops::BinaryOp;

template <typename Number>
bool compare(BinaryOp op, Number a, Number b) {
  switch (op) {
    case BinaryOp::kEqual: return a == b;
    case BinaryOp::kNotEqual: return a != b;
    case BinaryOp::kLess: return a < b;
    case BinaryOp::kLessOrEqual: return a <= b;
    case BinaryOp::kGreater: return a > b;
    default: return a >= b;
  }
}

// Number is the natural C++ type: unsigned values wrap and compare unsigned, i64 compares signed.
template <typename Number>
Expected integer_reference(BinaryOp op, DType dtype, Number a, Number b) {
  const Bits x = static_cast<Bits>(a), y = static_cast<Bits>(b);
  const Bits mask = size_of(dtype) == 8 ? ~Bits{0} : (Bits{1} << (8 * size_of(dtype))) - 1;
  const auto wrapped = [mask](Bits value) { return Expected::exactly(value & mask); };
  switch (op) {
    case BinaryOp::kAdd: return wrapped(x + y);
    case BinaryOp::kSubtract: return wrapped(x - y);
    case BinaryOp::kMultiply: return wrapped(x * y);
    case BinaryOp::kDivide:
      if (b == 0) return Expected::anything();
      if (b == static_cast<Number>(-1) && std::is_signed_v<Number>) return wrapped(0 - x);
      return wrapped(static_cast<Bits>(a / b));
    case BinaryOp::kMaximum: return wrapped(static_cast<Bits>(std::max(a, b)));
    case BinaryOp::kMinimum: return wrapped(static_cast<Bits>(std::min(a, b)));
    default: return Expected::exactly(compare(op, a, b) ? 1 : 0);
  }
}

// For f64, computes in double: a Real has too few additional bits, so the result would be rounded
// twice. For other types it has enough.
Real arithmetic(BinaryOp op, DType dtype, Real a, Real b) {
  const auto by = [op](auto x, auto y) {
    return static_cast<Real>(op == BinaryOp::kAdd        ? x + y
                             : op == BinaryOp::kSubtract ? x - y
                             : op == BinaryOp::kMultiply ? x * y
                                                         : x / y);
  };
  return dtype == DType::kF64 ? by(static_cast<double>(a), static_cast<double>(b)) : by(a, b);
}

Expected extreme(BinaryOp op, DType dtype, const Bits* inputs, Real a, Real b) {
  const bool keeps_nan = dtype == DType::kF16 || dtype == DType::kBF16;
  if (std::isnan(a) || std::isnan(b)) {
    const Real other = std::isnan(a) ? b : a;
    if (keeps_nan) return Expected::within(dtype, a + b);
    const Expected number = Expected::within(dtype, other);
    const bool signals = is_signalling_nan(dtype, inputs[0]) || is_signalling_nan(dtype, inputs[1]);
    return signals ? number.or_nan() : number;
  }
  return Expected::within(dtype, op == BinaryOp::kMaximum ? std::max(a, b) : std::min(a, b));
}

Expected binary_reference(BinaryOp op, DType dtype, const Bits* inputs) {
  if (dtype == DType::kI64) {
    return integer_reference(op, dtype, static_cast<std::int64_t>(inputs[0]),
                             static_cast<std::int64_t>(inputs[1]));
  }
  if (!is_float(dtype)) return integer_reference(op, dtype, inputs[0], inputs[1]);
  const Real a = decode(dtype, inputs[0]), b = decode(dtype, inputs[1]);
  if (ops::info(op).output == ops::BinaryOutput::kTruth)
    return Expected::exactly(compare(op, a, b) ? 1 : 0);
  if (op == BinaryOp::kMaximum || op == BinaryOp::kMinimum) {
    return extreme(op, dtype, inputs, a, b);
  }
  return Expected::within(dtype, arithmetic(op, dtype, a, b), {}, ZeroSign::kAsExpected);
}

}  // namespace

bool add_binary_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  for (const ops::BinaryOpInfo& each : ops::kBinaryOps) {
    if (each.root != parts->root) continue;
    const BinaryOp op = each.op;
    const DType dtype = parts->dtype;
    ElementwiseKernel subject;
    subject.name = kernel;
    subject.inputs = {dtype, dtype};
    subject.output = output_dtype(op, dtype);
    subject.input_names = {"lhs", "rhs"};
    subject.plan = [=](const std::vector<View>& inputs, void* out, ops::Geometry geometry,
                       const ops::Gpu& gpu) {
      ops::Binary call;
      call.op = op;
      call.dtype = dtype;
      call.lhs_layout = inputs[0].layout;
      call.rhs_layout = inputs[1].layout;
      call.lhs = inputs[0].data;
      call.rhs = inputs[1].data;
      call.out = out;
      call.geometry = geometry;
      return plan(call, gpu);
    };
    subject.reference = [=](const Bits* inputs) { return binary_reference(op, dtype, inputs); };
    add_elementwise_cases(subject, wanted, cases);
    return true;
  }
  return false;
}

Contracts binary_contracts() {
  const std::string computed = "f64 in f64, other floats in f32; integers in their own type";
  const std::string wraps = "integers wrap";
  const std::string truth = "of NaN only ne is true";
  Contracts contracts = {
      {"badd", "x + y", computed, "0.5", wraps, ""},
      {"bsub", "x - y", computed, "0.5", wraps, ""},
      {"bmul", "x y", computed, "0.5", wraps, ""},
      {"bdiv", "x / y", computed, "0.5", "an integer divided by 0 gives any value, and never traps",
       "Integers are cut off toward zero."},
      {"bmaximum", "max(x, y)", "", "exact", "f64 f32 f8 ignore a NaN, f16 bf16 keep it",
       "Kept: the rule for NaN by type. Of two zeros either is right."},
      {"bminimum", "min(x, y)", "", "exact", "as bmaximum", ""},
  };
  constexpr std::pair<const char*, const char*> kComparisons[] = {{"eq", "x = y"}, {"ne", "x ≠ y"},
                                                                  {"lt", "x < y"}, {"le", "x ≤ y"},
                                                                  {"gt", "x > y"}, {"ge", "x ≥ y"}};
  for (const auto& [root, formula] : kComparisons) {
    contracts.push_back({root, formula, "", "exact", truth, "A u8 of 0 or 1."});
  }
  return contracts;
}

}  // namespace kiln::conformance
