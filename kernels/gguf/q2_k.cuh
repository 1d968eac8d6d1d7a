// Q2_K: 256 values in 84 bytes.  value = d * (scales[g] & 15) * quant - dmin * (scales[g] >> 4),
// g = j / 16
//    0  scales  16 bytes
//   16  qs      64 bytes, 32 for each half of the block; byte i holds the values i, i + 32, i + 64
//               and i + 96 of its half, lowest bits first
//   80  d       f16
//   82  dmin    f16
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q2_K {
  static constexpr u32 kValues = 256, kBytes = 84, kAlignment = 4;
  static constexpr u32 kParts = 4, kTogether = 4, kRun = 16;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice / 8 * 32 + part * 8 + slice % 8; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    unpack_packed(Packed<kCount>(block, slice), quants);
  }
  template <u32 kCount>
  struct Packed {
    u32 low[kCount];
    KILN_DEVICE Packed(const u8* block, u32 slice) {
      load_words<kAlignment>(block + 16 + 4 * slice, low);
    }
    KILN_DEVICE u32 next(u32 k) {
      const u32 quants = low[k] & 0x03030303u;
      low[k] >>= 2;
      return quants;
    }
  };
  KILN_DEVICE static Scale scale(const u8* block, u32 word) {
    const u32 packed = block[word / 4];
    return {load_f16(block + 80) * small_to_f32(packed & 15u),
            -load_f16(block + 82) * small_to_f32(packed >> 4)};
  }
};

}  // namespace kiln::gguf
