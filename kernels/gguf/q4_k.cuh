// Q4_K: 256 values in 144 bytes.  value = d * scale[j / 32] * quant - dmin * minimum[j / 32]
//    0  d       f16
//    2  dmin    f16
//    4  scales  12 bytes: see k_scales.cuh
//   16  qs      128 bytes, 32 for each 64 values: low halves are the first 32 values
#pragma once

#include "gguf/k_scales.cuh"

namespace kiln::gguf {

template <u32 kOfAll>
struct Q4_K_At {
  using Aligned = Q4_K_At<16>;
  static constexpr u32 kValues = 256, kBytes = 144, kAlignment = kOfAll;
  static constexpr u32 kParts = 2, kTogether = 8, kRun = 32;
  static constexpr i32 kZero = 0;
  static constexpr bool kHasOffset = true;

  KILN_DEVICE static u32 word(u32 slice, u32 part) { return slice / 8 * 16 + part * 8 + slice % 8; }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 packed[kCount];
    load_k_words<kAlignment>(block + 16 + 4 * slice, packed);
    unpack_halves(packed, quants);
  }
  KILN_DEVICE static Scale scale(const u8* block, u32 word) {
    return k_scale<kAlignment>(block, word / 8);
  }
};
using Q4_K = Q4_K_At<4>;

}  // namespace kiln::gguf
