// The contract of the unary operations: a formula, a bound, and the rules for NaN and -0.
//
// The bounds are those of accurate (not "fast") vendor math functions, put together where an
// operation is a formula of several. SEMANTICS of the formulas: intermediates may be rounded to the
// element type (as a native half implementation does), to the compute type, or not at all.
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

// The formula with every intermediate passed through `r`, which rounds it, or does not.
template <typename Rounding>
Real evaluate(UnaryOp op, Real x, Real p, Rounding r) {
  switch (op) {
    case UnaryOp::kAbs: return std::fabs(x);
    case UnaryOp::kCeil: return std::ceil(x);
    case UnaryOp::kCopy: return x;
    case UnaryOp::kCos: return std::cos(x);
    case UnaryOp::kElu: return x > 0 ? x : p * r(std::expm1(x));
    case UnaryOp::kErf: return std::erf(x);
    case UnaryOp::kExp: return std::exp(x);
    case UnaryOp::kFloor: return std::floor(x);
    case UnaryOp::kGelu: {
      const Real cube = r(r(x * x) * x);
      const Real inner = r(x + r(r(0.044715L) * cube));
      const Real angle = r(r(std::sqrt(2 / kPi)) * inner);
      return r(r(0.5L) * x) * r(1 + r(std::tanh(angle)));
    }
    case UnaryOp::kGeluErf: return x * r(std::erfc(-x / std::sqrt(2.0L)) / 2);
    case UnaryOp::kLog: return std::log(x);
    case UnaryOp::kNeg: return -x;
    case UnaryOp::kNormcdf: return std::erfc(-x / std::sqrt(2.0L)) / 2;
    case UnaryOp::kPowf: return std::pow(x, p);
    case UnaryOp::kRecip: return 1 / x;
    case UnaryOp::kRelu: return x > 0 ? x : std::isnan(x) ? x : 0;
    case UnaryOp::kRound: return std::round(x);  // halves away from zero
    case UnaryOp::kSigmoid: return 1 / r(1 + r(std::exp(-x)));
    case UnaryOp::kSign: return static_cast<Real>((x > 0) - (x < 0));  // NaN and both zeros: +0
    case UnaryOp::kSilu: return x / r(1 + r(std::exp(-x)));
    case UnaryOp::kSin: return std::sin(x);
    case UnaryOp::kSqr: return x * x;
    case UnaryOp::kSqrt: return std::sqrt(x);
    case UnaryOp::kTanh: return std::tanh(x);
  }
  return kNan;
}

struct Contract {
  Bound bound;
  ZeroSign zero_sign = ZeroSign::kAny;
};

Contract contract_of(UnaryOp op) {
  constexpr ZeroSign kSigned = ZeroSign::kAsExpected;
  //                                 f64 f32 narrow
  switch (op) {
    case UnaryOp::kAbs:
    case UnaryOp::kCeil:
    case UnaryOp::kCopy:
    case UnaryOp::kFloor:
    case UnaryOp::kNeg:
    case UnaryOp::kRecip:  // correctly rounded
    case UnaryOp::kRelu:   // -0 becomes +0
    case UnaryOp::kRound:
    case UnaryOp::kSign:
    case UnaryOp::kSqr:
    case UnaryOp::kSqrt:  // correctly rounded
      return {{0, 0, 0}, kSigned};
    case UnaryOp::kExp: return {{2, 2, 1}};
    case UnaryOp::kLog: return {{2, 2, 1}};
    case UnaryOp::kSin: return {{2, 2, 1}, kSigned};
    case UnaryOp::kCos: return {{2, 2, 1}};
    case UnaryOp::kTanh: return {{2, 2, 1}, kSigned};
    case UnaryOp::kErf: return {{2, 2, 1}, kSigned};
    case UnaryOp::kNormcdf: return {{7, 6, 1}};
    case UnaryOp::kPowf: return {{3, 5, 1}};
    case UnaryOp::kElu: return {{4, 4, 1}};
    case UnaryOp::kGelu: return {{5, 5, 1}};
    case UnaryOp::kGeluErf: return {{9, 8, 1}};
    case UnaryOp::kSigmoid: return {{4, 4, 1}};
    case UnaryOp::kSilu: return {{5, 5, 1}};
  }
  return {};
}

// Errors that are absolute, not relative: what is lost where two nearly equal values are
// subtracted, and where an intermediate is subnormal. `unit` is the distance of values just
// below 1.
Real slack_of(UnaryOp op, DType dtype, Real x) {
  const bool wide = dtype == DType::kF64;
  const Real unit = std::ldexp(1.0L, wide ? -53 : -24);
  const Real least = std::ldexp(1.0L, wide ? -1074 : -149);
  switch (op) {
    case UnaryOp::kGelu:  // 1 + tanh, for tanh near -1: two places of tanh, and its angle's error
      return std::isfinite(x) ? std::fabs(x) / 2 * 4 * unit : 0;
    case UnaryOp::kGeluErf:  // x times a subnormal normcdf
      return std::isfinite(x) ? std::fabs(x) * 8 * least : 0;
    case UnaryOp::kSilu:  // x times a subnormal sigmoid
      return std::isfinite(x) ? std::fabs(x) * 2 * least : 0;
    default: return 0;
  }
}

// The operations that IEEE 754 rounds once, for f64: a Real has too few bits more than a double to
// be rounded again.
std::optional<Real> correctly_rounded(UnaryOp op, DType dtype, Real inp) {
  if (dtype != DType::kF64) return std::nullopt;
  const double x = static_cast<double>(inp);
  switch (op) {
    case UnaryOp::kRecip: return 1 / x;
    case UnaryOp::kSqr: return x * x;
    case UnaryOp::kSqrt: return std::sqrt(x);
    default: return std::nullopt;
  }
}

}  // namespace

Real unary_exact(UnaryOp op, Real inp, Real parameter) {
  return evaluate(op, inp, parameter, [](Real value) { return value; });
}

Expected unary_reference(UnaryOp op, DType dtype, Bits inp, Bits parameter) {
  if (op == UnaryOp::kCopy) return Expected::exactly(inp);
  const Real x = decode(dtype, inp), p = decode(dtype, parameter);
  const Contract contract = contract_of(op);

  // max(x, 0) ignores a NaN where it is the C library's fmax (f64, f32, and f8, which computes in
  // f32), and keeps it in the native half types.
  if (op == UnaryOp::kRelu && std::isnan(x) && dtype != DType::kF16 && dtype != DType::kBF16) {
    return Expected::within(dtype, {0.0L}, contract.bound, 0, contract.zero_sign);
  }
  // x^0 is 1 for a NaN, too, but an operation on a signalling NaN may answer with a quiet one.
  if (op == UnaryOp::kPowf && p == 0 && is_signalling_nan(dtype, inp)) {
    return Expected::within(dtype, {1.0L, kNan}, contract.bound);
  }
  const auto rounded_to = [](DType type) {
    return [type](Real value) { return decode(type, encode(type, value)); };
  };
  const Real exact = correctly_rounded(op, dtype, x).value_or(unary_exact(op, x, p));
  const Real slack = slack_of(op, dtype, x);
  const DType compute = compute_dtype(dtype);
  const Real computed =
      correctly_rounded(op, dtype, x).value_or(evaluate(op, x, p, rounded_to(compute)));
  if (dtype == compute || !has_own_arithmetic(dtype)) {
    return Expected::within(dtype, {exact, computed}, contract.bound, slack, contract.zero_sign);
  }
  return Expected::within(dtype, {exact, computed, evaluate(op, x, p, rounded_to(dtype))},
                          contract.bound, slack, contract.zero_sign);
}

}  // namespace kiln::conformance
