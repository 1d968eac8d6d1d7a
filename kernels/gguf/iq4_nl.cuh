// IQ4_NL: 32 values in 18 bytes.  value = d * table[number]
//    0  d   f16
//    2  qs  16 bytes of indices: low halves for values 0 to 15, high halves for values 16 to 31
// The table: -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
#pragma once

#include "gguf/codebook.cuh"

namespace kiln::gguf {

struct IQ4_NL {
  static constexpr u32 kValues = 32, kBytes = 18, kAlignment = 2;
  static constexpr u32 kParts = 2, kTogether = 4, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = false, kIsHeaded = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice + 4 * part; }
  using Table = Codebook<0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u>;
  template <u32 kCount>
  KILN_DEVICE static void decode(const u32 (&words)[kCount], u32 (&quants)[kCount][kParts]) {
    Table::unpack(words, quants);
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
