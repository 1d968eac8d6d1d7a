// Multiplies 64 columns of a Q8_1 vector, which a thread holds in registers, by the same columns of
// rows in shared memory.
//
// This takes fewer instructions than pieces (gguf/block.cuh). Quants stay at their bits within a
// byte, as unsigned numbers, so some sums are 16 times too large and are scaled at the end. If a
// row's quants begin in the middle of a word, the vector's bytes are put in the same order.
#pragma once

#include "device/chunk.cuh"
#include "device/platform_copies.cuh"
#include "device/platform_matrix.cuh"
#include "gguf/formats.cuh"

namespace kiln::families {

using namespace device;
using gguf::Q8_1;

#if KILN_HAS_COPIES

// Scales sums of products with a block of the vector. Sums begin at kWholeBias and are `times` too
// large.
struct HeldBlock {
  f32 d, from, s;
  HeldBlock() = default;
  KILN_DEVICE HeldBlock(const Q8_1& block, u32 times)
      : d(block.d() / static_cast<f32>(times)), from(-gguf::kBias * d), s(block.s()) {}
  KILN_DEVICE f32 scaled(i32 sum) const { return math::fma(bit_cast<f32>(sum), d, from); }
};

// Reorders a vector block's words for a row whose quants begin in the middle of a word. The first
// word gets the first two and the last two bytes; each other gets the last two of the word before
// and its own first two.
template <u32 kCount>
KILN_DEVICE void turn_halves(u32 (&words)[kCount]) {
  const u32 first = words[0];
  u32 before = first;
  words[0] = permute_bytes<0, 1, 6, 7>(first, words[kCount - 1]);
#pragma unroll
  for (u32 k = 1; k < kCount; ++k) {
    const u32 word = words[k];
    words[k] = permute_bytes<2, 3, 4, 5>(before, word);
    before = word;
  }
}
KILN_DEVICE f32 low_f16(u32 word) { return widen(f16{static_cast<u16>(word)}); }

// The specialization of each format has
//   load(vector, lane, place)   `vector` is the block of the first column of 32 threads; `place` is
//                               the address of a row's bytes for these columns, modulo 4
//   dot(row, lane)              the product; `row` has the bytes of these columns
template <class Format>
struct HeldColumns;
// True if `row` may be any multiple of two. Otherwise it is a multiple of sixteen.
template <class Format>
inline constexpr bool kStartsAtHalves = false;
template <>
inline constexpr bool kStartsAtHalves<gguf::Q6_K> = true;

// Two blocks, 9 words.
template <>
struct HeldColumns<gguf::Q4_0> {
  u32 low[2][4], high[2][4];
  HeldBlock block[2];

  KILN_DEVICE void load(const Q8_1* vector, u32 lane, u32) {
#pragma unroll
    for (u32 b = 0; b < 2; ++b) {
      const Q8_1& y = vector[2 * lane + b];
      block[b] = HeldBlock(y, 16);
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        low[b][k] = y.quants[k];
        high[b][k] = y.quants[k + 4];
      }
    }
    turn_halves(low[0]);
    turn_halves(high[0]);
  }
  KILN_DEVICE f32 dot(const u8* row, u32 lane) const {
    u32 words[9];
    gguf::load_words<4>(row + 36 * lane, words);
    f32 total = product(0, words[0], permute_bytes<2, 3, 4, 5>(words[0], words[4]), &words[1]);
    return total + product(1, words[4] >> 16, words[5], &words[6]);
  }

 private:
  KILN_DEVICE f32 product(u32 b, u32 scale, u32 first, const u32* rest) const {
    i32 ones = 0, sixteens = gguf::kWholeBias;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
      const u32 word = k == 0 ? first : rest[k - 1];
      ones = dot_unsigned_bytes(word & 0x0f0f0f0fu, low[b][k], ones);
      sixteens = dot_unsigned_bytes(word & 0xf0f0f0f0u, high[b][k], sixteens);
    }
    return low_f16(scale) * (block[b].scaled(16 * ones + sixteens) - 8 * block[b].s);
  }
};

// Two blocks, 17 words.
template <>
struct HeldColumns<gguf::Q8_0> {
  u32 quants[2][8];
  HeldBlock block[2];

  KILN_DEVICE void load(const Q8_1* vector, u32 lane, u32) {
#pragma unroll
    for (u32 b = 0; b < 2; ++b) {
      const Q8_1& y = vector[2 * lane + b];
      block[b] = HeldBlock(y, 1);
#pragma unroll
      for (u32 k = 0; k < 8; ++k) quants[b][k] = y.quants[k];
    }
    turn_halves(quants[0]);
  }
  KILN_DEVICE f32 dot(const u8* row, u32 lane) const {
    u32 words[17];
    gguf::load_words<4>(row + 68 * lane, words);
    i32 sum[2] = {gguf::kWholeBias, gguf::kWholeBias};
    sum[0] = dot_bytes(permute_bytes<2, 3, 4, 5>(words[0], words[8]), quants[0][0], sum[0]);
#pragma unroll
    for (u32 k = 1; k < 8; ++k) sum[0] = dot_bytes(words[k], quants[0][k], sum[0]);
#pragma unroll
    for (u32 k = 0; k < 8; ++k) sum[1] = dot_bytes(words[9 + k], quants[1][k], sum[1]);
    return math::fma(low_f16(words[0]), block[0].scaled(sum[0]),
                     low_f16(words[8] >> 16) * block[1].scaled(sum[1]));
  }
};

// Scales and offsets of the two runs in a quarter of a block.
struct QuarterScales {
  f32 scale[2], offset[2];
  KILN_DEVICE QuarterScales(const u8* block, u32 quarter) {
    u32 head[4];
    gguf::load_words<16>(block, head);
    const gguf::KPair pair = gguf::k_pair(head, quarter);
    multiples(low_f16(head[0]), pair.scales, scale);
    multiples(-low_f16(head[0] >> 16), pair.minima, offset);
  }

 private:
  // d * n = d * (kBias + n) - d * kBias, exact if d is finite.
  KILN_DEVICE static void multiples(f32 d, u32 numbers, f32 (&out)[2]) {
    const f32 from = -gguf::kBias * d;
    constexpr u32 kBias = gguf::kWholeBias;
    out[0] = math::fma(d, bit_cast<f32>(permute_bytes<0, 4, 6, 7>(numbers, kBias)), from);
    out[1] = math::fma(d, bit_cast<f32>(permute_bytes<1, 4, 6, 7>(numbers, kBias)), from);
  }
};

// A quarter of a block: 32 bytes, each with four bits of a value of both runs. Q5_K adds two bits
// from each of 32 bytes that all quarters share.
template <bool kHasFifth>
struct HeldQuarter {
  static constexpr u32 kBytes = kHasFifth ? 176 : 144;
  u32 quants[2][8];
  HeldBlock block[2];

  KILN_DEVICE void load(const Q8_1* vector, u32 lane, u32) {
#pragma unroll
    for (u32 b = 0; b < 2; ++b) {
      const Q8_1& y = vector[2 * lane + b];
      block[b] = HeldBlock(y, kHasFifth || b == 1 ? 16 : 1);
#pragma unroll
      for (u32 k = 0; k < 8; ++k) quants[b][k] = y.quants[k];
    }
  }
  KILN_DEVICE f32 dot(const u8* row, u32 lane) const {
    const u8* const of_block = row + lane / 4 * kBytes;
    const u32 quarter = lane % 4, mask = 0x01010101u << 2 * quarter;
    const QuarterScales scales(of_block, quarter);
    u32 packed[8], fifth[8];
    gguf::load_words<16>(of_block + (kBytes - 128) + 32 * quarter, packed);
    if constexpr (kHasFifth) gguf::load_words<16>(of_block + 16, fifth);
    i32 low = kHasFifth ? 0 : gguf::kWholeBias, high = gguf::kWholeBias, bits[2] = {};
#pragma unroll
    for (u32 k = 0; k < 8; ++k) {
      low = dot_unsigned_bytes(packed[k] & 0x0f0f0f0fu, quants[0][k], low);
      high = dot_unsigned_bytes(packed[k] & 0xf0f0f0f0u, quants[1][k], high);
      if constexpr (kHasFifth) {
        bits[0] = dot_unsigned_bytes(fifth[k] & mask, quants[0][k], bits[0]);
        bits[1] = dot_unsigned_bytes(fifth[k] & 2 * mask, quants[1][k], bits[1]);
      }
    }
    if constexpr (kHasFifth) {
      const i32 times = 256 >> 2 * quarter;
      low = 16 * low + (bits[0] * times + gguf::kWholeBias);
      high += bits[1] * (times / 2);
    }
    f32 total = scales.offset[0] * block[0].s;
    total = math::fma(scales.offset[1], block[1].s, total);
    total = math::fma(scales.scale[0], block[0].scaled(low), total);
    return math::fma(scales.scale[1], block[1].scaled(high), total);
  }
};
template <>
struct HeldColumns<gguf::Q4_K_At<16>> : HeldQuarter<false> {};
template <>
struct HeldColumns<gguf::Q5_K_At<16>> : HeldQuarter<true> {};

// 16 columns of each of the four groups of 32 in half a block. Two groups share bytes for the lower
// four bits of their quants, and all four share bytes for the upper two bits.
template <>
struct HeldColumns<gguf::Q6_K> {
  u32 quants[4][4];
  HeldBlock of_vector[4];
  i32 first[4];  // start of each sum, which accounts for the zero of 32
  u32 before;    // distance of the block from a multiple of four bytes: 0 or 2

  KILN_DEVICE void load(const Q8_1* vector, u32 lane, u32 place) {
    const Q8_1* const of_half = vector + lane / 2 * 4;
    before = place + lane / 4 * 210 & 2;
#pragma unroll
    for (u32 p = 0; p < 4; ++p) {
      const u32 times = p < 2 ? 1 : 16;
      of_vector[p] = HeldBlock(of_half[p], times);
      i32 ones = 0;
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        quants[p][k] = of_half[p].quants[lane % 2 * 4 + k];
        ones = dot_bytes(0x01010101u, quants[p][k], ones);
      }
      if (before != 0) turn_halves(quants[p]);
      first[p] = gguf::kWholeBias - static_cast<i32>(32 * times) * ones;
    }
  }
  KILN_DEVICE f32 dot(const u8* row, u32 lane) const {
    const u8* const block = row + lane / 4 * 210;
    const u32 half = lane / 2 % 2, part = lane % 2;
    u32 low[2][4], high[4];
    load_halves(block + (64 * half + 16 * part), low[0]);
    load_halves(block + (64 * half + 16 * part + 32), low[1]);
    load_halves(block + (32 * half + 16 * part + 128), high);
    const u8* const scales = block + (192 + 8 * half + part);
    f32 total = 0;
#pragma unroll
    for (u32 p = 0; p < 4; ++p) {
      i32 sum = first[p], above = 0;
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        const u32 mask = p < 2 ? 0x0f0f0f0fu : 0xf0f0f0f0u;
        sum = dot_unsigned_bytes(low[p % 2][k] & mask, quants[p][k], sum);
        above = dot_unsigned_bytes(high[k] & 0x03030303u << 2 * p, quants[p][k], above);
      }
      total = math::fma(static_cast<f32>(static_cast<i8>(scales[2 * p])),
                        of_vector[p].scaled(above * (p % 2 == 0 ? 16 : 4) + sum), total);
    }
    return gguf::load_f16(block + 208) * total;
  }

 private:
  // Loads 16 bytes as words, in the order of the vector's words. Also reads the next word.
  KILN_DEVICE void load_halves(const u8* at, u32 (&words)[4]) const {
    u32 aligned[5];
    gguf::load_words<4>(at - before, aligned);
    words[0] = select_bytes(aligned[0], aligned[4], 0x3210 + before * 0x1111);
#pragma unroll
    for (u32 k = 1; k < 4; ++k) words[k] = aligned[k];
  }
};

#endif

}  // namespace kiln::families
