// Q8_K: 256 values in 292 bytes.  value = d * quant
//     0  d      f32
//     4  qs     256 signed bytes
//   260  bsums  16 i16, each the sum of 16 quants
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q8_K {
  static constexpr u32 kValues = 256, kBytes = 292, kAlignment = 4;
  static constexpr u32 kParts = 1, kTogether = 64, kRun = 256;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = false;

  KILN_DEVICE static u32 word(u32 slice, u32) { return slice; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 words[kCount];
    load_words<kAlignment>(block + 4 + 4 * slice, words);
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) quants[k][0] = words[k];
  }
  KILN_DEVICE static Scale scale(const u8* block, u32) {
    return {*reinterpret_cast<const f32*>(block), 0};
  }
};

}  // namespace kiln::gguf
