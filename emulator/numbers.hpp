// The arithmetic of instructions: bit patterns and values, half precision, and rules for NaNs,
// saturation and shifts that C++ leaves open.
//
// All operations round to nearest even and keep subnormals. Compile with -ffp-contract=off.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kiln::emulator {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline u32 bits_of(float x) { return std::bit_cast<u32>(x); }
inline u64 bits_of(double x) { return std::bit_cast<u64>(x); }
inline float float_of(u32 x) { return std::bit_cast<float>(x); }
inline double double_of(u64 x) { return std::bit_cast<double>(x); }
inline u64 combine(u32 low, u32 high) { return low | static_cast<u64>(high) << 32; }
inline u32 low_half(u64 x) { return static_cast<u32>(x); }
inline u32 high_half(u64 x) { return static_cast<u32>(x >> 32); }

// ---- half precision and bfloat16

inline float half_to_float(u32 half) { return _cvtsh_ss(static_cast<u16>(half)); }
inline u32 float_to_half(float x) {
  const __m128i half = _mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT);
  return static_cast<u32>(_mm_cvtsi128_si32(half)) & 0xffff;
}
inline u32 float_to_half_toward_zero(float x) {
  const __m128i half = _mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_ZERO);
  return static_cast<u32>(_mm_cvtsi128_si32(half)) & 0xffff;
}
// Rounds once: first to float with an odd last bit, then to half.
u32 double_to_half(double x);

inline float bfloat_to_float(u32 x) { return float_of(x << 16); }
inline u32 float_to_bfloat(float x) {
  const u32 bits = bits_of(x);
  return x != x ? 0x7fc0u : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// ---- minimum, maximum, clamp. A signalling NaN is the result, made quiet; a quiet NaN yields to a
// number.

template <typename T>
inline constexpr u64 kQuietBit = sizeof(T) == 4 ? 1ull << 22 : 1ull << 51;
inline float quiet(float x) { return float_of(bits_of(x) | 0x400000); }
inline double quiet(double x) { return double_of(bits_of(x) | kQuietBit<double>); }
template <typename T>
bool is_signalling(T x) {
  return x != x && (bits_of(x) & kQuietBit<T>) == 0;
}
template <typename T>
T maximum(T a, T b) {
  if (is_signalling(a)) return quiet(a);
  if (is_signalling(b)) return quiet(b);
  if (a != a) return b != b ? quiet(a) : b;
  if (b != b) return a;
  if (a > b) return a;
  if (b > a) return b;
  return std::signbit(a) ? b : a;
}
template <typename T>
T minimum(T a, T b) {
  if (is_signalling(a)) return quiet(a);
  if (is_signalling(b)) return quiet(b);
  if (a != a) return b != b ? quiet(a) : b;
  if (b != b) return a;
  if (a < b) return a;
  if (b < a) return b;
  return std::signbit(a) ? a : b;
}
template <typename T>
T median(T a, T b, T c) {
  if (a != a || b != b || c != c) return minimum(minimum(a, b), c);
  const T greatest = maximum(maximum(a, b), c);
  if (greatest == a) return maximum(b, c);
  if (greatest == b) return maximum(a, c);
  return maximum(a, b);
}
// The same on the bits of halves. Converted to float, a signalling NaN would already be quiet.
inline bool is_signalling_half(u32 x) { return (x & 0x7fff) > 0x7c00 && (x & 0x200) == 0; }
inline u32 maximum_half(u32 a, u32 b) {
  if (is_signalling_half(a)) return a | 0x200;
  if (is_signalling_half(b)) return b | 0x200;
  return float_to_half(maximum(half_to_float(a), half_to_float(b)));
}
inline u32 minimum_half(u32 a, u32 b) {
  if (is_signalling_half(a)) return a | 0x200;
  if (is_signalling_half(b)) return b | 0x200;
  return float_to_half(minimum(half_to_float(a), half_to_float(b)));
}
inline u32 median_half(u32 a, u32 b, u32 c) {
  const float x = half_to_float(a);
  const float y = half_to_float(b);
  const float z = half_to_float(c);
  if (x != x || y != y || z != z) return minimum_half(minimum_half(a, b), c);
  return float_to_half(median(x, y, z));
}
template <typename T>
T median_integer(T a, T b, T c) {
  const T high = a > b ? a : b;
  const T low = a > b ? b : a;
  return c > high ? high : c < low ? low : c;
}
template <typename T>
T clamp_to_one(T x) {
  return x != x ? T{0} : x < 0 ? T{0} : x > 1 ? T{1} : x;
}

// ---- integers

inline i32 saturate_i32(i64 x) {
  return x > 2147483647ll ? 2147483647 : x < -2147483648ll ? INT32_MIN : static_cast<i32>(x);
}
inline u32 saturate_u32(u64 x) { return x > 0xffffffffull ? ~0u : static_cast<u32>(x); }
inline i32 sign_extend_24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
inline u32 extract_bits(u32 x, u32 offset, u32 count) {
  offset &= 31;
  count &= 31;
  return count != 0 ? (x >> offset) & ((1u << count) - 1) : 0;
}
inline i32 extract_signed_bits(u32 x, u32 offset, u32 count) {
  offset &= 31;
  count &= 31;
  if (count == 0) return 0;
  // The shift is arithmetic: a field that reaches beyond the top continues with the sign.
  const u32 value = static_cast<u32>(static_cast<i32>(x) >> offset);
  return static_cast<i32>(value << (32 - count)) >> (32 - count);
}
// Return all ones if there is no such bit.
inline u32 leading_zeros(u32 x) { return x != 0 ? static_cast<u32>(std::countl_zero(x)) : ~0u; }
inline u32 trailing_zeros(u32 x) { return x != 0 ? static_cast<u32>(std::countr_zero(x)) : ~0u; }
inline u32 leading_zeros(u64 x) { return x != 0 ? static_cast<u32>(std::countl_zero(x)) : ~0u; }
inline u32 trailing_zeros(u64 x) { return x != 0 ? static_cast<u32>(std::countr_zero(x)) : ~0u; }
inline u32 leading_sign_bits(u32 x) { return leading_zeros(static_cast<i32>(x) < 0 ? ~x : x); }
inline u32 leading_sign_bits(u64 x) { return leading_zeros(static_cast<i64>(x) < 0 ? ~x : x); }
inline u32 reverse_bits(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
inline u64 reverse_bits(u64 x) {
  return combine(reverse_bits(high_half(x)), reverse_bits(low_half(x)));
}
inline u32 count_bits(u32 x) { return static_cast<u32>(std::popcount(x)); }
inline u32 count_bits(u64 x) { return static_cast<u32>(std::popcount(x)); }

// ---- conversions: NaN becomes 0, other values saturate to the range

inline u32 to_u32(double x) {
  return x != x ? 0 : x <= 0 ? 0 : x >= 4294967295.0 ? 0xffffffffu : static_cast<u32>(x);
}
inline i32 to_i32(double x) {
  return x != x               ? 0
         : x <= -2147483648.0 ? INT32_MIN
         : x >= 2147483647.0  ? INT32_MAX
                              : static_cast<i32>(x);
}

// ---- the parts of a floating-point number

inline int biased_exponent(float x) { return static_cast<int>(bits_of(x) >> 23 & 255); }
inline int biased_exponent(double x) { return static_cast<int>(bits_of(x) >> 52 & 2047); }
template <typename T>
T mantissa(T x) {
  int exponent = 0;
  return x != x || std::isinf(x) ? x : std::frexp(x, &exponent);
}
template <typename T>
i32 exponent(T x) {
  if (x != x || std::isinf(x) || x == 0) return 0;
  int result = 0;
  std::frexp(x, &result);
  return result;
}

// ---- division by Newton's method, with the instructions that the compiler emits for it

// v_div_scale: scales `numerator` and `denominator` so that no step of the division overflows or
// underflows. `value` is one of the two, and its scaled value is returned. `scaled` tells
// v_div_fmas to undo the scaling.
float div_scale(float value, float denominator, float numerator, bool& scaled);
double div_scale(double value, double denominator, double numerator, bool& scaled);
float div_fmas(float a, float b, float c, bool scaled);
double div_fmas(double a, double b, double c, bool scaled);
float div_fixup(float quotient, float denominator, float numerator);
double div_fixup(double quotient, double denominator, double numerator);
float div_fixup_half(float quotient, float denominator, float numerator);

// Sine and cosine of an angle in turns. Exact at quarters of a turn, for any number of turns.
double sine_of_turns(double turns);
double cosine_of_turns(double turns);

// v_trig_preop_f64: 53 bits of 2/pi, from the position that `x` needs.
double trig_preop(double x, u32 segment);

// ---- v_cmp_class: bit i of `classes` selects class i

enum FloatClass : u32 {
  kSignallingNaN = 1u << 0,
  kQuietNaN = 1u << 1,
  kNegativeInfinity = 1u << 2,
  kNegativeNormal = 1u << 3,
  kNegativeSubnormal = 1u << 4,
  kNegativeZero = 1u << 5,
  kPositiveZero = 1u << 6,
  kPositiveSubnormal = 1u << 7,
  kPositiveNormal = 1u << 8,
  kPositiveInfinity = 1u << 9,
};
FloatClass class_of(float x);
FloatClass class_of(double x);
FloatClass class_of_half(u32 half);

}  // namespace kiln::emulator
