// Conversions between float and numbers of 8 and 16 bits.
//
//   kiln::to_f16(1.5f), to_bf16, to_f8   round once, to nearest, ties to even. NaN stays NaN. A number
//                                        that is too large becomes infinite; in f8, which has no
//                                        infinity, it becomes 448
//   kiln::to_float(number)               converts any of the three exactly
#pragma once

#include <cstdint>
#include <cstring>

#include "parameter_types.hpp"

namespace kiln {

namespace detail {

inline std::uint32_t bits_of_float(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
inline float float_of_bits(std::uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

inline constexpr std::uint32_t kFloatMagnitude = 0x7FFFFFFF, kFloatInfinity = 0x7F800000;

// Drops the last `count` bits of a float's magnitude, and rounds to nearest, ties to even.
inline std::uint32_t round_off(std::uint32_t magnitude, unsigned count) {
  return (magnitude + (1u << (count - 1)) - 1 + (magnitude >> count & 1)) >> count;
}
// Returns a magnitude below the narrow type's smallest normal number as a count of subnormal steps.
// The last place of `unit` is one such step, so the addition rounds the magnitude to whole steps.
inline std::uint32_t subnormal_steps(std::uint32_t magnitude, float unit) {
  return bits_of_float(float_of_bits(magnitude) + unit) - bits_of_float(unit);
}

}  // namespace detail

inline f16 to_f16(float number) {
  const std::uint32_t bits = detail::bits_of_float(number);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & detail::kFloatMagnitude;
  std::uint32_t result = 0x7C00;
  if (magnitude > detail::kFloatInfinity) {
    result = 0x7E00;
  } else if (magnitude < 0x38800000) {  // 2^-14
    result = detail::subnormal_steps(magnitude, 0.5f);
  } else if (magnitude < 0x47800000) {  // 2^16
    result = detail::round_off(magnitude - 0x38000000, 13);
  }
  return {static_cast<std::uint16_t>(sign | result)};
}
inline float to_float(f16 narrow) {
  const std::uint32_t sign = (narrow.bits & 0x8000u) << 16, magnitude = narrow.bits & 0x7FFFu;
  if (magnitude >= 0x7C00)
    return detail::float_of_bits(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  if (magnitude >= 0x400) return detail::float_of_bits(sign | ((magnitude << 13) + 0x38000000));
  const float number = static_cast<float>(magnitude) * (1.0f / 16777216);
  return sign != 0 ? -number : number;
}

inline bf16 to_bf16(float number) {
  const std::uint32_t bits = detail::bits_of_float(number);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & detail::kFloatMagnitude;
  if (magnitude > detail::kFloatInfinity) return {static_cast<std::uint16_t>(sign | 0x7FC0)};
  return {static_cast<std::uint16_t>(sign | detail::round_off(magnitude, 16))};
}
inline float to_float(bf16 narrow) {
  return detail::float_of_bits(std::uint32_t{narrow.bits} << 16);
}

inline f8 to_f8(float number) {
  const std::uint32_t bits = detail::bits_of_float(number);
  const std::uint32_t sign = bits >> 24 & 0x80, magnitude = bits & detail::kFloatMagnitude;
  std::uint32_t result = 0x7E;
  if (magnitude > detail::kFloatInfinity) {
    result = 0x7F;
  } else if (magnitude < 0x3C800000) {  // 2^-6
    result = detail::subnormal_steps(magnitude, 16384.0f);
  } else if (magnitude < 0x43E00000) {  // 448
    result = detail::round_off(magnitude - 0x3C000000, 20);
  }
  return {static_cast<std::uint8_t>(sign | result)};
}
inline float to_float(f8 narrow) {
  const std::uint32_t sign = (narrow.bits & 0x80u) << 24, magnitude = narrow.bits & 0x7Fu;
  if (magnitude == 0x7F) return detail::float_of_bits(sign | 0x7FC00000);
  if (magnitude >= 8) return detail::float_of_bits(sign | ((magnitude << 20) + 0x3C000000));
  const float number = static_cast<float>(magnitude) * (1.0f / 512);
  return sign != 0 ? -number : number;
}

}  // namespace kiln
