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
//   kAlignment        of a block in an array that is aligned well: 1, 2 or 4; of Aligned 16
//   kParts            words of a slice; a block has kValues / 4 / kParts slices
//   kTogether         so many slices, from a multiple of it on, have consecutive words and
//                     one scale in each part
//   kRun kZero        see above
//   kHasOffset        whether offsets are not all 0
//   word(slice, part)              the word's number: of values 4 * word to 4 * word + 3
//   unpack(block, slice, quants)   the quants of each part of some slices, `slice` the first
//   scale(block, word)             scale and offset of the run that holds the word
//
// A format whose blocks are a scale, f16, and words of quants has kIsHeaded, and
//
//   decode(words, quants)          the quants of each part of such words
//
// A format of four parts has Packed<kCount>(block, slice), from which they come one after another:
//
//   next(k)                        the quants of the next part of slice `k` of kCount
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

// kCount little-endian words from an address of so much alignment, by few accesses, and none beside
// them.
template <u32 kAlignment, u32 kCount>
KILN_DEVICE void load_words(const u8* at, u32 (&words)[kCount]) {
  if constexpr (kAlignment == 16) {
#pragma unroll
    for (u32 i = 0; i < kCount; i += 4) {
      const Words four = load_16_bytes(at + 4 * i);
#pragma unroll
      for (u32 k = 0; k < 4; ++k) words[i + k] = four.word[k];
    }
  } else if constexpr (kAlignment == 4) {
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) words[i] = reinterpret_cast<const u32*>(at)[i];
  } else if constexpr (kAlignment == 2 && kCount > 1) {
    // The aligned words that hold all but the last half, which they hold, too, where `at` is one.
    // Before `at` they have no more than the rest of a word.
    const u32 before = static_cast<u32>(reinterpret_cast<u64>(at)) & 2;
    const u32* const aligned = reinterpret_cast<const u32*>(at - before);
    const u32 last = *reinterpret_cast<const u16*>(at + 4 * kCount - 2);
    u32 low = aligned[0];
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) {
      const u32 next = i + 1 < kCount ? aligned[i + 1] : last;
      words[i] = static_cast<u32>((static_cast<u64>(next) << 32 | low) >> 8 * before);
      low = next;
    }
  } else if constexpr (kAlignment == 2) {
    const u16* const halves = reinterpret_cast<const u16*>(at);
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) {
      words[i] = halves[2 * i] | static_cast<u32>(halves[2 * i + 1]) << 16;
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) {
      words[i] = at[4 * i] | static_cast<u32>(at[4 * i + 1]) << 8 |
                 static_cast<u32>(at[4 * i + 2]) << 16 | static_cast<u32>(at[4 * i + 3]) << 24;
    }
  }
}
// The two bytes at `at`, a multiple of two, and the words behind them, by one access more than
// there are words.
template <u32 kCount>
KILN_DEVICE u16 load_head_and_words(const u8* at, u32 (&words)[kCount]) {
  // All but the first or the last two bytes are aligned words.
  const bool is_odd = (reinterpret_cast<u64>(at) & 2) != 0;
  const u32* const aligned = reinterpret_cast<const u32*>(is_odd ? at + 2 : at);
  const u32 other = *reinterpret_cast<const u16*>(is_odd ? at : at + 4 * kCount);
  u32 low = aligned[0];
  const u32 head = is_odd ? other : low;
#pragma unroll
  for (u32 i = 0; i < kCount; ++i) {
    const u32 next = i + 1 < kCount ? aligned[i + 1] : other;
    words[i] = static_cast<u32>((static_cast<u64>(next) << 32 | low) >> (is_odd ? 0 : 16));
    low = next;
  }
  return static_cast<u16>(head);
}
template <u32 kAlignment>
KILN_DEVICE u32 load_word(const u8* at) {
  u32 words[1];
  load_words<kAlignment>(at, words);
  return words[0];
}
KILN_DEVICE f32 load_f16(const u8* at) { return widen(*reinterpret_cast<const f16*>(at)); }

// Four bits to the lowest bits of four bytes.
KILN_DEVICE u32 spread_bits(u32 bits) { return (bits & 0xfu) * 0x00204081u & 0x01010101u; }

// The halves of the bytes of each word: the low ones to the first part, the high ones to the
// second.
template <u32 kCount>
KILN_DEVICE void unpack_halves(const u32 (&packed)[kCount], u32 (&quants)[kCount][2]) {
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    quants[k][0] = packed[k] & 0x0f0f0f0fu;
    quants[k][1] = packed[k] >> 4 & 0x0f0f0f0fu;
  }
}

// The quants of each part of what is packed.
template <class Packed, u32 kCount, u32 kParts>
KILN_DEVICE void unpack_packed(Packed packed, u32 (&quants)[kCount][kParts]) {
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
#pragma unroll
    for (u32 p = 0; p < kParts; ++p) quants[k][p] = packed.next(k);
  }
}

// The same, of blocks that are known to lie at multiples of sixteen, where a format reads those in
// another way.
template <class Format, class = void>
struct AlignedOf {
  using Type = Format;
  static constexpr bool kDiffers = false;
};
template <class Format>
struct AlignedOf<Format, decltype(static_cast<typename Format::Aligned*>(nullptr), void())> {
  using Type = typename Format::Aligned;
  static constexpr bool kDiffers = true;
};
template <class Format>
using Aligned = typename AlignedOf<Format>::Type;
template <class Format>
KILN_DEVICE bool are_aligned(const void* blocks) {
  return !AlignedOf<Format>::kDiffers || reinterpret_cast<u64>(blocks) % 16 == 0;
}

// Whether a block is a scale and words of quants.
template <class Format, class = void>
inline constexpr bool kIsHeaded = false;
template <class Format>
inline constexpr bool kIsHeaded<Format, decltype(Format::kIsHeaded, void())> = true;

// Whether quants are numbers of a table's values, whose look-up takes instructions and registers.
template <class Format, class = void>
inline constexpr bool kHasTable = false;
template <class Format>
inline constexpr bool
    kHasTable<Format, decltype(static_cast<typename Format::Table*>(nullptr), void())> = true;

// The same values by quants that need no zero: those of a format with one, at the top of their
// bytes and with the highest bit turned, which is (quant - kZero) times kTimes.
template <class Format>
struct Centered : Format {
  static constexpr i32 kZero = 0;
  static constexpr u32 kTimes = Format::kZero == 0 ? 1 : 128 / Format::kZero;
  template <u32 kCount>
  KILN_DEVICE static void unpack(const u8* block, u32 slice,
                                 u32 (&quants)[kCount][Format::kParts]) {
    Format::unpack(block, slice, quants);
    if constexpr (Format::kZero != 0) {
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) {
#pragma unroll
        for (u32 p = 0; p < Format::kParts; ++p) quants[k][p] = quants[k][p] * kTimes ^ 0x80808080u;
      }
    }
  }
  template <u32 kCount>
  struct Packed : Format::template Packed<kCount> {
    using Given = typename Format::template Packed<kCount>;
    using Given::Given;
    KILN_DEVICE u32 next(u32 k) {
      const u32 quants = Given::next(k);
      return Format::kZero == 0 ? quants : quants * kTimes ^ 0x80808080u;
    }
  };
  KILN_DEVICE static Scale scale(const u8* block, u32 word) {
    const Scale of_run = Format::scale(block, word);
    return {of_run.scale * (1.0f / kTimes), of_run.offset};
  }
};

// The same where runs are shorter than the blocks of vectors, whose sums then do not serve.
template <class Format, bool kIsCentered = (Format::kRun < 32)>
struct CenteredRunsOf {
  using Type = Format;
};
template <class Format>
struct CenteredRunsOf<Format, true> {
  using Type = Centered<Format>;
};
template <class Format>
using CenteredRuns = typename CenteredRunsOf<Format>::Type;

// The slices of a block.
template <class Format>
inline constexpr u32 kSlices = Format::kValues / 4 / Format::kParts;

// A whole number n as the bits of the f32 kBias + n, |n| below 2^22: conversions are slow.
inline constexpr i32 kWholeBias = 0x4b400000;
inline constexpr f32 kBias = 12582912.0f;
KILN_DEVICE f32 unbiased(i32 biased) { return bit_cast<f32>(biased) - kBias; }
KILN_DEVICE f32 small_to_f32(i32 n) { return unbiased(n + kWholeBias); }

// Byte `i` of a word of quants.
KILN_DEVICE i32 quant_of(u32 quants, u32 i) { return static_cast<i8>(quants >> 8 * i); }

template <class Format>
KILN_DEVICE f32 value_of(Scale s, i32 quant) {
  const f32 centered = static_cast<f32>(quant - Format::kZero);
  return Format::kHasOffset ? math::fma(s.scale, centered, s.offset) : s.scale * centered;
}

// kCount consecutive slices of a block, from a multiple of kCount on, at most kTogether:
// consecutive words of one scale in each part.
template <class Format, u32 kCount>
struct Piece {
  static constexpr u32 kParts = Format::kParts, kWords = kCount;
  static constexpr u32 kPerBlock = kSlices<Format> / kCount;
  static_assert(Format::kTogether % kCount == 0);

  // Whether it is a block, read with its scale.
  static constexpr bool kIsWhole = kIsHeaded<Format> && kPerBlock == 1;

  const u8* block;
  u32 first;  // slice
  u16 head;   // of a whole block
  u32 quants[kCount][kParts];

  Piece() = default;
  // Piece `i` of an array of blocks, counted in as many bits as its bytes take.
  template <class Index>
  KILN_DEVICE Piece(const u8* blocks, Index i)
      : block(blocks + i / kPerBlock * Format::kBytes),
        first(static_cast<u32>(i % kPerBlock) * kCount) {
    if constexpr (kIsWhole) {
      u32 words[kCount];
      head = load_head_and_words(block, words);
      Format::decode(words, quants);
    } else {
      Format::unpack(block, first, quants);
    }
  }
  // The first word of a part, and its scale.
  KILN_DEVICE u32 word(u32 part) const { return Format::word(first, part); }
  KILN_DEVICE Scale scale(u32 part) const {
    if constexpr (kIsWhole) return {widen(f16{head}), 0};
    return Format::scale(block, word(part));
  }

  // The values of a part.
  KILN_DEVICE void values(u32 part, f32 (&out)[4 * kCount]) const {
    const Scale s = scale(part);
#pragma unroll
    for (u32 k = 0; k < 4 * kCount; ++k) {
      out[k] = value_of<Format>(s, quant_of(quants[k / 4][part], k % 4));
    }
  }
};

}  // namespace kiln::gguf
