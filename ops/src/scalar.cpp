#include "kiln/ops/scalar.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace kiln::ops {
namespace {

// A float format of at most 32 bits: the widths of its fields, and what values beyond its largest
// become.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  enum Overflow { kToInfinity, kSaturate } overflow;
};
constexpr SmallFloat kHalf{5, 10, SmallFloat::kToInfinity};
constexpr SmallFloat kBrain{8, 7, SmallFloat::kToInfinity};
constexpr SmallFloat kE4M3{4, 3, SmallFloat::kSaturate};

// Rounds `value` once, to nearest even. Handles subnormals.
std::uint64_t encode(const SmallFloat& format, double value) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int width = 1 + format.exponent_bits + format.mantissa_bits;
  const std::uint64_t sign = std::uint64_t{std::signbit(value)} << (width - 1);
  const std::uint64_t ones = (std::uint64_t{1} << (width - 1)) - 1;  // all but the sign
  const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1)
                                 << format.mantissa_bits;
  // The largest finite value: just below infinity, or in formats without infinities, just below the
  // one NaN.
  const std::uint64_t largest = format.overflow == SmallFloat::kSaturate ? ones - 1 : infinity - 1;
  if (std::isnan(value)) return sign | ones;

  const double magnitude = std::fabs(value);
  std::uint64_t bits;
  if (std::isinf(magnitude)) {
    bits = largest + 1;
  } else {
    // In units of the last place, a carry of the rounding moves into the exponent by itself.
    int exponent = magnitude == 0 ? 1 - bias : std::ilogb(magnitude);
    if (exponent < 1 - bias) exponent = 1 - bias;
    if (exponent > bias + 1) {
      bits = largest + 1;
    } else {
      const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
      bits = (static_cast<std::uint64_t>(exponent + bias - 1) << format.mantissa_bits) +
             static_cast<std::uint64_t>(units);
    }
  }
  if (bits > largest) bits = format.overflow == SmallFloat::kSaturate ? largest : infinity;
  return sign | bits;
}

double decode(const SmallFloat& format, std::uint64_t bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t mantissa_mask = (std::uint64_t{1} << format.mantissa_bits) - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << format.exponent_bits) - 1;
  const std::uint64_t mantissa = bits & mantissa_mask;
  const std::uint64_t exponent = bits >> format.mantissa_bits & exponent_mask;
  const bool negative = (bits >> (format.exponent_bits + format.mantissa_bits) & 1) != 0;
  double magnitude;
  if (exponent == exponent_mask && format.overflow == SmallFloat::kToInfinity) {
    magnitude = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == exponent_mask && mantissa == mantissa_mask) {
    magnitude = std::nan("");
  } else {
    const std::uint64_t units = exponent == 0 ? mantissa : mantissa | (mantissa_mask + 1);
    const int scale = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias;
    magnitude = std::ldexp(static_cast<double>(units), scale - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

// Rounds toward zero, clamps to the range, and turns NaN into 0, like Rust's `as`.
template <typename Integer>
std::uint64_t truncate(double value) {
  using Limits = std::numeric_limits<Integer>;
  Integer result = 0;
  if (value >= std::ldexp(1.0, Limits::digits)) {
    result = Limits::max();
  } else if (value <= static_cast<double>(Limits::min())) {
    result = Limits::min();
  } else if (!std::isnan(value)) {
    result = static_cast<Integer>(value);
  }
  return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Integer>>(result));
}

template <typename Float, typename Bits>
std::uint64_t bits_of(Float value) {
  Bits bits;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <typename T>
double number_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);  // little-endian hosts
  return static_cast<double>(value);
}

}  // namespace

double Scalar::value() const {
  switch (dtype) {
    case DType::kU8: return number_of<std::uint8_t>(bits);
    case DType::kU32: return number_of<std::uint32_t>(bits);
    case DType::kI16: return number_of<std::int16_t>(bits);
    case DType::kI32: return number_of<std::int32_t>(bits);
    case DType::kI64: return number_of<std::int64_t>(bits);
    case DType::kF16: return decode(kHalf, bits);
    case DType::kBF16: return decode(kBrain, bits);
    case DType::kF32: return number_of<float>(bits);
    case DType::kF64: return number_of<double>(bits);
    case DType::kF8E4M3: return decode(kE4M3, bits);
  }
  return 0;
}

Scalar Scalar::from(DType dtype, double value) {
  switch (dtype) {
    case DType::kU8:
      return {dtype, truncate<std::uint8_t>(value)};
    case DType::kU32:
      return {dtype, truncate<std::uint32_t>(value)};
    case DType::kI16:
      return {dtype, truncate<std::int16_t>(value)};
    case DType::kI32:
      return {dtype, truncate<std::int32_t>(value)};
    case DType::kI64:
      return {dtype, truncate<std::int64_t>(value)};
    case DType::kF16:
      return {dtype, encode(kHalf, value)};
    case DType::kBF16:
      return {dtype, encode(kBrain, value)};
    case DType::kF32:
      return {dtype, bits_of<float, std::uint32_t>(static_cast<float>(value))};
    case DType::kF64:
      return {dtype, bits_of<double, std::uint64_t>(value)};
    case DType::kF8E4M3:
      return {dtype, encode(kE4M3, static_cast<double>(static_cast<float>(value)))};
  }
  return {dtype, 0};
}

}  // namespace kiln::ops
