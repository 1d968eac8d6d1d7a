// Multiplies 256 columns of eight vectors, which 32 threads hold in registers, by the same columns
// of 16 rows in shared memory.
//
// Rows are the left operand of products of bytes (device/byte_matrix.cuh). The integer product of
// each run is multiplied by the run's scale and added as f32. Offsets times the sums of the
// vectors' blocks are a product of f16.
//
// In most formats load_fragments() loads the rows' bytes: thread `lane` gets word `lane % 4` of
// each 16-byte chunk, of whatever block. The four threads of a row may take columns in any order
// that all rows and vectors share. So a thread takes the words of a run that it has; if the run
// lies in two chunks, one instruction selects the word. The vectors' bytes are put in that order
// once.
#pragma once

#include "device/platform_copies.cuh"
#include "device/platform_matrix.cuh"
#include "families/quantized_matrix.cuh"
#include "gguf/formats.cuh"
#include "gguf/k_scales.cuh"

namespace kiln::families {

#if KILN_HAS_BYTE_MATRIX

inline constexpr u32 kHeldGroups = tuning::kHeldColumns / 32;

// 16 rows in shared memory. The columns of 32 threads begin `behind` bytes behind the start of a
// row. Chunk c of row r, of 16 bytes, lies at c xor r % 8 if rows are swizzled, and otherwise at c.
struct HeldRows {
  const u8* stage;
  SharedPlace place;  // of `stage`
  u32 pitch, lane;
  u32 turns;                      // the bits of a place that are swizzled
  u32 behind[2], behind_of_lane;  // for rows lane / 4, lane / 4 + 8; for row lane % 16

  // Returns the address `offset` bytes behind the first one, in row lane / 4 + 8 * r. The rest of
  // its chunk follows it.
  KILN_DEVICE const u8* at(u32 r, u32 offset) const {
    return stage + (lane / 4 + 8 * r) * pitch + ((behind[r] + offset) ^ (lane / 4 * 16 & turns));
  }
  // Loads the chunk that begins at most 15 bytes before byte `offset`, and the next chunk. A thread
  // gets its word of both rows.
  KILN_DEVICE void load(u32 (&first)[2], u32 (&second)[2], u32 offset) const {
    u32 words[4];
    load_fragments(words, place_of(offset + lane / 16 * 16));
    first[0] = words[0];
    first[1] = words[1];
    second[0] = words[2];
    second[1] = words[3];
  }
  // Loads the first of these chunks only.
  KILN_DEVICE void load(u32 (&words)[2], u32 offset) const {
    load_fragments(words, place_of(offset));
  }

 private:
  KILN_DEVICE SharedPlace place_of(u32 offset) const {
    return place + lane % kTileRows * pitch +
           (((behind_of_lane & ~15u) + offset) ^ (lane % 8 * 16 & turns));
  }
};

// For each 32 columns: words of the right operand, and d of two columns of results.
struct HeldWords {
  u32 words[kHeldGroups][2];
  f32 d[kHeldGroups][2];

  // `stride`: words from vector to vector. Divides d by `of_all` in even groups, by `of_odd` in odd
  // ones.
  KILN_DEVICE void load_scales(const u32* vectors, u32 stride, u32 lane, u32 of_all, u32 of_odd) {
    const u32* const two = vectors + 2 * (lane % 4) * stride;
#pragma unroll
    for (u32 g = 0; g < kHeldGroups; ++g) {
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 d_and_s = two[g * kBlockWords + i * stride];
        const f32 share = 1.0f / static_cast<f32>(g % 2 == 0 ? of_all : of_odd);
        d[g][i] = widen(f16{static_cast<u16>(d_and_s)}) * share;
      }
    }
  }
  // Returns the sums of two blocks of a vector.
  KILN_DEVICE static u32 sums_of(const u32* vectors, u32 stride, u32 lane) {
    const u32* const two = vectors + lane / 4 * stride + lane % 4 * 2 * kBlockWords;
    return permute_bytes<2, 3, 6, 7>(two[0], two[kBlockWords]);
  }
  // Loads the words in the order in which they lie.
  KILN_DEVICE void load_words(const u32* vectors, u32 stride, u32 lane) {
    const u32* const mine = vectors + lane / 4 * stride + 1 + lane % 4;
#pragma unroll
    for (u32 g = 0; g < kHeldGroups; ++g) {
#pragma unroll
      for (u32 i = 0; i < 2; ++i) words[g][i] = mine[g * kBlockWords + 4 * i];
    }
  }
};

// Returns byte `i` of a word as a number, minus kMore.
template <i32 kMore = 0>
KILN_DEVICE f32 byte_to_f32(u32 word, u32 i) {
  return bit_cast<f32>(select_bytes(word, kWholeBias, 0x7640 | i)) - (kBias + kMore);
}

// The specialization of each format has
//   load(vectors, stride, lane, before)   loads blocks of vectors, `stride` words apart; if
//                                         load_fragments() loads rows, their bytes begin
//                                         `before` bytes behind the start of a chunk
//   multiply(of, rows)                    computes the results
template <class GivenFormat, bool kByChunks>
struct HeldFragments;
// True if load_fragments() can load a format's rows.
template <class Format>
inline constexpr bool kHeldByChunks = false;

// Rows of any alignment, not swizzled.
template <class GivenFormat>
struct HeldFragments<GivenFormat, false> : HeldWords {
  using Format = gguf::Centered<GivenFormat>;
  using Unit = UnitRows<Format>;
  static constexpr u32 kRuns = Unit::kRuns;
  static constexpr bool kHasBytes = Format::kValues > 32;  // Q6_K: bytes of scales
  u32 sums;

  KILN_DEVICE void load(const u32* vectors, u32 stride, u32 lane, u32) {
    load_scales(vectors, stride, lane, Format::kTimes, Format::kTimes);
    load_words(vectors, stride, lane);
    sums = sums_of(vectors, stride, lane);
  }

  KILN_DEVICE void multiply(f32 (&of)[4], const HeldRows& staged) const {
    const u32 lane = staged.lane;
    const u8* const rows[2] = {staged.at(0, 0), staged.at(1, 0)};
    u32 scales[2];
    if constexpr (kHasBytes) {
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        const u8* const mine = rows[r] + (Format::kBytes - 18) + lane % 4 * 4;
        scales[r] = gguf::load_word<Format::kAlignment>(mine) ^ 0x80808080u;
      }
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] = 0;
    Unit unit;
#pragma unroll
    for (u32 g = 0; g < kHeldGroups; ++g) {
      if (g % Unit::kGroups == 0) unit.load_bytes(rows, g / Unit::kGroups, lane);
      const ByteRows& a = unit.bytes[g % Unit::kGroups];
      const u32(&b)[2] = words[g];
#pragma unroll
      for (u32 run = 0; run < kRuns; ++run) {
        i32 dot[4];
        if constexpr (kRuns == 1) {
          multiply_byte_fragments(dot, kWholeBias, a.words[0][0], a.words[1][0], a.words[0][1],
                                  a.words[1][1], b[0], b[1]);
        } else {
          multiply_byte_fragments(dot, kWholeBias, a.words[0][run], a.words[1][run], b[run]);
        }
        f32 of_rows[2];
#pragma unroll
        for (u32 r = 0; r < 2; ++r) {
          if constexpr (kHasBytes) {
            const u32 of_pair = share_word(scales[r], g / 2, 4);
            of_rows[r] = byte_to_f32<128>(of_pair, g % 2 * 2 + run);
          } else {
            of_rows[r] = GivenFormat::scale(rows[r] + g * Format::kBytes, 0).scale;
          }
        }
        add_products(of, dot, d[g], of_rows);
      }
    }
    if constexpr (kHasBytes) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) of[i] *= gguf::load_f16(rows[i / 2] + Format::kBytes - 2);
    }
    if constexpr (Format::kHasOffset) {
      u32 offsets[4] = {};
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        const u8* const two = rows[r] + lane % 4 * 2 * Format::kBytes;
        offsets[r] = permute_bytes<2, 3, 6, 7>(gguf::load_word<4>(two),
                                               gguf::load_word<4>(two + Format::kBytes));
      }
      multiply_f16_fragments(of, offsets, sums, 0);
    }
  }
};

// Two blocks, of a scale and quants each, fill whole words: 2 * kChunks chunks and one word. So
// thread p of four has the first word of pair p, and its middle word, in which the second block
// begins.
template <class GivenFormat>
struct HeldPairs : HeldWords {
  using Format = gguf::Centered<GivenFormat>;
  static constexpr u32 kChunks = Format::kBytes / 16;  // of a block
  u32 of_first[4];                                     // selectors for select_bytes()

  KILN_DEVICE void load(const u32* vectors, u32 stride, u32 lane, u32) {
    const u32 j = lane % 4;
#pragma unroll
    for (u32 p = 0; p < 4; ++p) of_first[p] = j > p ? 0x3210 : j == p ? 0x5432 : 0x7654;
    load_scales(vectors, stride, lane, Format::kTimes, Format::kTimes);
#pragma unroll
    for (u32 g = 0; g < kHeldGroups; ++g) {
      const u32 p = g / 2, word = (j - p - g % 2) % 4;
      // With two chunks, a thread's first word may be in the block's last chunk.
      const bool is_last = g % 2 == 0 ? j < p : j <= p;
      const u32* const block = vectors + lane / 4 * stride + g * kBlockWords + 1;
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 at = kChunks == 1 || is_last == (i == 1) ? word : word + 4;
        const u32* const from = kChunks == 1 ? block + 4 * i : block;
        words[g][i] = g % 2 == 0 ? turned(from, at) : from[at];
      }
    }
  }

  KILN_DEVICE void multiply(f32 (&of)[4], const HeldRows& rows) const {
    constexpr u32 kAll = 8 * kChunks;
    u32 chunk[kAll + 1][2];
#pragma unroll
    for (u32 i = 0; i < kAll; i += 2) rows.load(chunk[i], chunk[i + 1], 16 * i);
    rows.load(chunk[kAll], 16 * kAll);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] = 0;
#pragma unroll
    for (u32 p = 0; p < kHeldGroups / 2; ++p) {
      const u32(&first)[2] = chunk[2 * kChunks * p], (&middle)[2] = chunk[(2 * p + 1) * kChunks];
      u32 scales[2];
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        scales[r] = share_word(permute_bytes<0, 1, 6, 7>(first[r], middle[r]), p, 4);
      }
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 g = 2 * p + i, c = g * kChunks;
        u32 a[2][2];
#pragma unroll
        for (u32 r = 0; r < 2; ++r) {
          u32 word = chunk[c + kChunks][r];
          if (g != kHeldGroups - 1) word = select_bytes(chunk[c][r], word, of_block(g));
          if constexpr (kChunks == 1) {
            a[0][r] = (word << 4 & 0xf0f0f0f0u) ^ 0x80808080u;
            a[1][r] = (word & 0xf0f0f0f0u) ^ 0x80808080u;
          } else {
            a[0][r] = word;
            a[1][r] = chunk[c + 1][r];
          }
        }
        i32 dot[4];
        multiply_byte_fragments(dot, kWholeBias, a[0][0], a[0][1], a[1][0], a[1][1], words[g][0],
                                words[g][1]);
        add_products(of, dot, d[g],
                     {widen(f16{static_cast<u16>(scales[0] >> 16 * i)}),
                      widen(f16{static_cast<u16>(scales[1] >> 16 * i)})});
      }
    }
  }

 private:
  // The quants of the second block of a pair begin at a word.
  KILN_DEVICE u32 of_block(u32 g) const {
    const u32 of = of_first[g / 2];
    return g % 2 == 0 || of != 0x5432 ? of : 0x7654;
  }
  // Returns word `i` of quants that begin in the middle of a word. Word 0 is their first and last
  // half word.
  KILN_DEVICE static u32 turned(const u32* quants, u32 i) {
    const u16* const halves = reinterpret_cast<const u16*>(quants);
    return halves[i == 0 ? 0 : 2 * i - 1] |
           static_cast<u32>(halves[i == 0 ? 8 * kChunks - 1 : 2 * i]) << 16;
  }
};
template <>
struct HeldFragments<gguf::Q4_0, true> : HeldPairs<gguf::Q4_0> {};
template <>
struct HeldFragments<gguf::Q8_0, true> : HeldPairs<gguf::Q8_0> {};
template <>
inline constexpr bool kHeldByChunks<gguf::Q4_0> = true;
template <>
inline constexpr bool kHeldByChunks<gguf::Q8_0> = true;

// Blocks of whole chunks. A thread has scales and offsets of runs 2 * (lane % 4) and the next, for
// both rows.
template <class Format>
struct HeldChunks : HeldWords {
  static constexpr bool kHasFifth = Format::kBytes == gguf::Q5_K::kBytes;
  u32 sums;  // of the vector's blocks in these runs

  KILN_DEVICE void load(const u32* vectors, u32 stride, u32 lane, u32) {
    sums = sums_of(vectors, stride, lane);
    // Without a fifth bit, quants of odd runs stay in the upper half of their bytes.
    load_scales(vectors, stride, lane, 1, kHasFifth ? 1 : 16);
    load_words(vectors, stride, lane);
  }

  KILN_DEVICE void multiply(f32 (&of)[4], const HeldRows& rows) const {
    u32 scales = 0, minima[4] = {}, fifth[2][2];
    f32 d_of_row[2], minus_dmin[2];
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      u32 head[4];
      gguf::load_words<16>(rows.at(r, 0), head);
      const gguf::KPair pair = gguf::k_pair(head, rows.lane % 4);
      scales |= pair.scales << 16 * r;
      // The f16 of the bits 0x6400 + n is 1024 + n.
      minima[r] = subtract_f16_pairs(permute_bytes<0, 4, 1, 4>(pair.minima, 0x64u), 0x64006400u);
      d_of_row[r] = widen(f16{static_cast<u16>(head[0])});
      minus_dmin[r] = -widen(f16{static_cast<u16>(head[0] >> 16)});
    }
    if constexpr (kHasFifth) rows.load(fifth[0], fifth[1], 16);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] = 0;
#pragma unroll
    for (u32 pair = 0; pair < kHeldGroups / 2; ++pair) {
      u32 packed[2][2];
      rows.load(packed[0], packed[1], Format::kBytes - 128 + 32 * pair);
      const u32 of_pair = share_word(scales, pair, 4);
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 g = 2 * pair + i;
        u32 a[2][2];
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
#pragma unroll
          for (u32 r = 0; r < 2; ++r) {
            const u32 word = packed[half][r];
            if constexpr (kHasFifth) {
              const u32 bits = g < 4 ? fifth[half][r] << (4 - g) : fifth[half][r] >> (g - 4);
              a[half][r] = (word >> 4 * i & 0x0f0f0f0fu) | (bits & 0x10101010u);
            } else {
              a[half][r] = word & 0x0f0f0f0fu << 4 * i;
            }
          }
        }
        i32 dot[4];
        // Unsigned bytes, because those of odd runs may have their top bit set.
        if constexpr (kHasFifth) {
          multiply_byte_fragments(dot, kWholeBias, a[0][0], a[0][1], a[1][0], a[1][1], words[g][0],
                                  words[g][1]);
        } else {
          multiply_unsigned_byte_fragments(dot, kWholeBias, a[0][0], a[0][1], a[1][0], a[1][1],
                                           words[g][0], words[g][1]);
        }
        add_products(of, dot, d[g], {byte_to_f32(of_pair, i), byte_to_f32(of_pair, 2 + i)});
      }
    }
    f32 offsets[4] = {};
    multiply_f16_fragments(offsets, minima, sums, 0);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      of[i] = math::fma(offsets[i], minus_dmin[i / 2], of[i] * d_of_row[i / 2]);
    }
  }
};
template <>
struct HeldFragments<gguf::Q4_K, true> : HeldChunks<gguf::Q4_K> {};
template <>
struct HeldFragments<gguf::Q5_K, true> : HeldChunks<gguf::Q5_K> {};
template <>
inline constexpr bool kHeldByChunks<gguf::Q4_K> = true;
template <>
inline constexpr bool kHeldByChunks<gguf::Q5_K> = true;

// Q6_K has runs of half the length, so products are of 16 bytes.
template <>
struct HeldFragments<gguf::Q6_K, true> : HeldWords {
  u32 of_run;  // selector for select_bytes()

  KILN_DEVICE void load(const u32* vectors, u32 stride, u32 lane, u32 before) {
    const u32 j = lane % 4, of_chunk = before / 4, word = (j - of_chunk) % 4;
    const bool is_turned = before % 4 != 0;
    of_run = j > of_chunk ? 0x3210 : j < of_chunk ? 0x7654 : is_turned ? 0x5432 : 0x3210;
    // If runs begin in the middle of words, their first and last half word form one word.
    const u32 low = !is_turned ? 2 * word : word == 0 ? 0 : 2 * word - 1;
    const u32 high = !is_turned ? 2 * word + 1 : word == 0 ? 7 : 2 * word;
    // The bytes of rows are four times the quants.
    load_scales(vectors, stride, lane, 4, 4);
    const u32* const mine = vectors + lane / 4 * stride;
#pragma unroll
    for (u32 g = 0; g < kHeldGroups; ++g) {
#pragma unroll
      for (u32 run = 0; run < 2; ++run) {
        const u16* const halves =
            reinterpret_cast<const u16*>(mine + g * kBlockWords + 1 + 4 * run);
        words[g][run] = halves[low] | static_cast<u32>(halves[high]) << 16;
      }
    }
  }

  KILN_DEVICE void multiply(f32 (&of)[4], const HeldRows& rows) const {
    const u32 j = rows.lane % 4;
    u32 scales[2], chunk[14][2];
    f32 d_of_row[2];
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      const auto half = [&](u32 offset) -> u32 {
        return *reinterpret_cast<const u16*>(rows.at(r, offset));
      };
      scales[r] = (half(192 + 4 * j) | half(194 + 4 * j) << 16) ^ 0x80808080u;
      d_of_row[r] = widen(f16{static_cast<u16>(half(208))});
    }
#pragma unroll
    for (u32 i = 0; i < 14; i += 2) rows.load(chunk[i], chunk[i + 1], 16 * i);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] = 0;
#pragma unroll
    for (u32 part = 0; part < 2; ++part) {
      u32 a[4][2][2];  // by group, run and row: four times the quant, minus 128
#pragma unroll
      for (u32 run = 0; run < 2; ++run) {
#pragma unroll
        for (u32 r = 0; r < 2; ++r) {
          const auto words_of = [&](u32 c) {
            return select_bytes(chunk[c + run][r], chunk[c + run + 1][r], of_run);
          };
          const u32 low[2] = {words_of(4 * part), words_of(4 * part + 2)};
          const u32 high = words_of(8 + 2 * part);
#pragma unroll
          for (u32 g = 0; g < 4; ++g) {
            const u32 four = g < 2 ? low[g % 2] << 2 : low[g % 2] >> 2;
            a[g][run][r] =
                (four & 0x3c3c3c3cu) | ((high << (6 - 2 * g) & 0xc0c0c0c0u) ^ 0x80808080u);
          }
        }
      }
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        const u32 g = 4 * part + i;
        const u32 of_pair[2] = {share_word(scales[0], g / 2, 4), share_word(scales[1], g / 2, 4)};
#pragma unroll
        for (u32 run = 0; run < 2; ++run) {
          i32 dot[4];
          multiply_byte_fragments(dot, kWholeBias, a[i][run][0], a[i][run][1], words[g][run]);
          const u32 byte = g % 2 * 2 + run;
          add_products(of, dot, d[g],
                       {byte_to_f32<128>(of_pair[0], byte), byte_to_f32<128>(of_pair[1], byte)});
        }
      }
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] *= d_of_row[i / 2];
  }
};
template <>
inline constexpr bool kHeldByChunks<gguf::Q6_K> = true;

#endif

}  // namespace kiln::families
