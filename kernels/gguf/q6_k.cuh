// Q6_K: 256 values in 210 bytes.  value = d * scales[j / 16] * (quant - 32)
//     0  ql      128 bytes, 64 for each half of the block: the lower four bits. Low halves of bytes
//                are the first 64 values of their half
//   128  qh      64 bytes, as qs of Q2_K: the upper two bits
//   192  scales  16 signed bytes
//   208  d       f16
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q6_K {
  static constexpr u32 kValues = 256, kBytes = 210, kAlignment = 2;
  static constexpr u32 kParts = 4, kTogether = 4, kRun = 16;
  static constexpr i32 kZero = 32;
  static constexpr bool kHasOffset = false;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice / 8 * 32 + part * 8 + slice % 8; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    unpack_packed(Packed<kCount>(block, slice), quants);
  }
  template <u32 kCount>
  struct Packed {
    u32 low[2][kCount], high[kCount];  // next() alternates between the two `low`
    KILN_DEVICE Packed(const u8* block, u32 slice) {
      const u8* const at = block + slice / 8 * 64 + slice % 8 * 4;
      load_words<kAlignment>(at, low[0]);
      load_words<kAlignment>(at + 32, low[1]);
      load_words<kAlignment>(block + 128 + 4 * slice, high);
    }
    KILN_DEVICE u32 next(u32 k) {
      const u32 first = low[0][k], quants = (first & 0x0f0f0f0fu) | (high[k] << 4 & 0x30303030u);
      low[0][k] = low[1][k];
      low[1][k] = first >> 4;
      high[k] >>= 2;
      return quants;
    }
  };
  KILN_DEVICE static Scale scale(const u8* block, u32 word) {
    return {load_f16(block + 208) * small_to_f32(static_cast<i8>(block[192 + word / 4])), 0};
  }
};

}  // namespace kiln::gguf
