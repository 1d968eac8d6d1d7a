// Q3_K: 256 values in 110 bytes.  value = d * (scales[j / 16] - 32) * (quant - 4)
//     0  hmask   32 bytes: bit j / 32 of byte j % 32 is the third bit of value j
//    32  qs      64 bytes, as in Q2_K: the lower two bits
//    96  scales  12 bytes: 16 numbers of six bits. The lower four bits are halves of bytes 0 to 7,
//                low halves first. The upper two bits of number g are in byte 8 + g % 4, from bit
//                2 * (g / 4) on
//   108  d       f16
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q3_K {
  static constexpr u32 kValues = 256, kBytes = 110, kAlignment = 2;
  static constexpr u32 kParts = 4, kTogether = 4, kRun = 16;
  static constexpr i32 kZero = 4;
  static constexpr bool kHasOffset = false;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice / 8 * 32 + part * 8 + slice % 8; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    unpack_packed(Packed<kCount>(block, slice), quants);
  }
  template <u32 kCount>
  struct Packed {
    u32 low[kCount], high[kCount];
    KILN_DEVICE Packed(const u8* block, u32 slice) {
      load_words<kAlignment>(block + 4 * (slice % 8), high);
      load_words<kAlignment>(block + 32 + 4 * slice, low);
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) high[k] >>= slice / 8 * 4;
    }
    KILN_DEVICE u32 next(u32 k) {
      const u32 quants = (low[k] & 0x03030303u) | (high[k] << 2 & 0x04040404u);
      low[k] >>= 2;
      high[k] >>= 1;
      return quants;
    }
  };
  KILN_DEVICE static Scale scale(const u8* block, u32 word) {
    const u32 g = word / 4;
    const u32 low = block[96 + g % 8] >> g / 8 * 4 & 15u;
    const u32 high = block[104 + g % 4] >> g / 4 * 2 & 3u;
    return {load_f16(block + 108) * small_to_f32(static_cast<i32>(low | high << 4) - 32), 0};
  }
};

}  // namespace kiln::gguf
