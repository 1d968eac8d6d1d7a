// Q8_0: 32 values in 34 bytes.  value = d * quant
//    0  d   f16
//    2  qs  32 signed bytes
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q8_0 {
  static constexpr u32 kValues = 32, kBytes = 34, kAlignment = 2;
  static constexpr u32 kParts = 1, kTogether = 8, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = false, kIsHeaded = true;

  KILN_DEVICE static u32 word(u32 slice, u32) { return slice; }
  template <u32 kCount>
  KILN_DEVICE static void decode(const u32 (&words)[kCount], u32 (&quants)[kCount][kParts]) {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) quants[k][0] = words[k];
  }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 words[kCount];
    load_words<kAlignment>(block + 2 + 4 * slice, words);
    decode(words, quants);
  }
  KILN_DEVICE static Scale scale(const u8* block, u32) { return {load_f16(block), 0}; }
};

}  // namespace kiln::gguf
