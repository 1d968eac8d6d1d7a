// Conversions between all element types: what a cast computes.
//
//   integer to integer   the low bits
//   integer to float     rounds once, to nearest even; to f8_e4m3 by way of f32
//   float to integer     toward zero, saturated, NaN to 0; to u8 the low bits of the u32 result
//   float to float       rounds once; to f8_e4m3 by way of f32
#pragma once

#include "device/arithmetic.cuh"
#include "device/dtypes.cuh"
#include "device/platform_convert.cuh"

namespace kiln::device {

template <class T>
inline constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<f64> = true;
template <>
inline constexpr bool kIsFloat<f32> = true;
template <>
inline constexpr bool kIsFloat<f16> = true;
template <>
inline constexpr bool kIsFloat<bf16> = true;
template <>
inline constexpr bool kIsFloat<f8_e4m3> = true;

template <class I, class F>
KILN_DEVICE I saturate(F x) {
#if KILN_HAS_SATURATING_CONVERSION
  if constexpr (sizeof(I) >= 4) {
    I result;
    convert_saturated(result, x);
    return result;
  }
#endif
  constexpr bool kSigned = static_cast<I>(-1) < 0;
  constexpr u32 kBits = 8 * sizeof(I) - (kSigned ? 1 : 0);
  constexpr F kAbove = static_cast<F>(1ull << (kBits - 1)) * 2;
  if (x != x) return 0;
  if (x >= kAbove) return static_cast<I>(~0ull >> (64 - kBits));
  if (x <= (kSigned ? -kAbove : 0)) return static_cast<I>(kSigned ? 1ull << kBits : 0);
  return static_cast<I>(x);
}

// Returns a number that f32 represents exactly and that rounds to a 16-bit type as x does. The low
// bits of a large x are replaced by one bit that is set if any of them is.
KILN_DEVICE u32 in_24_bits(u32 x) {
  return x >> 24 == 0 || (x & 0x1ff) == 0 ? x : (x & ~0x1ffu) | 0x100;
}

// The same for f64.
KILN_DEVICE i64 in_53_bits(i64 x) {
  constexpr i64 kExact = 1ll << 53;
  if ((x >= -kExact && x <= kExact) || (x & 0x7ff) == 0) return x;
  return (x & ~0x7ffll) | 0x400;
}

// The first step of a conversion. Returns a number that narrow<To>() converts to the result.
template <class To, class From>
KILN_DEVICE auto convert(From from) {
  if constexpr (kIsFloat<From>) {
    const auto x = widen(from);
    if constexpr (!kIsFloat<To>) {
      if constexpr (sizeof(To) == 1) {
        return static_cast<To>(saturate<u32>(x));
      } else {
        return saturate<To>(x);
      }
    } else if constexpr (sizeof(To) == 1 || sizeof(To) == 4) {
      return static_cast<f32>(x);
    } else if constexpr (sizeof(To) == 8) {
      return static_cast<f64>(x);
    } else {
      return x;
    }
  } else if constexpr (!kIsFloat<To>) {
    return static_cast<To>(from);
  } else if constexpr (sizeof(To) == 2 && sizeof(From) == 8) {
    return static_cast<f64>(in_53_bits(from));
  } else if constexpr (sizeof(To) == 2 && sizeof(From) == 4 && static_cast<From>(-1) > 0) {
    return static_cast<f32>(in_24_bits(from));
  } else if constexpr (sizeof(To) == 2 && sizeof(From) >= 4) {
    return static_cast<f64>(from);  // exact
  } else if constexpr (sizeof(To) == 8) {
    return static_cast<f64>(from);
  } else {
    return static_cast<f32>(from);
  }
}

}  // namespace kiln::device
