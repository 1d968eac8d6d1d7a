// IQ4_NL: 32 values in 18 bytes.  value = d * table[number]
//    0  d   f16
//    2  qs  16 bytes of indices: low halves for values 0 to 15, high halves for values 16 to 31
// The table: -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
#pragma once

#include "gguf/codebook.cuh"

namespace kiln::gguf {

struct BlockOfIQ4_NL {
  static constexpr u32 kValues = 32, kBytes = 18, kAlignment = 2;
  static constexpr u32 kTogether = 4, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = false, kIsHeaded = true;
  using Table = Codebook<0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u>;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice + 4 * part; }
  template <u32 kCount>
  KILN_DEVICE static void load(const u8* block, u32 slice, u32 (&words)[kCount]) {
    load_words<kAlignment>(block + 2 + 4 * slice, words);
  }
  KILN_DEVICE static Scale scale(const u8* block, u32) { return {load_f16(block), 0}; }
};
using IQ4_NL = Indexed<BlockOfIQ4_NL>;

}  // namespace kiln::gguf
