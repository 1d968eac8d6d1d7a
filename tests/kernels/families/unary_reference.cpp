// The contract of the unary operations, one row each: a formula, a bound, and the rules for NaN and
// -0. docs/KERNELS.md prints the rows.
#include "tests/kernels/families/unary_reference.hpp"

#include <cmath>
#include <optional>
#include <sstream>

#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

using ops::UnaryOp;

constexpr Real kPi = 3.141592653589793238462643383279502884L;

constexpr const char* kRoundsOnce = "Mended: the original rounds each step to f16 and bf16.";

// gelu is x * sigmoid(u) with this u. This equals x / 2 * (1 + tanh(u / 2)), without cancellation.
Real gelu_angle(Real x) { return 2 * std::sqrt(2 / kPi) * (x + 0.044715L * x * x * x); }

Real normal_cdf(Real x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

// The formula of an operation, and its permitted error.
struct Reference {
  UnaryOp op;
  Real (*exact)(Real x, Real p);
  Bound f64, f32, narrow;  // narrow: f16, bf16 and f8, before the rounding
  ZeroSign zero_sign;
  // For docs/KERNELS.md: the formula, special values, and notes (contracts.hpp).
  const char* formula;
  const char* special = "";
  const char* notes = "";
};

struct Bounds {
  Bound f64, f32, narrow;
};
// For functions that the vendors implement, the bound of f32 also holds for the narrow types.
constexpr Bounds accurate(Real f64_ulps, Real f32_ulps) {
  return {{f64_ulps}, {f32_ulps}, {f32_ulps}};
}
// kiln's own functions have a relative error for narrow types, plus one unit because f32 rounds
// subnormal results.
constexpr Bounds approximate(Real f64_ulps, Real f32_ulps, Real narrow_relative) {
  return {{f64_ulps}, {f32_ulps}, {1, narrow_relative}};
}
constexpr Bounds kExact = accurate(0, 0);
constexpr Bounds kRounded = accurate(0.5L, 0.5L);

constexpr ZeroSign kSigned = ZeroSign::kAsExpected, kAnySign = ZeroSign::kAny;

constexpr Reference row(UnaryOp op, Real (*exact)(Real x, Real p), const Bounds& bounds,
                        ZeroSign zero_sign, const char* formula, const char* special = "",
                        const char* notes = "") {
  return {op, exact, bounds.f64, bounds.f32, bounds.narrow, zero_sign, formula, special, notes};
}

// clang-format off
// In the order of the table of operations.
constexpr Reference kReferences[] = {
    row(UnaryOp::kNegate, [](Real x, Real) { return -x; }, kExact, kSigned, "-x"),
    row(UnaryOp::kReciprocal, [](Real x, Real) { return 1 / x; }, kRounded, kSigned, "1 / x"),
    row(UnaryOp::kAbs, [](Real x, Real) { return std::fabs(x); }, kExact, kSigned, "abs x"),
    row(UnaryOp::kSquare, [](Real x, Real) { return x * x; }, kRounded, kSigned, "x²"),
    row(UnaryOp::kSqrt, [](Real x, Real) { return std::sqrt(x); }, kRounded, kSigned, "sqrt x", "",
        "f64, f16, f8: by our own steps (device/root.cuh)."),
    row(UnaryOp::kCeil, [](Real x, Real) { return std::ceil(x); }, kExact, kSigned, "ceil x",
        "-0 stays"),
    row(UnaryOp::kFloor, [](Real x, Real) { return std::floor(x); }, kExact, kSigned, "floor x",
        "-0 stays"),
    row(UnaryOp::kRound, [](Real x, Real) { return std::round(x); }, kExact, kSigned,
        "x to the nearest whole number, halves away from zero", "-0 stays"),
    row(UnaryOp::kSign, [](Real x, Real) { return static_cast<Real>((x > 0) - (x < 0)); }, kExact,
        kSigned, "(x > 0) - (x < 0)", "NaN and both zeros: +0"),
    row(UnaryOp::kRelu, [](Real x, Real) { return x > 0 || std::isnan(x) ? x : 0; }, kExact,
        kSigned, "max(x, 0)", "-0: +0; NaN: f64 f32 f8 give 0, f16 bf16 keep it",
        "Kept: the rule for NaN by type."),
    row(UnaryOp::kExp, [](Real x, Real) { return std::exp(x); }, approximate(2, 2.5L, 0x1p-16L),
        kAnySign, "exp x"),
    row(UnaryOp::kLog, [](Real x, Real) { return std::log(x); }, accurate(2, 2), kAnySign, "ln x"),
    row(UnaryOp::kSin, [](Real x, Real) { return std::sin(x); }, accurate(2, 2), kSigned, "sin x",
        "", "f16, bf16, f8: a fit of our own (device/functions.cuh)."),
    row(UnaryOp::kCos, [](Real x, Real) { return std::cos(x); }, accurate(2, 2), kAnySign, "cos x",
        "", "As usin."),
    row(UnaryOp::kPower, [](Real x, Real p) { return std::pow(x, p); }, accurate(3, 4), kAnySign,
        "x^p", "as C's pow", "f32: a logarithm in two numbers (device/functions.cuh)."),
    row(UnaryOp::kErf, [](Real x, Real) { return std::erf(x); }, accurate(2, 2), kSigned, "erf x"),
    row(UnaryOp::kNormalCdf, [](Real x, Real) { return normal_cdf(x); }, accurate(7, 6), kAnySign,
        "erfc(-x / sqrt 2) / 2", "",
        "Distribution function of the standard normal. f32: a fit of our own "
        "(device/functions.cuh)."),
    row(UnaryOp::kGeluErf, [](Real x, Real) { return x * normal_cdf(x); }, accurate(8, 8), kAnySign,
        "x normcdf x", "-inf: NaN", kRoundsOnce),
    row(UnaryOp::kTanh, [](Real x, Real) { return std::tanh(x); }, approximate(2, 2, 0x1p-17L),
        kSigned, "tanh x", "-0 stays"),
    row(UnaryOp::kElu, [](Real x, Real p) { return x > 0 ? x : p * std::expm1(x); }, accurate(3, 3),
        kAnySign, "x > 0 ? x : a (exp x - 1)", "NaN stays",
        "By expm1. Mended: exp x - 1 loses all digits near 0."),
    row(UnaryOp::kSigmoid, [](Real x, Real) { return sigmoid(x); }, approximate(3, 4, 0x1p-16L),
        kAnySign, "1 / (1 + exp -x)", "", "By the exponential of -abs x, which cannot overflow."),
    row(UnaryOp::kSilu, [](Real x, Real) { return x / (1 + std::exp(-x)); },
        approximate(4, 5, 0x1p-16L), kAnySign, "x sigmoid x", "-inf: NaN", kRoundsOnce),
    row(UnaryOp::kGeluTanh, [](Real x, Real) { return x / (1 + std::exp(-gelu_angle(x))); },
        approximate(5, 5, 0x1p-16L), kAnySign, "x sigmoid(2 c (x + 0.044715 x³)), c = sqrt(2 / π)",
        "-inf: NaN",
        "Equal to x / 2 (1 + tanh(c (x + 0.044715 x³))) (Hendrycks and Gimpel 2016, arXiv "
        "1606.08415). Mended: that form loses all digits where tanh nears -1, and the original "
        "rounds its steps to f16 and bf16. f64 and f32 also have 1.5 units times abs(u) "
        "sigmoid(-u) for the rounded argument u = 2 c (…)."),
    row(UnaryOp::kCopy, [](Real x, Real) { return x; }, kExact, kSigned, "x, bit by bit",
        "NaN payloads stay"),
};
// clang-format on

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < std::size(kReferences); ++i) {
    if (kReferences[i].op != ops::kUnaryOps[i].op) return false;
  }
  return std::size(kReferences) == std::size(ops::kUnaryOps);
}
static_assert(are_in_order(), "each operation of tables/unary.hpp has its reference, in its order");

const Reference& reference_of(UnaryOp op) { return kReferences[static_cast<std::size_t>(op)]; }

// Returns the bound for one input. The error of a product with a subnormal number is absolute. The
// argument of the exponential in gelu, which is up to 100 where the result still matters, is
// rounded first.
Bound bound_of(UnaryOp op, DType dtype, Real x) {
  const Reference& reference = reference_of(op);
  Bound bound = dtype == DType::kF64   ? reference.f64
                : dtype == DType::kF32 ? reference.f32
                                       : reference.narrow;
  if (!std::isfinite(x)) return bound;
  const DType compute = compute_dtype(dtype);
  const Real least = unit_in_last_place(compute, 0);
  // The product of x and a weight. A subnormal weight is off by some units; below that it is 0.
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
        // Three roundings of the angle, of half a unit each.
        bound.relative = std::fabs(angle) * sigmoid(-angle) * 1.5L * unit_in_last_place(compute, 1);
      }
      break;
    }
    default: break;
  }
  return bound;
}

// For f64, returns the result of operations that IEEE 754 rounds once, computed in double: a Real
// has too few additional bits, so the result would be rounded twice.
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

Real unary_exact(UnaryOp op, Real x, Real p) { return reference_of(op).exact(x, p); }

Expected unary_reference(UnaryOp op, DType dtype, Bits inp, Bits parameter) {
  if (op == UnaryOp::kCopy) return Expected::exactly(inp);
  const Real x = decode(dtype, inp), p = decode(dtype, parameter);
  const ZeroSign zero_sign = reference_of(op).zero_sign;

  // max(x, 0) ignores a NaN if it is the C library's fmax (f64, f32, and f8, which computes in
  // f32), and propagates it in the native half types.
  if (op == UnaryOp::kRelu && std::isnan(x) && dtype != DType::kF16 && dtype != DType::kBF16) {
    return Expected::within(dtype, 0, {}, zero_sign);
  }
  // x^0 is 1 also for a NaN, but an operation on a signalling NaN may return a quiet one.
  if (op == UnaryOp::kPower && p == 0 && is_signalling_nan(dtype, inp)) {
    return Expected::within(dtype, 1).or_nan();
  }
  const Real exact = correctly_rounded(op, dtype, x).value_or(unary_exact(op, x, p));
  return Expected::within(dtype, exact, bound_of(op, dtype, x), zero_sign);
}

Contracts unary_contracts() {
  Contracts contracts;
  for (const Reference& each : kReferences) {
    const auto units = [](const Bound& bound) {
      if (bound.relative != 0) return "2^" + std::to_string(std::ilogb(bound.relative));
      if (bound.ulps == 0) return std::string("exact");
      std::ostringstream text;
      text << static_cast<double>(bound.ulps);
      return text.str();
    };
    std::string bound = units(each.f64);
    if (units(each.f32) != bound || units(each.narrow) != bound) {
      bound += ", " + units(each.f32) + ", " + units(each.narrow);
    }
    contracts.push_back({ops::info(each.op).root, each.formula,
                         bound == "exact" ? "" : kFloatsIn, bound, each.special,
                         each.notes});
  }
  return contracts;
}

}  // namespace kiln::conformance
