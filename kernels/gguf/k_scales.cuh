// The scales of Q4_K and Q5_K: eight pairs of numbers of six bits in twelve bytes.
//   i < 4   scale = byte i & 63                       minimum = byte i + 4 & 63
//   i >= 4  scale = byte i + 4 & 15 | byte i - 4 >> 6 << 4
//           minimum = byte i + 4 >> 4 | byte i >> 6 << 4
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

// Of run `i` of a block that begins with d and dmin, f16 each, and then has these bytes.
KILN_DEVICE Scale k_scale(const u8* block, u32 i) {
  const u8* const packed = block + 4;
  u32 scale, minimum;
  if (i < 4) {
    scale = packed[i] & 63u;
    minimum = packed[i + 4] & 63u;
  } else {
    scale = (packed[i + 4] & 15u) | static_cast<u32>(packed[i - 4]) >> 6 << 4;
    minimum = static_cast<u32>(packed[i + 4]) >> 4 | static_cast<u32>(packed[i]) >> 6 << 4;
  }
  return {load_f16(block) * static_cast<f32>(scale),
          -load_f16(block + 2) * static_cast<f32>(minimum)};
}

}  // namespace kiln::gguf
