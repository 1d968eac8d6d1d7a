// Q5_K: 256 values in 176 bytes.  value = d * scale[j / 32] * quant - dmin * minimum[j / 32]
//    0  d       f16
//    2  dmin    f16
//    4  scales  12 bytes: see k_scales.cuh
//   16  qh      32 bytes: bit j / 32 of byte j % 32 is the fifth bit of value j
//   48  qs      128 bytes, as in Q4_K: the lower four bits
#pragma once

#include "gguf/k_scales.cuh"

namespace kiln::gguf {

template <u32 kOfAll>
struct Q5_K_At {
  using Aligned = Q5_K_At<16>;
  static constexpr u32 kValues = 256, kBytes = 176, kAlignment = kOfAll;
  static constexpr u32 kParts = 2, kTogether = 8, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice / 8 * 16 + part * 8 + slice % 8; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 high[kCount], packed[kCount];
    load_k_words<kAlignment>(block + 16 + 4 * (slice % 8), high);
    load_k_words<kAlignment>(block + 48 + 4 * slice, packed);
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      const u32 of_pair = high[k] >> slice / 8 * 2;
      quants[k][0] = (packed[k] & 0x0f0f0f0fu) | (of_pair & 0x01010101u) << 4;
      quants[k][1] = (packed[k] >> 4 & 0x0f0f0f0fu) | (of_pair >> 1 & 0x01010101u) << 4;
    }
  }
  KILN_DEVICE static Scale scale(const u8* block, u32 word) {
    return k_scale<kAlignment>(block, word / 8);
  }
};
using Q5_K = Q5_K_At<4>;

}  // namespace kiln::gguf
