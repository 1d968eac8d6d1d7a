// The contract of the unary operations: a formula, a bound, and the rules for NaN and -0; the
// bounds are those of docs/KERNELS.md.
#include "tests/kernels/families/unary_reference.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

using ops::UnaryOp;

constexpr Real kPi = 3.141592653589793238462643383279502884L;
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

// gelu is x * sigmoid(u) with this u: equal to x / 2 * (1 + tanh(u / 2)), and nothing cancels.
Real gelu_angle(Real x) { return 2 * std::sqrt(2 / kPi) * (x + 0.044715L * x * x * x); }

Real normal_cdf(Real x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

struct Contract {
  Bound f64, f32, narrow;  // narrow: f16, bf16 and f8, before the rounding
  ZeroSign zero_sign = ZeroSign::kAny;
};

// For the functions that the vendors compute, f32's bound holds for the narrow types.
Contract accurate(Real f64_ulps, Real f32_ulps, ZeroSign zero_sign = ZeroSign::kAny) {
  return {{f64_ulps}, {f32_ulps}, {f32_ulps}, zero_sign};
}
// Those of our own have a relative error there. The unit beside it: f32 rounds subnormal results.
Contract approximate(Real f64_ulps, Real f32_ulps, int narrow_exponent,
                     ZeroSign zero_sign = ZeroSign::kAny) {
  return {{f64_ulps}, {f32_ulps}, {1, std::ldexp(1.0L, narrow_exponent)}, zero_sign};
}

Contract contract_of(UnaryOp op) {
  constexpr ZeroSign kSigned = ZeroSign::kAsExpected;
  switch (op) {
    case UnaryOp::kAbs:
    case UnaryOp::kCeil:
    case UnaryOp::kCopy:
    case UnaryOp::kFloor:
    case UnaryOp::kNegate:
    case UnaryOp::kRelu:  // -0 becomes +0
    case UnaryOp::kRound:
    case UnaryOp::kSign: return accurate(0, 0, kSigned);
    case UnaryOp::kReciprocal:
    case UnaryOp::kSquare:
    case UnaryOp::kSqrt: return accurate(0.5L, 0.5L, kSigned);
    case UnaryOp::kLog: return accurate(2, 2);
    case UnaryOp::kCos: return accurate(2, 2);
    case UnaryOp::kSin: return accurate(2, 2, kSigned);
    case UnaryOp::kErf: return accurate(2, 2, kSigned);
    case UnaryOp::kNormalCdf: return accurate(7, 6);
    case UnaryOp::kPower: return accurate(3, 4);
    case UnaryOp::kElu: return accurate(3, 3);
    case UnaryOp::kGeluErf: return accurate(8, 8);
    case UnaryOp::kExp: return approximate(2, 2.5L, -16);
    case UnaryOp::kTanh: return approximate(2, 2, -17, kSigned);
    case UnaryOp::kSigmoid: return approximate(3, 4, -16);
    case UnaryOp::kSilu: return approximate(4, 5, -16);
    case UnaryOp::kGeluTanh: return approximate(5, 5, -16);
  }
  return {};
}

// The bound for one input. What a product with a subnormal number loses is absolute; and gelu's
// argument of an exponential, which is up to 100 where the result still counts, is rounded before.
Bound bound_of(UnaryOp op, DType dtype, Real x) {
  const Contract contract = contract_of(op);
  Bound bound = dtype == DType::kF64   ? contract.f64
                : dtype == DType::kF32 ? contract.f32
                                       : contract.narrow;
  if (!std::isfinite(x)) return bound;
  const DType compute = compute_dtype(dtype);
  const Real least = unit_in_last_place(compute, 0);
  // The product of x and a weight: that is some units off where it is subnormal, and 0 beneath.
  const auto add_weight_error = [&](Real weight, int units) {
    const Real error = weight > least / 4 ? static_cast<Real>(units) * least : weight;
    bound.absolute = std::fabs(x) * error;
  };
  switch (op) {
    case UnaryOp::kGeluErf: add_weight_error(normal_cdf(x), 8); break;
    case UnaryOp::kSilu: add_weight_error(sigmoid(x), 2); break;
    case UnaryOp::kGeluTanh: {
      const Real angle = gelu_angle(x);
      add_weight_error(sigmoid(angle), 2);
      if (dtype == compute) {
        // Three roundings of the angle, each half a unit.
        bound.relative = std::fabs(angle) * sigmoid(-angle) * 1.5L * unit_in_last_place(compute, 1);
      }
      break;
    }
    default: break;
  }
  return bound;
}

// The operations that IEEE 754 rounds once, for f64: a Real has too few bits more than a double to
// be rounded again.
std::optional<Real> correctly_rounded(UnaryOp op, DType dtype, Real inp) {
  if (dtype != DType::kF64) return std::nullopt;
  const double x = static_cast<double>(inp);
  switch (op) {
    case UnaryOp::kReciprocal: return 1 / x;
    case UnaryOp::kSquare: return x * x;
    case UnaryOp::kSqrt: return std::sqrt(x);
    default: return std::nullopt;
  }
}

}  // namespace

Real unary_exact(UnaryOp op, Real x, Real p) {
  switch (op) {
    case UnaryOp::kAbs: return std::fabs(x);
    case UnaryOp::kCeil: return std::ceil(x);
    case UnaryOp::kCopy: return x;
    case UnaryOp::kCos: return std::cos(x);
    case UnaryOp::kElu: return x > 0 ? x : p * std::expm1(x);
    case UnaryOp::kErf: return std::erf(x);
    case UnaryOp::kExp: return std::exp(x);
    case UnaryOp::kFloor: return std::floor(x);
    case UnaryOp::kGeluTanh: return x / (1 + std::exp(-gelu_angle(x)));
    case UnaryOp::kGeluErf: return x * normal_cdf(x);
    case UnaryOp::kLog: return std::log(x);
    case UnaryOp::kNegate: return -x;
    case UnaryOp::kNormalCdf: return normal_cdf(x);
    case UnaryOp::kPower: return std::pow(x, p);
    case UnaryOp::kReciprocal: return 1 / x;
    case UnaryOp::kRelu: return x > 0 ? x : std::isnan(x) ? x : 0;
    case UnaryOp::kRound: return std::round(x);  // halves away from zero
    case UnaryOp::kSigmoid: return sigmoid(x);
    case UnaryOp::kSign: return static_cast<Real>((x > 0) - (x < 0));  // NaN and both zeros: +0
    case UnaryOp::kSilu: return x / (1 + std::exp(-x));
    case UnaryOp::kSin: return std::sin(x);
    case UnaryOp::kSquare: return x * x;
    case UnaryOp::kSqrt: return std::sqrt(x);
    case UnaryOp::kTanh: return std::tanh(x);
  }
  return kNan;
}

Expected unary_reference(UnaryOp op, DType dtype, Bits inp, Bits parameter) {
  if (op == UnaryOp::kCopy) return Expected::exactly(inp);
  const Real x = decode(dtype, inp), p = decode(dtype, parameter);
  const ZeroSign zero_sign = contract_of(op).zero_sign;

  // max(x, 0) ignores a NaN where it is the C library's fmax (f64, f32, and f8, which computes in
  // f32), and keeps it in the native half types.
  if (op == UnaryOp::kRelu && std::isnan(x) && dtype != DType::kF16 && dtype != DType::kBF16) {
    return Expected::within(dtype, 0, {}, zero_sign);
  }
  // x^0 is 1 for a NaN, too, but an operation on a signalling NaN may answer with a quiet one.
  if (op == UnaryOp::kPower && p == 0 && is_signalling_nan(dtype, inp)) {
    return Expected::within(dtype, 1).or_nan();
  }
  const Real exact = correctly_rounded(op, dtype, x).value_or(unary_exact(op, x, p));
  return Expected::within(dtype, exact, bound_of(op, dtype, x), zero_sign);
}

}  // namespace kiln::conformance
