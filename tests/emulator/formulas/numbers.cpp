#include "tests/emulator/formulas/numbers.hpp"

#include <bit>

namespace kiln::formulas {
namespace {

// binary128: a sign, 15 bits of exponent, 112 of fraction.
constexpr int kFraction = 112;
constexpr int kBias = 16383;

UnsignedWide bits_of(Real x) { return std::bit_cast<UnsignedWide>(x); }
Real from_bits(UnsignedWide bits) { return std::bit_cast<Real>(bits); }
int exponent_of(Real x) { return static_cast<int>(bits_of(x) >> kFraction & 0x7fff); }
UnsignedWide fraction_of(Real x) { return bits_of(x) & ((UnsignedWide{1} << kFraction) - 1); }

}  // namespace

Real power_of_two(int exponent) {
  return from_bits(static_cast<UnsignedWide>(exponent + kBias) << kFraction);
}
bool is_nan(Real x) { return exponent_of(x) == 0x7fff && fraction_of(x) != 0; }
bool is_infinite(Real x) { return exponent_of(x) == 0x7fff && fraction_of(x) == 0; }
bool is_negative(Real x) { return bits_of(x) >> 127 != 0; }
Real magnitude(Real x) { return is_negative(x) ? -x : x; }

Real real_of(u64 raw, const Format& format) {
  const u64 fraction = raw & ((u64{1} << format.fraction) - 1);
  const int exponent = static_cast<int>((raw & (format.sign() - 1)) >> format.fraction);
  Real x = 0;
  if (format.is_nan(raw)) {
    x = from_bits(UnsignedWide{0xffff} << (kFraction - 1));
  } else if (format.is_infinite(raw)) {
    x = from_bits(UnsignedWide{0x7fff} << kFraction);
  } else if (exponent == 0) {
    x = static_cast<Real>(fraction) * power_of_two(1 - format.bias() - format.fraction);
  } else {
    x = static_cast<Real>(fraction + (u64{1} << format.fraction)) *
        power_of_two(exponent - format.bias() - format.fraction);
  }
  return format.is_negative(raw) ? -x : x;
}

u64 round_to(Real x, const Format& format, Rounding rounding) {
  const u64 sign = is_negative(x) ? format.sign() : 0;
  if (is_nan(x)) return format.nan();
  if (is_infinite(x)) return sign | format.infinity();
  if (x == 0) return sign;
  const int exponent = exponent_of(x) - kBias;  // no number here is subnormal in 128 bits
  if (exponent > format.bias())
    return sign | (rounding == Rounding::kTowardZero ? format.infinity() - 1 : format.infinity());
  const UnsignedWide significand = fraction_of(x) | UnsignedWide{1} << kFraction;
  const int lowest = 1 - format.bias();
  // Number of low bits of the significand that do not fit into the format.
  int dropped = kFraction - format.fraction;
  if (exponent < lowest) dropped += lowest - exponent;
  if (dropped > kFraction + 2) dropped = kFraction + 2;  // less than half of the smallest value
  u64 kept = static_cast<u64>(significand >> dropped);
  const UnsignedWide rest = significand & ((UnsignedWide{1} << dropped) - 1);
  const UnsignedWide half = UnsignedWide{1} << (dropped - 1);
  const bool up = rest > half || (rest == half && kept % 2 != 0);
  if (rounding == Rounding::kNearestEven && up) ++kept;
  // A carry out of the fraction increments the exponent.
  const u64 base =
      exponent < lowest ? 0 : static_cast<u64>(exponent + format.bias() - 1) << format.fraction;
  const u64 result = base + kept;
  if (result < format.infinity()) return sign | result;
  return sign | (rounding == Rounding::kTowardZero ? format.infinity() - 1 : format.infinity());
}

Real sum(Real a, Real b) {
  const Real s = a + b;
  if (is_nan(s) || is_infinite(s) || s == 0) return s;
  // The exact rounding error of the sum.
  const Real b_part = s - a;
  const Real error = (a - (s - b_part)) + (b - b_part);
  if (error == 0 || bits_of(s) % 2 != 0) return s;
  const bool outward = is_negative(error) == is_negative(s);
  return from_bits(outward ? bits_of(s) + 1 : bits_of(s) - 1);
}

Real truncated(Real x) {
  const int exponent = exponent_of(x) - kBias;
  if (exponent >= kFraction) return x;
  if (exponent < 0) return is_negative(x) ? -Real{0} : Real{0};
  const UnsignedWide below = (UnsignedWide{1} << (kFraction - exponent)) - 1;
  return from_bits(bits_of(x) & ~below);
}
Real floored(Real x) {
  const Real whole = truncated(x);
  return whole > x ? whole - 1 : whole;
}
Real to_nearest_even(Real x) {
  const Real below = truncated(magnitude(x));
  const Real rest = magnitude(x) - below;
  Real result = below;
  if (rest > Real{0.5} || (rest == Real{0.5} && truncated(below / 2) * 2 != below)) result += 1;
  if (is_nan(x) || is_infinite(x)) result = magnitude(x);
  return is_negative(x) ? -result : result;
}
Wide to_integer(Real x, Wide lowest, Wide highest) {
  if (is_nan(x)) return 0;
  if (x <= static_cast<Real>(lowest)) return lowest;
  if (x >= static_cast<Real>(highest)) return highest;
  return static_cast<Wide>(x);
}

u64 low_bits(Wide x, int bits) {
  return bits == 64 ? static_cast<u64>(x) : static_cast<u64>(x) & ((u64{1} << bits) - 1);
}
Wide sign_extended(u64 x, int bits) {
  const Wide value = static_cast<Wide>(low_bits(static_cast<Wide>(x), bits));
  return value >= Wide{1} << (bits - 1) ? value - (Wide{1} << bits) : value;
}
u64 next_random(u64& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  const u64 mixed = (state ^ state >> 31) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 29;
}

}  // namespace kiln::formulas
