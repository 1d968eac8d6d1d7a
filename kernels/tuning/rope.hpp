// How rotary position embedding is spread over a GPU. Plain C++17, for device code and host
// programs.
#pragma once

namespace kiln::tuning {

// Number of pairs that a thread rotates together. For elements of eight bytes two are no faster.
constexpr unsigned rope_pairs(unsigned element_bytes, bool halved) {
  return element_bytes == 8 ? 1 : halved ? 4 : 8 / element_bytes;
}

// Maximum size in bytes of a table that stays in the cache while one head after another is read.
inline constexpr unsigned kRopeCached = 2u << 20;

}  // namespace kiln::tuning
