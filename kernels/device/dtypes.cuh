// The element types of tensors and every conversion between them, written once for all vendors.
//
// A storage type is bits and nothing else. f16 (IEEE binary16), bf16 (the upper half of an f32) and
// f8_e4m3 (OCP E4M3: bias 7, no infinities, NaN is S.1111.111, largest 448) have no arithmetic.
// Kernels widen them to f32, compute, and narrow once.
//   widen(x)        exact
//   narrow<T>(x)    rounds once, to nearest, ties to even. NaN stays NaN. f16 and bf16 overflow to
//                   infinity. f8_e4m3 saturates at +-448, for infinities too.
#pragma once

#include "device/platform.cuh"

namespace kiln {

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct f8_e4m3 {
  u8 bits;
};

namespace device {

template <class To, class From>
KILN_DEVICE To bit_cast(From x) {
  return __builtin_bit_cast(To, x);
}

// ---- narrow to wide ---------------------------------------------------------------------------

template <class T>
KILN_DEVICE T widen(T x) {
  return x;
}
KILN_DEVICE f32 widen(bf16 x) { return bit_cast<f32>(static_cast<u32>(x.bits) << 16); }

KILN_DEVICE f32 widen(f16 x) {
#if KILN_HAS_F16_CONVERSION
  return f32_from_f16_bits(x.bits);
#else
  // Moves exponent and significand to their f32 places. The factor 2^112 corrects the bias, also
  // for subnormal numbers.
  const u32 magnitude = (x.bits & 0x7fffu) << 13;
  const u32 infinite = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;  // infinity and NaN
  const f32 scaled = bit_cast<f32>(magnitude) * 0x1p112f;
  return bit_cast<f32>(bit_cast<u32>(scaled) | infinite | (x.bits & 0x8000u) << 16);
#endif
}

// True if the hardware converts f8. Otherwise a conversion takes dozens of instructions.
#if KILN_HAS_F8_CONVERSION
inline constexpr bool kConvertsF8 = true;
#else
inline constexpr bool kConvertsF8 = false;
#endif

KILN_DEVICE f32 widen(f8_e4m3 x) {
#if KILN_HAS_F8_CONVERSION
  return f32_from_f16_bits(static_cast<u16>(f16_bits_from_f8_e4m3_pair(x.bits)));
#else
  const u32 magnitude = (x.bits & 0x7fu) << 20;
  const f32 scaled = bit_cast<f32>(magnitude) * 0x1p120f;
  const u32 nan = magnitude == 0x07f00000u ? 0x7fc00000u : 0u;
  return bit_cast<f32>(bit_cast<u32>(scaled) | nan | (x.bits & 0x80u) << 24);
#endif
}

// ---- wide to narrow ---------------------------------------------------------------------------

// Converts x to f32. An inexact value is truncated and its last bit is set ("round to odd").
// Rounding the result to a type with at least two bits fewer then gives what a single rounding
// would give.
KILN_DEVICE f32 round_to_odd(f64 x) {
  const f32 nearest = static_cast<f32>(x);
  const f64 back = nearest;
  if (back == x || x != x) return nearest;
  const u32 bits = bit_cast<u32>(nearest);
  const bool away = (back < 0 ? -back : back) > (x < 0 ? -x : x);
  return bit_cast<f32>((bits - (away ? 1u : 0u)) | 1u);
}

template <class T>
struct Narrow {
  KILN_DEVICE static T from(T x) { return x; }
};

template <>
struct Narrow<f32> {
  KILN_DEVICE static f32 from(f32 x) { return x; }
  KILN_DEVICE static f32 from(f64 x) { return static_cast<f32>(x); }
};

template <>
struct Narrow<f16> {
  KILN_DEVICE static f16 from(f16 x) { return x; }
  KILN_DEVICE static f16 from(f32 x) {
#if KILN_HAS_F16_CONVERSION
    return {f16_bits_from_f32(x)};
#else
    const u32 bits = bit_cast<u32>(x);
    const u32 sign = bits >> 16 & 0x8000u;
    const u32 magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {static_cast<u16>(sign | 0x7e00u)};
    if (magnitude >= 0x477ff000u) return {static_cast<u16>(sign | 0x7c00u)};
    if (magnitude < 0x38800000u) {  // subnormal: 0.5f's last place is 2^-24, f16's smallest number
      const u32 half = bit_cast<u32>(bit_cast<f32>(magnitude) + 0.5f) - 0x3f000000u;
      return {static_cast<u16>(sign | half)};
    }
    const u32 rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23);
    return {static_cast<u16>(sign | rounded >> 13)};
#endif
  }
#if KILN_HAS_F16_FROM_F64
  KILN_DEVICE static f16 from(f64 x) { return {f16_bits_from_f64(x)}; }
#else
  KILN_DEVICE static f16 from(f64 x) { return from(round_to_odd(x)); }
#endif
};

template <>
struct Narrow<bf16> {
  KILN_DEVICE static bf16 from(bf16 x) { return x; }
  KILN_DEVICE static bf16 from(f32 x) {
#if KILN_HAS_BF16_CONVERSION
    return {bf16_bits_from_f32(x)};
#else
    const u32 bits = bit_cast<u32>(x);
    if (x != x) return {static_cast<u16>(bits >> 16 | 0x0040u)};
    return {static_cast<u16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
#endif
  }
#if KILN_HAS_BF16_FROM_F64
  KILN_DEVICE static bf16 from(f64 x) { return {bf16_bits_from_f64(x)}; }
#else
  KILN_DEVICE static bf16 from(f64 x) { return from(round_to_odd(x)); }
#endif
};

template <>
struct Narrow<f8_e4m3> {
  KILN_DEVICE static f8_e4m3 from(f8_e4m3 x) { return x; }
  KILN_DEVICE static f8_e4m3 from(f32 x) {
#if KILN_HAS_F8_CONVERSION
    return {static_cast<u8>(f8_e4m3_bits_from_f32_pair(x, 0.0f))};
#else
    const u32 bits = bit_cast<u32>(x);
    const u32 sign = bits >> 24 & 0x80u;
    u32 magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {static_cast<u8>(sign | 0x7fu)};
    if (magnitude > 0x43e00000u) magnitude = 0x43e00000u;  // 448
    if (magnitude < 0x3c800000u) {  // below 2^-6: 2^14's last place is 2^-9, the smallest number
      const u32 steps = bit_cast<u32>(bit_cast<f32>(magnitude) + 0x1p14f) - 0x46800000u;
      return {static_cast<u8>(sign | steps)};
    }
    const u32 rounded = magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - (120u << 23);
    return {static_cast<u8>(sign | rounded >> 20)};
#endif
  }
  KILN_DEVICE static f8_e4m3 from(f64 x) { return from(round_to_odd(x)); }
};

template <class T, class C>
KILN_DEVICE T narrow(C x) {
  return Narrow<T>::from(x);
}

// The unsigned integer type of an element's size, for its bits.
template <u64 Size>
struct BitsOfSize;
template <>
struct BitsOfSize<1> {
  using Type = u8;
};
template <>
struct BitsOfSize<2> {
  using Type = u16;
};
template <>
struct BitsOfSize<4> {
  using Type = u32;
};
template <>
struct BitsOfSize<8> {
  using Type = u64;
};
template <u64 Size>
using Bits = typename BitsOfSize<Size>::Type;
template <class T>
using BitsOf = Bits<sizeof(T)>;

template <class T>
KILN_DEVICE BitsOf<T> bits_of(T x) {
  return bit_cast<BitsOf<T>>(x);
}

// Narrows two values to neighbouring elements of at most two bytes each, in one word, the first
// low.
template <class T, class C>
KILN_DEVICE u32 narrow_pair(C first, C second) {
  return bits_of(narrow<T>(first)) | static_cast<u32>(bits_of(narrow<T>(second))) << 8 * sizeof(T);
}
#if KILN_HAS_PAIR_CONVERSION
template <>
KILN_DEVICE u32 narrow_pair<f16, f32>(f32 first, f32 second) {
  return f16_bits_from_f32_pair(first, second);
}
template <>
KILN_DEVICE u32 narrow_pair<bf16, f32>(f32 first, f32 second) {
  return bf16_bits_from_f32_pair(first, second);
}
#endif

#if KILN_HAS_F8_CONVERSION
template <>
KILN_DEVICE u32 narrow_pair<f8_e4m3, f32>(f32 first, f32 second) {
  return f8_e4m3_bits_from_f32_pair(first, second);
}
#endif

}  // namespace device
}  // namespace kiln
