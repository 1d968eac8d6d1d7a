// Q4_0: 32 values in 18 bytes.  value = d * (quant - 8)
//    0  d   f16
//    2  qs  16 bytes: low halves are values 0 to 15, high halves are values 16 to 31
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q4_0 {
  static constexpr u32 kValues = 32, kBytes = 18, kAlignment = 2;
  static constexpr u32 kParts = 2, kTogether = 4, kRun = 32;
  static constexpr i32 kZero = 8;
  static constexpr bool kHasOffset = false, kIsHeaded = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice + 4 * part; }
  template <u32 kCount>
  KILN_DEVICE static void decode(const u32 (&words)[kCount], u32 (&quants)[kCount][kParts]) {
    unpack_halves(words, quants);
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
