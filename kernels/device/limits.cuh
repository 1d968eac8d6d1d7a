// The extreme values of number types: the identities of minimum and maximum.
#pragma once

#include "device/dtypes.cuh"

namespace kiln::device {

template <class T>
inline constexpr bool kIsInteger = false;
template <>
inline constexpr bool kIsInteger<u8> = true;
template <>
inline constexpr bool kIsInteger<u32> = true;
template <>
inline constexpr bool kIsInteger<u64> = true;
template <>
inline constexpr bool kIsInteger<i16> = true;
template <>
inline constexpr bool kIsInteger<i32> = true;
template <>
inline constexpr bool kIsInteger<i64> = true;

// The greatest value of T as a Number. For floats it is infinity.
template <class Number, class T>
KILN_DEVICE Number greatest() {
  if constexpr (kIsInteger<T>) {
    constexpr bool kSigned = static_cast<T>(-1) < 0;
    return static_cast<Number>(static_cast<T>(~0ull >> (64 - 8 * sizeof(T) + (kSigned ? 1 : 0))));
  } else if constexpr (sizeof(Number) == 8) {
    return bit_cast<Number>(0x7ff0000000000000ull);
  } else {
    return bit_cast<Number>(0x7f800000u);
  }
}
template <class Number, class T>
KILN_DEVICE Number least() {
  if constexpr (kIsInteger<T>) {
    return static_cast<Number>(static_cast<T>(~greatest<Number, T>()));
  } else {
    return -greatest<Number, T>();
  }
}

template <class Number>
KILN_DEVICE Number quiet_nan() {
  if constexpr (sizeof(Number) == 8) {
    return bit_cast<Number>(0x7ff8000000000000ull);
  } else {
    return bit_cast<Number>(0x7fc00000u);
  }
}

}  // namespace kiln::device
