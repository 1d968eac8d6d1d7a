// Helper for formats whose four bits are the index of a table's entry.
#pragma once

#include "gguf/block.cuh"

namespace kiln::gguf {

// Entries 0 to 15: signed bytes, four to a word, the first one lowest.
template <u32 kFirst, u32 kSecond, u32 kThird, u32 kFourth>
struct Codebook {
  // Unpacks the half bytes of each word: the low ones are the first part, the high ones the second.
  // `kIsMixed`: in the order of look_up_mixed().
  template <bool kIsMixed, u32 kCount>
  KILN_DEVICE static void unpack(const u32 (&packed)[kCount], u32 (&quants)[kCount][2]) {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      const Halves entries = kIsMixed ? look_up_mixed(kFirst, kSecond, kThird, kFourth, packed[k])
                                      : look_up_halves(kFirst, kSecond, kThird, kFourth, packed[k]);
      quants[k][0] = entries.low;
      quants[k][1] = entries.high;
    }
  }
};

// The decoder of a format whose `Block` has the Table, the constants, word() and scale() of a
// decoder, and
//
//   load(block, slice, words)          the words of some slices, `slice` the first
//   load_padded(block, slice, words)   for formats with kMayPad
template <class Block, bool kMixes = false>
struct Indexed : Block {
  static constexpr u32 kParts = 2;

  template <u32 kCount>
  KILN_DEVICE static void decode(const u32 (&words)[kCount], u32 (&quants)[kCount][kParts]) {
    Block::Table::template unpack<kMixes>(words, quants);
  }
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 words[kCount];
    Block::load(block, slice, words);
    decode(words, quants);
  }
  template <u32 kCount>
  KILN_DEVICE static void unpack_padded(const u8* block, u32 slice, u32 (&quants)[kCount][kParts]) {
    u32 words[kCount];
    Block::load_padded(block, slice, words);
    decode(words, quants);
  }
};

// A decoder that products with vectors use in place of `Format`. With kIsMixed<Format>, the quants
// of its two parts are in the order of look_up_mixed().
template <class Format>
struct MixedOf {
  using Type = Format;
};
template <class Block>
struct MixedOf<Indexed<Block>> {
  using Type = Indexed<Block, true>;
};
template <class Format>
using Mixed = typename MixedOf<Format>::Type;
template <class Format>
inline constexpr bool kIsMixed = false;
template <class Block>
inline constexpr bool kIsMixed<Indexed<Block, true>> = true;

}  // namespace kiln::gguf
