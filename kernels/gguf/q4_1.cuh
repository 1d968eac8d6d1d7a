// Q4_1: 32 values in 20 bytes.  value = d * quant + m
//    0  d   f16
//    2  m   f16
//    4  qs  16 bytes, as in Q4_0
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q4_1 {
  static constexpr u32 kValues = 32, kBytes = 20, kAlignment = 4;
  static constexpr u32 kParts = 2, kTogether = 4, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice + 4 * part; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 packed[kCount];
    load_words<kAlignment>(block + 4 + 4 * slice, packed);
    unpack_halves(packed, quants);
  }
  KILN_DEVICE static Scale scale(const u8* block, u32) {
    return {load_f16(block), load_f16(block + 2)};
  }
};

}  // namespace kiln::gguf
