// The interface of the decoders in this folder, and their common parts.
//
// A decoder describes one block format of GGUF files. A block holds kValues consecutive values of a
// row in kBytes bytes, little endian and packed. Rows are whole blocks. A value is
//
//   scale * (quant - kZero) + offset
//
// A quant is a signed byte. Runs of kRun values have the same scale and offset. Four consecutive
// values are a word. Formats pack distant words into the same bytes, so a block is read by slices.
// A slice is what few loads bring, and decodes to kParts words.
//
//   kValues kBytes    of a block
//   kAlignment        of a block in a well-aligned array: 1, 2 or 4; 16 in the decoder Aligned
//   kParts            words of a slice; a block has kValues / 4 / kParts slices
//   kTogether         this many slices, from a multiple of it on, have consecutive words and one
//                     scale in each part
//   kRun kZero        see above
//   kHasOffset        false if all offsets are 0
//   word(slice, part)              the word's number w: it holds values 4 * w to 4 * w + 3
//   unpack(block, slice, quants)   the quants of each part of some slices, `slice` the first
//   scale(block, word)             scale and offset of the run that holds the word
//
// A format whose blocks are an f16 scale and words of quants has kIsHeaded, and
//
//   decode(words, quants)          the quants of each part of such words
//
// A format whose blocks begin at any byte has kMayPad, and
//
//   unpack_padded(block, slice, quants)
//                                  unpack(), if three bytes behind the block may be read
//
// A format of four parts has Packed<kCount>(block, slice), which gives the quants part by part:
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

// Loads kCount little-endian words from an address that is a multiple of kAlignment. It makes few
// accesses, and none outside the aligned words that hold the data.
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
    // Loads aligned words, and the last two bytes, which these words may lack. If `at` is not a
    // multiple of 4, the first word begins two bytes before it.
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
    // Loads the aligned words from the one that holds the first byte on. Up to three of the last
    // bytes are not among them: two of these three are loaded together.
    const u32 before = static_cast<u32>(reinterpret_cast<u64>(at)) & 3, odd = before & 1;
    const u32* const aligned = reinterpret_cast<const u32*>(at - before);
    const u8* const rest = at + 4 * kCount - 3;
    const u32 two = *reinterpret_cast<const u16*>(rest + 1 - odd), one = rest[2 * odd];
    const u32 last = odd != 0 ? two | one << 16 : two << 8 | one;
    u32 low = aligned[0];
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) {
      const u32 next = i + 1 < kCount ? aligned[i + 1] : last >> (24 - 8 * before);
      words[i] = static_cast<u32>((static_cast<u64>(next) << 32 | low) >> 8 * before);
      low = next;
    }
  }
}
// Loads kCount words from any address. It reads up to three bytes before and behind them.
template <u32 kCount>
KILN_DEVICE void load_padded_words(const u8* at, u32 (&words)[kCount]) {
  const u32 before = static_cast<u32>(reinterpret_cast<u64>(at)) & 3;
  const u32* const aligned = reinterpret_cast<const u32*>(at - before);
  u32 low = aligned[0];
#pragma unroll
  for (u32 i = 0; i < kCount; ++i) {
    const u32 next = aligned[i + 1];
    words[i] = static_cast<u32>((static_cast<u64>(next) << 32 | low) >> 8 * before);
    low = next;
  }
}
// Loads the two bytes at `at`, which is a multiple of two, and the words after them. It makes one
// access more than there are words.
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

// Spreads four bits to the lowest bits of four bytes.
KILN_DEVICE u32 spread_bits(u32 bits) { return (bits & 0xfu) * 0x00204081u & 0x01010101u; }

// Unpacks the half bytes of each word: the low ones are the first part, the high ones the second.
template <u32 kCount>
KILN_DEVICE void unpack_halves(const u32 (&packed)[kCount], u32 (&quants)[kCount][2]) {
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    quants[k][0] = packed[k] & 0x0f0f0f0fu;
    quants[k][1] = packed[k] >> 4 & 0x0f0f0f0fu;
  }
}

template <class Packed, u32 kCount, u32 kParts>
KILN_DEVICE void unpack_packed(Packed packed, u32 (&quants)[kCount][kParts]) {
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
#pragma unroll
    for (u32 p = 0; p < kParts; ++p) quants[k][p] = packed.next(k);
  }
}

// The decoder of a format for blocks at multiples of sixteen, if it has a special one.
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

// True if a block is a scale and words of quants.
template <class Format, class = void>
inline constexpr bool kIsHeaded = false;
template <class Format>
inline constexpr bool kIsHeaded<Format, decltype(Format::kIsHeaded, void())> = true;

// True if a block begins at any byte.
template <class Format, class = void>
inline constexpr bool kMayPad = false;
template <class Format>
inline constexpr bool kMayPad<Format, decltype(Format::kMayPad, void())> = true;

// A decoder of the same values whose quants need no zero. If the format's kZero is not 0, a quant
// is moved to the top of its byte and the highest bit is flipped: (quant - kZero) * kTimes.
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

// Centered if runs are shorter than the blocks of vectors, whose sums then cannot be used.
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

template <class Format>
inline constexpr u32 kSlices = Format::kValues / 4 / Format::kParts;

// The bits of the f32 kBias + n are kWholeBias + n, for a whole number n with |n| below 2^22. This
// avoids conversion instructions, which are slow.
inline constexpr i32 kWholeBias = 0x4b400000;
inline constexpr f32 kBias = 12582912.0f;
KILN_DEVICE f32 unbiased(i32 biased) { return bit_cast<f32>(biased) - kBias; }
KILN_DEVICE f32 small_to_f32(i32 n) { return unbiased(n + kWholeBias); }

KILN_DEVICE i32 quant_of(u32 quants, u32 i) { return static_cast<i8>(quants >> 8 * i); }

template <class Format>
KILN_DEVICE f32 value_of(Scale s, i32 quant) {
  const f32 centered = static_cast<f32>(quant - Format::kZero);
  return Format::kHasOffset ? math::fma(s.scale, centered, s.offset) : s.scale * centered;
}

// kCount consecutive slices of a block, beginning at a multiple of kCount, which divides kTogether.
// In each part they have consecutive words and one scale.
template <class Format, u32 kCount>
struct Piece {
  static constexpr u32 kParts = Format::kParts, kWords = kCount;
  static constexpr u32 kPerBlock = kSlices<Format> / kCount;
  static_assert(Format::kTogether % kCount == 0);

  // True if a piece is a whole block, read together with its scale.
  static constexpr bool kIsWhole = kIsHeaded<Format> && kPerBlock == 1;

  const u8* block;
  u32 first;  // first slice
  u16 head;   // of a whole block
  u32 quants[kCount][kParts];

  Piece() = default;
  // Piece `i` of an array of blocks. Index has as many bits as the array's size in bytes needs.
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
  KILN_DEVICE u32 word(u32 part) const { return Format::word(first, part); }
  KILN_DEVICE Scale scale(u32 part) const {
    if constexpr (kIsWhole) return {widen(f16{head}), 0};
    return Format::scale(block, word(part));
  }

  KILN_DEVICE void values(u32 part, f32 (&out)[4 * kCount]) const {
    const Scale s = scale(part);
#pragma unroll
    for (u32 k = 0; k < 4 * kCount; ++k) {
      out[k] = value_of<Format>(s, quant_of(quants[k / 4][part], k % 4));
    }
  }
};

}  // namespace kiln::gguf
