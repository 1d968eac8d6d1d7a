// Little-endian integers inside byte buffers. Callers check the bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kiln {

// Returns the little-endian integer at `bytes`, which may be unaligned.
template <typename Integer>
Integer load_le(const std::byte* bytes) {
  static_assert(std::is_integral_v<Integer>);
  std::make_unsigned_t<Integer> value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= static_cast<std::make_unsigned_t<Integer>>(
        static_cast<std::make_unsigned_t<Integer>>(std::to_integer<std::uint8_t>(bytes[i]))
        << (8 * i));
  }
  return static_cast<Integer>(value);
}

}  // namespace kiln
