// Q5_1: 32 values in 24 bytes.  value = d * quant + m
//    0  d   f16
//    2  m   f16
//    4  qh  u32: bit j is the fifth bit of value j
//    8  qs  16 bytes, as in Q4_0: the lower four bits
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q5_1 {
  static constexpr u32 kValues = 32, kBytes = 24, kAlignment = 4;
  static constexpr u32 kParts = 2, kTogether = 4, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice + 4 * part; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    const u32 high = load_word<kAlignment>(block + 4) >> 4 * slice;
    u32 packed[kCount];
    load_words<kAlignment>(block + 8 + 4 * slice, packed);
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      quants[k][0] = (packed[k] & 0x0f0f0f0fu) | spread_bits(high >> 4 * k) << 4;
      quants[k][1] = (packed[k] >> 4 & 0x0f0f0f0fu) | spread_bits(high >> (4 * k + 16)) << 4;
    }
  }
  KILN_DEVICE static Scale scale(const u8* block, u32) {
    return {load_f16(block), load_f16(block + 2)};
  }
};

}  // namespace kiln::gguf
