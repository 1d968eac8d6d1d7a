// Q8_1: 32 values in 36 bytes, the format of quantized activations.  value = d * quant
//    0  d   f16
//    2  s   f16: the sum of the values before they were quantized
//    4  qs  32 signed bytes
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

struct Q8_1 {
  static constexpr u32 kValues = 32, kBytes = 36;

  u32 d_and_s;
  u32 quants[8];

  KILN_DEVICE f32 d() const { return widen(f16{static_cast<u16>(d_and_s)}); }
  KILN_DEVICE f32 s() const { return widen(f16{static_cast<u16>(d_and_s >> 16)}); }
};
static_assert(sizeof(Q8_1) == Q8_1::kBytes);

}  // namespace kiln::gguf
