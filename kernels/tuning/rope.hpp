// How rotary position embedding is spread over a GPU. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Pairs that a thread turns together; of eight bytes two are no faster.
constexpr unsigned rope_pairs(unsigned element_bytes, bool halved) {
  return element_bytes == 8 ? 1 : halved ? 4 : 8 / element_bytes;
}

// Bytes of a table up to which it stays in the cache while one head after another is read.
inline constexpr unsigned kRopeCached = 2u << 20;

}  // namespace kiln::tuning
