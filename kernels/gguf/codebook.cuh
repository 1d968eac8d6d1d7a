// Helper for formats whose four bits are the index of a table's entry.
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

// Entries 0 to 15: signed bytes, four to a word, the first one lowest.
template <u32 kFirst, u32 kSecond, u32 kThird, u32 kFourth>
struct Codebook {
  // Replaces each byte, an index below 16, by the entry.
  KILN_DEVICE static u32 look_up(u32 numbers) {
    u32 is_set[4];
#pragma unroll
    for (u32 bit = 0; bit < 4; ++bit) is_set[bit] = (numbers >> bit & 0x01010101u) * 0xffu;
    return among<0, 4>(is_set);
  }

 private:
  // For all four bytes at once, selects among the 2^kBits entries from kFrom on by the lowest kBits
  // bits of the index.
  template <u32 kFrom, u32 kBits>
  KILN_DEVICE static u32 among(const u32 (&is_set)[4]) {
    if constexpr (kBits == 0) {
      constexpr u32 kWord = kFrom < 4    ? kFirst
                            : kFrom < 8  ? kSecond
                            : kFrom < 12 ? kThird
                                         : kFourth;
      return (kWord >> 8 * (kFrom % 4) & 0xffu) * 0x01010101u;
    } else {
      const u32 low = among<kFrom, kBits - 1>(is_set);
      const u32 high = among<kFrom + (1 << (kBits - 1)), kBits - 1>(is_set);
      return low ^ ((low ^ high) & is_set[kBits - 1]);
    }
  }
};

}  // namespace kiln::gguf
