// The arithmetics that a row of a table can compute in: a number type and the precision of its
// functions.
//
//   Double         f64, the vendor's accurate functions
//   Single         f32, accurate functions, the vendor's or those of functions.cuh
//   Short          f32, for storage of at most 11 significant bits (f16, f8). Relative errors of up
//                  to 2^-16 are allowed, a thirty-second of f16's last place, so exp and tanh may
//                  use the hardware's approximations. Quotients and roots are as precise as it
//                  takes to round them correctly. Everything else is as in Single.
//   ShortAndLarge  Short for bf16, whose numbers may be large
//   Wrap<T>        integers modulo 2^n
//
// sigmoid(x) is 1 / (1 + exp(-x)). gelu_weight is the normal distribution function, in the fastest
// form that is precise enough for an elementwise kernel.
//
// A functor takes one of these as `M`, computes in M::Number and calls M::exp(x) and the like. It
// never names a vendor's function.
#pragma once

#include "device/functions.cuh"
#include "device/platform.cuh"
#include "device/root.cuh"

namespace kiln::device {

template <class T>
struct Wrap {
  using Number = T;
  // Computed in u64, in which no product overflows and nothing is promoted to int.
  KILN_DEVICE static T fma(T a, T b, T c) {
    return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b) + static_cast<u64>(c));
  }
  KILN_DEVICE static T add(T a, T b) { return fma(a, 1, b); }
  KILN_DEVICE static T subtract(T a, T b) {
    return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(b));
  }
  KILN_DEVICE static T multiply(T a, T b) { return fma(a, b, 0); }
  // Division by zero gives an unspecified number; the least number divided by -1 gives itself.
  // There are no branches, because compilers would wait for b before they load a.
  KILN_DEVICE static T divide(T a, T b) {
    if constexpr (sizeof(T) == 1 && static_cast<T>(-1) > 0) {
      // (a + 1/2) / b is further from any whole number than the rounding error.
      const f32 inverse = reciprocal_approximate(b == 0 ? 1.0f : static_cast<f32>(b));
      return static_cast<T>(static_cast<u32>((static_cast<f32>(a) + 0.5f) * inverse));
    } else if constexpr (static_cast<T>(-1) < 0) {
      const T quotient = a / (b == 0 || b == -1 ? 1 : b);
      return b == -1 ? subtract(0, a) : quotient;
    } else {
      return a / (b == 0 ? 1 : b);
    }
  }
};

template <class T>
struct Real {
  using Number = T;
  KILN_DEVICE static T fma(T a, T b, T c) { return math::fma(a, b, c); }
  KILN_DEVICE static T add(T a, T b) { return a + b; }
  KILN_DEVICE static T subtract(T a, T b) { return a - b; }
  KILN_DEVICE static T multiply(T a, T b) { return a * b; }
  KILN_DEVICE static T divide(T a, T b) { return a / b; }
  KILN_DEVICE static T abs(T x) { return math::abs(x); }
  KILN_DEVICE static T sqrt(T x) { return math::sqrt(x); }
  KILN_DEVICE static T ceil(T x) { return math::ceil(x); }
  KILN_DEVICE static T floor(T x) { return math::floor(x); }
  KILN_DEVICE static T round(T x) { return math::round(x); }
  KILN_DEVICE static T exp(T x) { return math::exp(x); }
  KILN_DEVICE static T expm1(T x) { return math::expm1(x); }
  KILN_DEVICE static T log(T x) { return math::log(x); }
  KILN_DEVICE static T sin(T x) { return math::sin(x); }
  KILN_DEVICE static T cos(T x) { return math::cos(x); }
  KILN_DEVICE static T tanh(T x) { return math::tanh(x); }
  KILN_DEVICE static T erf(T x) { return math::erf(x); }
  KILN_DEVICE static T normal_cdf(T x) { return math::normal_cdf(x); }
};

struct Double : Real<f64> {
  // Uses an exponential that never overflows.
  KILN_DEVICE static f64 sigmoid(f64 x) {
    const f64 e = exp(-abs(x));
    return (x < 0 ? e : 1) / (1 + e);
  }
  KILN_DEVICE static f64 gelu_weight(f64 x) { return math::normal_cdf(x); }
  KILN_DEVICE static f64 sqrt(f64 x) { return square_root(x); }
  KILN_DEVICE static f64 pow(f64 x, f64 y) { return math::pow(x, y); }
};

struct Single : Real<f32> {
  KILN_DEVICE static f32 sigmoid(f32 x) {
    const f32 e = exp(-abs(x));
    return quotient_by_one_to_two(x < 0 ? e : 1, 1 + e);
  }
  KILN_DEVICE static f32 gelu_weight(f32 x) { return device::normal_cdf(x); }
  KILN_DEVICE static f32 pow(f32 x, f32 y) {
    f32 result;
    return usual_power(x, y, result) ? result : math::pow(x, y);
  }
};

struct Short : Single {
  KILN_DEVICE static f32 divide(f32 a, f32 b) { return quotient_of_short(a, b); }
  KILN_DEVICE static f32 sqrt(f32 x) { return root_of_short(x); }
  KILN_DEVICE static f32 exp(f32 x) {
    const f32 half = exp2_approximate(x * 0x1.715476p-1f);
    return half * half;  // reaches the subnormal results that one 2^x would flush to zero
  }
  // Scaled by 2^-24, so that exp(-x) does not overflow before the result underflows.
  KILN_DEVICE static f32 sigmoid(f32 x) {
    const f32 e = exp2_approximate(fma(x, -0x1.715476p+0f, -24.0f));
    return reciprocal_approximate(e + 0x1p-24f) * 0x1p-24f;
  }
  KILN_DEVICE static f32 pow(f32 x, f32 y) {
    f32 result;
    return usual_power(x, y, result) ? result : unusual_power(x, y);
  }
  KILN_DEVICE static f32 sin(f32 x) { return sine_of_short(x); }
  KILN_DEVICE static f32 cos(f32 x) { return cosine_of_short(x); }
  // 1 - 2 / (exp(2 x) + 1). Near zero, where this cancels, an odd polynomial of degree 5.
  KILN_DEVICE static f32 tanh(f32 x) {
    const f32 e = exp2_approximate(x * 0x1.715476p+1f);
    const f32 far = fma(-2.0f, reciprocal_approximate(e + 1.0f), 1.0f);
    const f32 square = x * x;
    const f32 near = x * fma(square, fma(square, 0x1.111112p-3f, -0x1.555556p-2f), 1.0f);
    return abs(x) < 0.125f ? near : far;
  }
};

struct ShortAndLarge : Short {
  // A quotient or root of numbers of 8 significant bits is further than 2^-19 of it from the
  // midpoint of two results, or is that midpoint, which only subnormal quotients can be. Tested on
  // an H200: all quotients and roots round as the exact ones.
  KILN_DEVICE static f32 divide(f32 a, f32 b) { return math::quotient_approximate(a, b); }
  KILN_DEVICE static f32 sqrt(f32 x) { return math::sqrt_approximate(x); }
  KILN_DEVICE static bool is_large(f32 x) { return abs(x) > 0x1p16f; }
  KILN_DEVICE static f32 sin(f32 x) {
    f32 result = sine_of_short(x);
    if (!likely(!is_large(x))) result = sine_of_large(x, 0);
    return result;
  }
  KILN_DEVICE static f32 cos(f32 x) {
    f32 result = cosine_of_short(x);
    if (!likely(!is_large(x))) result = sine_of_large(x, 1);
    return result;
  }
};

template <class T>
struct ArithmeticOf {
  using Type = Wrap<T>;
};
template <>
struct ArithmeticOf<f64> {
  using Type = Double;
};
template <>
struct ArithmeticOf<f32> {
  using Type = Single;
};
template <>
struct ArithmeticOf<f16> {
  using Type = Short;
};
template <>
struct ArithmeticOf<bf16> {
  using Type = ShortAndLarge;
};
template <>
struct ArithmeticOf<f8_e4m3> {
  using Type = Short;
};
template <class T>
using Arithmetic = typename ArithmeticOf<T>::Type;

}  // namespace kiln::device
