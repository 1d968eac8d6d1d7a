#include "number_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace kiln::conformance {
namespace {

// Elements are stored as on the device, little-endian, which this machine must be as well.
template <typename To, typename From>
To reinterpret(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

Bits sign_bit(DType dtype) { return Bits{1} << (8 * size_of(dtype) - 1); }

struct FloatFormat {
  DType dtype;
  int mantissa_bits, bias;
  // Formats without infinities have a single NaN, the last number, and overflow to the largest
  // value.
  bool has_infinities;
};
constexpr FloatFormat kFloatFormats[] = {
    {DType::kF64, 52, 1023, true}, {DType::kF32, 23, 127, true},  {DType::kF16, 10, 15, true},
    {DType::kBF16, 7, 127, true},  {DType::kF8E4M3, 3, 7, false},
};
constexpr const FloatFormat* find_format(DType dtype) {
  for (const FloatFormat& each : kFloatFormats) {
    if (each.dtype == dtype) return &each;
  }
  return nullptr;
}
static_assert(
    [] {
      for (const ops::DTypeInfo& each : ops::kDTypes) {
        if (is_float(each.dtype) && find_format(each.dtype) == nullptr) return false;
      }
      return true;
    }(),
    "each float of kDTypes has a row in kFloatFormats");

// Indexed by the type. The entry of an integer type is empty.
constexpr auto kFormats = [] {
  std::array<FloatFormat, std::size(ops::kDTypes)> formats{};
  for (const FloatFormat& each : kFloatFormats) {
    formats[static_cast<std::size_t>(each.dtype)] = each;
  }
  return formats;
}();
constexpr const FloatFormat& format_of(DType dtype) {
  return kFormats[static_cast<std::size_t>(dtype)];
}

// 2^exponent for the exponents of floats of at most 16 bits. std::ldexp takes ten times as long.
constexpr int kMaxExponent = 160, kMinExponent = -kMaxExponent;
constexpr auto kPowers = [] {
  std::array<Real, kMaxExponent - kMinExponent + 1> powers{};
  Real up = 1, down = 1;
  for (int i = 0; i <= kMaxExponent; ++i, up *= 2, down /= 2) {
    powers[static_cast<std::size_t>(i - kMinExponent)] = up;
    powers[static_cast<std::size_t>(-i - kMinExponent)] = down;
  }
  return powers;
}();
constexpr Real power_of_two(int exponent) {
  return kPowers[static_cast<std::size_t>(exponent - kMinExponent)];
}

// Decodes a non-negative number of a float of at most 16 bits, with the formula of its
// specification.
Real decode_small(DType dtype, Bits magnitude) {
  const FloatFormat& format = format_of(dtype);
  const auto last = static_cast<Bits>(max_ordinal(dtype));
  if (magnitude > last) return kNan;
  if (magnitude == last && format.has_infinities) return kInfinity;
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const Bits fraction = magnitude & ((Bits{1} << format.mantissa_bits) - 1);
  if (exponent == 0) {
    return static_cast<Real>(fraction) * power_of_two(1 - format.bias - format.mantissa_bits);
  }
  const Bits significand = fraction | (Bits{1} << format.mantissa_bits);
  return static_cast<Real>(significand) *
         power_of_two(exponent - format.bias - format.mantissa_bits);
}

// Rounds a small number to an integer, ties to even. From `whole` on, every number is an integer.
Bits rounded(Real value) {
  constexpr Real whole = 1 / std::numeric_limits<Real>::epsilon();
  return static_cast<Bits>((value + whole) - whole);
}

// Counts in steps of the number's binade. The lowest binade is that of the subnormals as well.
Bits encode_small(DType dtype, Real value) {
  const FloatFormat& format = format_of(dtype);
  const Bits sign = std::signbit(value) ? sign_bit(dtype) : 0;
  if (std::isnan(value)) return sign_bit(dtype) - 1;  // a quiet NaN in each of them
  const Real magnitude = std::fabs(value);
  const auto last = static_cast<Bits>(max_ordinal(dtype));
  if (magnitude >= power_of_two(format.bias + 2)) return sign | last;
  // The conversion to double may round up to the next binade, to which the number rounds as well.
  const Bits bits = reinterpret<Bits>(static_cast<double>(magnitude));
  const int lowest = 1 - format.bias;
  const int exponent = std::max(static_cast<int>(bits >> 52) - 1023, lowest);
  const Bits steps = rounded(magnitude * power_of_two(format.mantissa_bits - exponent));
  const Bits before = static_cast<Bits>(exponent - lowest) << format.mantissa_bits;
  return sign | std::min(before + steps, last);
}

}  // namespace

Bits load(DType dtype, const std::byte* element) {
  const auto read = [element](auto bits) -> Bits {
    std::memcpy(&bits, element, sizeof bits);
    return bits;
  };
  switch (size_of(dtype)) {
    case 1: return read(std::uint8_t{});
    case 2: return read(std::uint16_t{});
    case 4: return read(std::uint32_t{});
    default: return read(std::uint64_t{});
  }
}

void store(DType dtype, Bits bits, std::byte* element) {
  switch (size_of(dtype)) {
    case 1: std::memcpy(element, &bits, 1); break;
    case 2: std::memcpy(element, &bits, 2); break;
    case 4: std::memcpy(element, &bits, 4); break;
    default: std::memcpy(element, &bits, 8);
  }
}

std::vector<std::byte> bytes_of(DType dtype, const std::vector<Bits>& values) {
  std::vector<std::byte> content(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store(dtype, values[i], &content[i * size_of(dtype)]);
  }
  return content;
}

Real decode(DType dtype, Bits bits) {
  if (dtype == DType::kF64) return static_cast<Real>(reinterpret<double>(bits));
  if (dtype == DType::kF32) {
    return static_cast<Real>(reinterpret<float>(static_cast<std::uint32_t>(bits)));
  }
  const Bits sign = sign_bit(dtype);
  const Real magnitude = decode_small(dtype, bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

Bits encode(DType dtype, Real value) {
  if (dtype == DType::kF64) return reinterpret<Bits>(static_cast<double>(value));
  if (dtype == DType::kF32) return reinterpret<std::uint32_t>(static_cast<float>(value));
  return encode_small(dtype, value);
}

bool is_nan(DType dtype, Bits bits) {
  const Bits magnitude = bits & (sign_bit(dtype) - 1);
  return magnitude > static_cast<Bits>(max_ordinal(dtype));
}

bool has_signalling_nans(DType dtype) { return format_of(dtype).has_infinities; }

bool is_signalling_nan(DType dtype, Bits bits) {
  const Bits first_of_mantissa = min_normal(dtype) >> 1;
  return has_signalling_nans(dtype) && is_nan(dtype, bits) && (bits & first_of_mantissa) == 0;
}

bool is_negative(DType dtype, Bits bits) { return (bits & sign_bit(dtype)) != 0; }

Bits min_normal(DType dtype) { return Bits{1} << format_of(dtype).mantissa_bits; }

std::int64_t max_ordinal(DType dtype) {
  const Bits ones = sign_bit(dtype) - 1;
  return static_cast<std::int64_t>(format_of(dtype).has_infinities ? ones - (min_normal(dtype) - 1)
                                                                   : ones - 1);
}

std::int64_t ordinal(DType dtype, Bits bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & (sign_bit(dtype) - 1));
  return is_negative(dtype, bits) ? -magnitude : magnitude;
}

Bits from_ordinal(DType dtype, std::int64_t position) {
  const std::int64_t last = max_ordinal(dtype);
  position = std::clamp(position, -last, last);
  return position < 0 ? sign_bit(dtype) | static_cast<Bits>(-position)
                      : static_cast<Bits>(position);
}

double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double b_seen = sum - a;
  const double error = (a - (sum - b_seen)) + (b - b_seen);  // the exact rounding error (Knuth)
  if (error == 0 || reinterpret<Bits>(sum) % 2 != 0) return sum;
  return std::nextafter(sum, error > 0 ? std::numeric_limits<double>::infinity()
                                       : -std::numeric_limits<double>::infinity());
}

std::string show(DType dtype, Bits bits) {
  char text[64];
  if (is_float(dtype)) {
    std::snprintf(text, sizeof text, "0x%0*llx (%.17Lg)", static_cast<int>(2 * size_of(dtype)),
                  static_cast<unsigned long long>(bits), decode(dtype, bits));
  } else {
    std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * size_of(dtype)),
                  static_cast<unsigned long long>(bits));
  }
  return text;
}

}  // namespace kiln::conformance
