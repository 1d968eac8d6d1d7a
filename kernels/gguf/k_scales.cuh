// The scales of Q4_K and Q5_K: eight pairs of numbers of six bits in twelve bytes.
//   i < 4   scale = byte i & 63                       minimum = byte i + 4 & 63
//   i >= 4  scale = byte i + 4 & 15 | byte i - 4 >> 6 << 4
//           minimum = byte i + 4 >> 4 | byte i >> 6 << 4
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

// Loads words of a block that lies at a multiple of kAlignment. For alignment 4, it tests whether
// the address happens to be a multiple of 16.
template <u32 kAlignment, u32 kCount>
KILN_DEVICE void load_k_words(const u8* at, u32 (&words)[kCount]) {
  if constexpr (kCount % 4 == 0) {
    if (kAlignment == 16 || reinterpret_cast<u64>(at) % 16 == 0) {
      load_words<16>(at, words);
      return;
    }
  }
  load_words<4>(at, words);
}

// The numbers of runs 2 i and 2 i + 1, in two bytes each.
struct KPair {
  u32 scales, minima;
};
KILN_DEVICE KPair k_pair(const u32 (&head)[4], u32 i) {
  const u32 shift = i % 2 * 16;
  const u32 first = head[1] >> shift, second = head[2] >> shift, third = head[3] >> shift;
  const bool is_low = i < 2;
  return {is_low ? first & 0x3f3fu : (third & 0x0f0fu) | (first >> 2 & 0x3030u),
          is_low ? second & 0x3f3fu : (third >> 4 & 0x0f0fu) | (second >> 2 & 0x3030u)};
}

// Scale and offset of run `i` of a block that begins with d and dmin, an f16 each, and then has
// these bytes. Runs come in pairs, so that the compiler can share the common part of the two.
template <u32 kAlignment>
KILN_DEVICE Scale k_scale(const u8* block, u32 i) {
  u32 head[4];
  load_words<kAlignment>(block, head);
  const KPair pair = k_pair(head, i / 2);
  const u32 scales = pair.scales, minima = pair.minima;
  const u32 byte = i % 2 * 8;
  // d * n = d * (kBias + n) - d * kBias, exactly, if d is finite.
  const f32 d = widen(f16{static_cast<u16>(head[0])});
  const f32 minus_dmin = -widen(f16{static_cast<u16>(head[0] >> 16)});
  return {math::fma(d, bit_cast<f32>((scales >> byte & 0xffu) | kWholeBias), -kBias * d),
          math::fma(minus_dmin, bit_cast<f32>((minima >> byte & 0xffu) | kWholeBias),
                    -kBias * minus_dmin)};
}

}  // namespace kiln::gguf
