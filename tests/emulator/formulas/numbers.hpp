// Numbers for formulas: integers and floats that are wide enough to be exact, and one rounding at
// the end. Shares nothing with the emulator.
#pragma once

#include <cstdint>

namespace kiln::formulas {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
__extension__ using Real = __float128;  // 113 bits: the product of two doubles is exact

// A binary format of IEEE 754, or bfloat16.
struct Format {
  int bits;
  int fraction;

  constexpr int exponent_bits() const { return bits - 1 - fraction; }
  constexpr int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
  constexpr u64 sign() const { return u64{1} << (bits - 1); }
  constexpr u64 quiet_bit() const { return u64{1} << (fraction - 1); }
  constexpr u64 infinity() const { return ((u64{1} << exponent_bits()) - 1) << fraction; }
  constexpr u64 nan() const { return infinity() | quiet_bit(); }
  constexpr u64 one() const { return static_cast<u64>(bias()) << fraction; }
  constexpr bool is_nan(u64 raw) const { return (raw & (sign() - 1)) > infinity(); }
  constexpr bool is_signalling(u64 raw) const { return is_nan(raw) && (raw & quiet_bit()) == 0; }
  constexpr bool is_infinite(u64 raw) const { return (raw & (sign() - 1)) == infinity(); }
  constexpr bool is_subnormal(u64 raw) const {
    return (raw & (sign() - 1)) != 0 && (raw & infinity()) == 0;
  }
  constexpr bool is_zero(u64 raw) const { return (raw & (sign() - 1)) == 0; }
  constexpr bool is_negative(u64 raw) const { return (raw & sign()) != 0; }
};
inline constexpr Format kHalf{16, 10};
inline constexpr Format kBfloat{16, 7};
inline constexpr Format kSingle{32, 23};
inline constexpr Format kDouble{64, 52};

enum class Rounding : u8 { kNearestEven, kTowardZero };

Real real_of(u64 raw, const Format& format);
u64 round_to(Real x, const Format& format, Rounding rounding = Rounding::kNearestEven);

// Two to the power of `exponent`, which is from -16382 to 16383.
Real power_of_two(int exponent);
bool is_nan(Real x);
bool is_infinite(Real x);
bool is_negative(Real x);  // true for -0
Real magnitude(Real x);
// The sum of two products or numbers. A remainder that does not fit into 113 bits is recorded by an
// odd last bit, so that rounding to any format gives the same result as from the exact sum.
Real sum(Real a, Real b);
// Round to an integer. For magnitudes below 2^112; larger numbers are integers already.
Real truncated(Real x);
Real floored(Real x);
Real to_nearest_even(Real x);
// Converts a float to an integer: NaN becomes 0, and values outside of the range become its nearer
// end.
Wide to_integer(Real x, Wide lowest, Wide highest);

u64 low_bits(Wide x, int bits);
Wide sign_extended(u64 x, int bits);
// Pseudo-random numbers, the same in each run.
u64 next_random(u64& state);

}  // namespace kiln::formulas
