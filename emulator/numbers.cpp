#include "emulator/numbers.hpp"

#include <array>

namespace kiln::emulator {
namespace {

// The fraction bits of 2/pi, most significant first: 1216 bits, followed by zeros as padding.
constexpr std::array<u64, 21> kTwoOverPi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

template <typename T>
struct Format;
template <>
struct Format<float> {
  static constexpr int kScale = 64, kFarApart = 96, kTiny = 23, kMaxExponent = 254, kBias = 127;
  static constexpr int kUnderflow = -150;
  static float default_nan() { return float_of(0xffc00000); }
};
template <>
struct Format<double> {
  static constexpr int kScale = 128, kFarApart = 768, kTiny = 53, kMaxExponent = 2046, kBias = 1023;
  static constexpr int kUnderflow = -1075;
  static double default_nan() { return double_of(0xfff8000000000000); }
};

template <typename T>
bool is_subnormal(T x) {
  return biased_exponent(x) == 0 && x != 0;
}

template <typename T>
T scale(T value, T denominator, T numerator, bool& scaled) {
  using F = Format<T>;
  scaled = false;
  if (numerator == 0 || denominator == 0) return std::numeric_limits<T>::quiet_NaN();
  const T quotient = numerator / denominator;
  const bool quotient_underflows = is_subnormal(quotient) || quotient == 0;
  const int exponent = biased_exponent(denominator);
  const bool reciprocal_underflows = exponent >= F::kMaxExponent - 1 && exponent <= F::kMaxExponent;
  if (biased_exponent(numerator) - exponent >= F::kFarApart) {
    scaled = true;
    return value == denominator ? std::ldexp(value, F::kScale) : value;
  }
  if (is_subnormal(denominator)) return std::ldexp(value, F::kScale);
  if (reciprocal_underflows && quotient_underflows) {
    scaled = true;
    return value == denominator ? std::ldexp(value, -F::kScale) : value;
  }
  if (reciprocal_underflows) return std::ldexp(value, -F::kScale);
  if (quotient_underflows) {
    scaled = true;
    return value == numerator ? std::ldexp(value, F::kScale) : value;
  }
  if (biased_exponent(numerator) <= F::kTiny) return std::ldexp(value, F::kScale);
  return value;
}

template <typename T>
T fixup(T quotient, T denominator, T numerator) {
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  const T infinity = std::numeric_limits<T>::infinity();
  if (numerator != numerator) return quiet(numerator);
  if (denominator != denominator) return quiet(denominator);
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator))) {
    return Format<T>::default_nan();
  }
  if (denominator == 0 || std::isinf(numerator)) return negative ? -infinity : infinity;
  if (std::isinf(denominator) || numerator == 0) return negative ? T(-0.0) : T(0.0);
  if (biased_exponent(numerator) - biased_exponent(denominator) < Format<T>::kUnderflow) {
    return negative ? T(-0.0) : T(0.0);
  }
  if (quotient != quotient) return negative ? -infinity : infinity;
  return negative ? -std::fabs(quotient) : std::fabs(quotient);
}

// Exponent of the power of two that v_div_fmas multiplies by.
template <typename T>
int rescale(T c) {
  return biased_exponent(c) > Format<T>::kBias ? Format<T>::kScale : -Format<T>::kScale;
}

// The sine of `turns` plus `quarters` quarters of a turn.
double sine_of_quarters(double turns, int quarters) {
  constexpr double kTwoPi = 6.283185307179586476925;
  if (!std::isfinite(turns)) return std::numeric_limits<double>::quiet_NaN();
  const double part = turns - std::nearbyint(turns);
  const double quarter = std::nearbyint(4 * part);
  const double angle = kTwoPi * (part - quarter / 4);
  const double sine =
      (static_cast<int>(quarter) + quarters) % 2 != 0 ? std::cos(angle) : std::sin(angle);
  const bool negative = ((static_cast<int>(quarter) + quarters) & 2) != 0;
  return (negative ? -sine : sine) + 0.0;  // no -0
}

template <typename T>
FloatClass class_of_number(T x) {
  const bool negative = std::signbit(x);
  if (x != x) return is_signalling(x) ? kSignallingNaN : kQuietNaN;
  if (std::isinf(x)) return negative ? kNegativeInfinity : kPositiveInfinity;
  if (x == 0) return negative ? kNegativeZero : kPositiveZero;
  if (biased_exponent(x) == 0) return negative ? kNegativeSubnormal : kPositiveSubnormal;
  return negative ? kNegativeNormal : kPositiveNormal;
}

}  // namespace

u32 double_to_half(double x) {
  const float rounded = static_cast<float>(x);
  if (x != x || static_cast<double>(rounded) == x || std::isinf(rounded)) {
    return float_to_half(rounded);
  }
  u32 bits = bits_of(rounded);
  if ((bits & 1) == 0) {
    if (std::fabs(static_cast<double>(rounded)) > std::fabs(x)) {
      bits -= 1;
    } else {
      bits |= 1;
    }
  }
  return float_to_half(float_of(bits));
}

float div_scale(float value, float denominator, float numerator, bool& scaled) {
  return scale(value, denominator, numerator, scaled);
}
double div_scale(double value, double denominator, double numerator, bool& scaled) {
  return scale(value, denominator, numerator, scaled);
}

float div_fmas(float a, float b, float c, bool scaled) {
  const float sum = std::fma(a, b, c);
  if (!scaled || !std::isfinite(sum)) return sum;
  // The scaling precedes the rounding, which matters for a subnormal result.
  const double wide = std::fma(static_cast<double>(a), static_cast<double>(b), double{c});
  return static_cast<float>(std::ldexp(wide, rescale(c)));
}
double div_fmas(double a, double b, double c, bool scaled) {
  const double sum = std::fma(a, b, c);
  if (!scaled || !std::isfinite(sum)) return sum;
  __extension__ using Wide = __float128;
  const Wide wide = static_cast<Wide>(a) * static_cast<Wide>(b) + static_cast<Wide>(c);
  return static_cast<double>(wide * static_cast<Wide>(std::ldexp(1.0, rescale(c))));
}

float div_fixup(float quotient, float denominator, float numerator) {
  return fixup(quotient, denominator, numerator);
}
double div_fixup(double quotient, double denominator, double numerator) {
  return fixup(quotient, denominator, numerator);
}
float div_fixup_half(float quotient, float denominator, float numerator) {
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  if (numerator != numerator) return numerator;
  if (denominator != denominator) return denominator;
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator))) {
    return kNaN;
  }
  if (denominator == 0 || std::isinf(numerator)) return negative ? -kInfinity : kInfinity;
  if (std::isinf(denominator) || numerator == 0) return negative ? -0.f : 0.f;
  return negative ? -std::fabs(quotient) : std::fabs(quotient);
}

double sine_of_turns(double turns) { return turns == 0 ? turns : sine_of_quarters(turns, 0); }
double cosine_of_turns(double turns) { return sine_of_quarters(turns, 1); }

double trig_preop(double x, u32 segment) {
  constexpr int kBits = 1201;
  const int exponent = biased_exponent(x);
  int shift = static_cast<int>(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  u64 bits = 0;
  for (int i = 0; i < 53; ++i) {
    const int position = shift + i;
    const u64 word = position < kBits ? kTwoOverPi[static_cast<std::size_t>(position) / 64] : 0;
    bits = bits << 1 | (word >> (63 - position % 64) & 1);
  }
  return std::ldexp(static_cast<double>(bits), -53 - shift + (exponent >= 1968 ? 128 : 0));
}

FloatClass class_of(float x) { return class_of_number(x); }
FloatClass class_of(double x) { return class_of_number(x); }
FloatClass class_of_half(u32 half) {
  const bool negative = (half & 0x8000) != 0;
  const u32 exponent = half >> 10 & 31;
  const u32 fraction = half & 1023;
  if (exponent == 31 && fraction != 0) return (fraction & 512) != 0 ? kQuietNaN : kSignallingNaN;
  if (exponent == 31) return negative ? kNegativeInfinity : kPositiveInfinity;
  if (exponent == 0 && fraction == 0) return negative ? kNegativeZero : kPositiveZero;
  if (exponent == 0) return negative ? kNegativeSubnormal : kPositiveSubnormal;
  return negative ? kNegativeNormal : kPositiveNormal;
}

}  // namespace kiln::emulator
