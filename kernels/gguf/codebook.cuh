// Helper for formats whose four bits are the index of a table's entry.
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

// Entries 0 to 15: signed bytes, four to a word, the first one lowest.
template <u32 kFirst, u32 kSecond, u32 kThird, u32 kFourth>
struct Codebook {
  // Unpacks the half bytes of each word: the low ones are the first part, the high ones the second.
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u32 (&packed)[kCount], u32 (&quants)[kCount][2]) {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      const HalfEntries entries = look_up_halves(kFirst, kSecond, kThird, kFourth, packed[k]);
      quants[k][0] = entries.low;
      quants[k][1] = entries.high;
    }
  }
};

}  // namespace kiln::gguf
