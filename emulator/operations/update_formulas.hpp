// The new value of an atomic, from the old value and the data of the instruction.
#pragma once

#include "emulator/numbers.hpp"

namespace kiln::emulator {

inline u32 add_half_pairs(u32 a, u32 b) {
  return float_to_half(half_to_float(a & 0xffff) + half_to_float(b & 0xffff)) |
         float_to_half(half_to_float(a >> 16) + half_to_float(b >> 16)) << 16;
}
inline u32 add_bfloat_pairs(u32 a, u32 b) {
  return float_to_bfloat(bfloat_to_float(a) + bfloat_to_float(b)) |
         float_to_bfloat(float_of(a & 0xffff0000u) + float_of(b & 0xffff0000u)) << 16;
}
inline u32 add_floats(u32 a, u32 b) { return bits_of(float_of(a) + float_of(b)); }
inline u32 minimum_of_floats(u32 a, u32 b) { return bits_of(minimum(float_of(a), float_of(b))); }
inline u32 maximum_of_floats(u32 a, u32 b) { return bits_of(maximum(float_of(a), float_of(b))); }
inline u64 add_doubles(u64 a, u64 b) { return bits_of(double_of(a) + double_of(b)); }
inline u64 minimum_of_doubles(u64 a, u64 b) { return bits_of(minimum(double_of(a), double_of(b))); }
inline u64 maximum_of_doubles(u64 a, u64 b) { return bits_of(maximum(double_of(a), double_of(b))); }

template <typename T>
T signed_minimum(T a, T b) {
  return static_cast<std::make_signed_t<T>>(a) < static_cast<std::make_signed_t<T>>(b) ? a : b;
}
template <typename T>
T signed_maximum(T a, T b) {
  return static_cast<std::make_signed_t<T>>(a) > static_cast<std::make_signed_t<T>>(b) ? a : b;
}
// Count up to `limit` and wrap to 0, or down to 0 and wrap to `limit`.
template <typename T>
T increment(T old, T limit) {
  return old >= limit ? 0 : old + 1;
}
template <typename T>
T decrement(T old, T limit) {
  return old == 0 || old > limit ? limit : old - 1;
}

}  // namespace kiln::emulator
