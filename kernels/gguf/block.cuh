// What the decoders of this folder are, and what they share.
//
// A decoder describes one block format of GGUF files. A block holds kValues consecutive values of a
// row in kBytes bytes, little endian and packed; rows are whole blocks. A value is
//
//   scale * (quant - kZero) + offset
//
// where the quant is a signed byte, and scale and offset are the same for runs of kRun values. Four
// consecutive values are a word. Formats pack words that lie apart into the same bytes, so a block
// is read by slices: what few loads bring, decoded into kParts words.
//
//   kValues kBytes    of a block
//   kAlignment        of a block in an array that is aligned well: 1, 2 or 4
//   kParts            words of a slice; a block has kValues / 4 / kParts slices
//   kTogether         so many slices, from a multiple of it on, have consecutive words and one
//   scale
//                     in each part
//   kRun kZero        see above
//   kHasOffset        whether offsets are not all 0
//   word(slice, part)              the word's number: of values 4 * word to 4 * word + 3
//   unpack(block, slice, quants)   the quants of each part
//   scale(block, word)             scale and offset of the run that holds the word
//
// Source of all layouts: the GGUF specification (ggml/docs/gguf.md) and the blocks' structs in
// ggml's ggml-common.h, restated in the comment of each decoder.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::gguf {

using namespace device;

struct Scale {
  f32 scale, offset;
};

// A little-endian number at an address of so much alignment.
template <u32 kAlignment>
KILN_DEVICE u32 load_word(const u8* at) {
  if constexpr (kAlignment >= 4) {
    return *reinterpret_cast<const u32*>(at);
  } else if constexpr (kAlignment == 2) {
    const u16* const halves = reinterpret_cast<const u16*>(at);
    return halves[0] | static_cast<u32>(halves[1]) << 16;
  } else {
    return at[0] | static_cast<u32>(at[1]) << 8 | static_cast<u32>(at[2]) << 16 |
           static_cast<u32>(at[3]) << 24;
  }
}
KILN_DEVICE f32 load_f16(const u8* at) { return widen(*reinterpret_cast<const f16*>(at)); }

// Four bits to the lowest bits of four bytes.
KILN_DEVICE u32 spread_bits(u32 bits) { return (bits & 0xfu) * 0x00204081u & 0x01010101u; }

// Each byte, below 128, less `n`, below 128.
KILN_DEVICE u32 subtract_from_bytes(u32 bytes, u32 n) {
  return ((bytes | 0x80808080u) - n * 0x01010101u) ^ 0x80808080u;
}

// The slices of a block.
template <class Format>
inline constexpr u32 kSlices = Format::kValues / 4 / Format::kParts;

// Byte `i` of a word of quants.
KILN_DEVICE i32 quant_of(u32 quants, u32 i) { return static_cast<i8>(quants >> 8 * i); }

// kCount consecutive slices of a block, from a multiple of kCount on, at most kTogether:
// consecutive words of one scale in each part.
template <class Format, u32 kCount>
struct Piece {
  static constexpr u32 kParts = Format::kParts;
  static constexpr u32 kPerBlock = kSlices<Format> / kCount;
  static_assert(Format::kTogether % kCount == 0);

  const u8* block;
  u32 first;  // slice
  u32 quants[kCount][kParts];

  // Piece `i` of an array of blocks.
  KILN_DEVICE Piece(const u8* blocks, u64 i)
      : block(blocks + i / kPerBlock * Format::kBytes),
        first(static_cast<u32>(i % kPerBlock) * kCount) {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) Format::unpack(block, first + k, quants[k]);
  }
  // The first word of a part, and its scale.
  KILN_DEVICE u32 word(u32 part) const { return Format::word(first, part); }
  KILN_DEVICE Scale scale(u32 part) const { return Format::scale(block, word(part)); }

  // The values of a part.
  KILN_DEVICE void values(u32 part, f32 (&out)[4 * kCount]) const {
    const Scale s = scale(part);
#pragma unroll
    for (u32 k = 0; k < 4 * kCount; ++k) {
      const f32 quant = static_cast<f32>(quant_of(quants[k / 4][part], k % 4) - Format::kZero);
      out[k] = Format::kHasOffset ? math::fma(s.scale, quant, s.offset) : s.scale * quant;
    }
  }
};

}  // namespace kiln::gguf
