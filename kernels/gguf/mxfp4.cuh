// MXFP4: 32 values in 17 bytes.  value = 2^(e - 128) * table[number], e being any byte
//    0  e   u8
//    1  qs  16 bytes of indices: low halves for values 0 to 15, high halves for values 16 to 31
// The table: 0 1 2 3 4 6 8 12 0 -1 -2 -3 -4 -6 -8 -12. Entries are twice those of E2M1 in the OCP
// Microscaling Formats (version 1.0), whose scale is 2^(e - 127).
#pragma once

#include "gguf/codebook.cuh"

namespace kiln::gguf {

struct BlockOfMXFP4 {
  static constexpr u32 kValues = 32, kBytes = 17, kAlignment = 1;
  static constexpr u32 kTogether = 4, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = false, kMayPad = true;
  using Table = Codebook<0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu>;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice + 4 * part; }
  template <u32 kCount>
  KILN_DEVICE static void load(const u8* block, u32 slice, u32 (&words)[kCount]) {
    load_words<kAlignment>(block + 1 + 4 * slice, words);
  }
  template <u32 kCount>
  KILN_DEVICE static void load_padded(const u8* block, u32 slice, u32 (&words)[kCount]) {
    load_padded_words(block + 1 + 4 * slice, words);
  }
  KILN_DEVICE static Scale scale(const u8* block, u32) {
    const u32 e = block[0];
    // The two smallest scales are subnormal.
    return {bit_cast<f32>(e < 2 ? 0x00200000u << e : (e - 1) << 23), 0};
  }
};
using MXFP4 = Indexed<BlockOfMXFP4>;

}  // namespace kiln::gguf
