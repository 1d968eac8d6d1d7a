// Products of rows that the threads decode themselves and columns of f16 in shared memory, summed
// in f32: matrix units where there are any that take rows from registers, a loop elsewhere.
//
// 32 neighbouring threads have 16 rows and multiply 32 values of each by as many of kHalfColumns
// columns at once. Rows are bytes with scales, held as in device/byte_matrix.cuh, and become f16 on
// the way. Of 16 rows and 8 columns a thread has four sums, as there. The order and the rounding of
// additions are the hardware's.
//
//   HalfColumns             how columns lie in shared memory: kHalfSpan values of each, a step
//   DecodedRows             the left operand
//   DecodedRows::clear      before the first products
//   DecodedRows::multiply   adds the products of 32 values, between begin_products() and
//                           end_products() (device/platform_matrix.cuh)
#pragma once

#include "device/byte_matrix.cuh"
#include "device/dtypes.cuh"
#include "device/platform_matrix.cuh"

namespace kiln::device {

#if KILN_HAS_WARP_GROUPS
inline constexpr bool kHasWarpGroups = true;
#else
inline constexpr bool kHasWarpGroups = false;
#endif
inline constexpr u32 kHalfColumns = kHasWarpGroups ? 128 : 64, kHalfSpan = 256;
using HalfSums = f32[kHalfColumns / kTileColumns][4];
KILN_DEVICE void set_zero(HalfSums& sums) {
#pragma unroll
  for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) sums[x][i] = 0;
  }
}

#if KILN_HAS_HALF_MMA
// (q - kZero) * scale + offset of two of four bytes q: those that `bytes` chooses, 0x4140 the first
// two and 0x4342 the last. Scale and offset stand twice in a word.
template <i32 kZero, bool kHasOffset>
KILN_DEVICE u32 decode_pair(u32 quants, u32 bytes, u32 scale, u32 offset) {
  // Bytes have a sign where they need no zero. The f16 1024 + n has a byte n as its lowest bits.
  constexpr bool kIsSigned = kZero == 0 && !kHasOffset;
  constexpr u32 kMiddle = (0x6400u + (kIsSigned ? 128 : kZero)) * 0x10001u;
  const u32 n = kIsSigned ? quants ^ 0x80808080u : quants;
  const u32 centered = subtract_f16_pairs(select_bytes(n, 0x64646464u, bytes), kMiddle);
  return kHasOffset ? fma_f16_pairs(centered, scale, offset) : multiply_f16_pairs(centered, scale);
}
// Scale and offset, twice each.
struct PairScale {
  u32 scale, offset;
  template <class Scale>
  KILN_DEVICE explicit PairScale(const Scale& of)
      : scale(narrow_pair<f16>(of.scale, of.scale)),
        offset(narrow_pair<f16>(of.offset, of.offset)) {}
};
#endif

#if KILN_HAS_WARP_GROUPS

// Four times 64 values of each column, in the order that the hardware calls a swizzle of 128 bytes.
struct HalfColumns {
  static constexpr u32 kBytes = kHalfColumns * kHalfSpan * 2, kAlignment = 1024;
  KILN_DEVICE static u32 place(u32 column, u32 chunk) {
    return chunk / 8 * (kHalfColumns * 128) + column * 128 + (chunk % 8 ^ column % 8) * 16;
  }
};

// Values in their order: of each 16 a thread has the pairs lane % 4 and lane % 4 + 4.
class DecodedRows {
 public:
  static constexpr bool kAreShared = false, kRunBeside = true;
  struct Scratch {};

  // The word of each half of 32 values that a thread decodes: of `bytes`, and of `others`.
  KILN_DEVICE static u32 word(u32 lane, u32 i) { return lane % 4 / 2 + 2 * i; }
  template <i32 kZero, bool kHasOffset, class Scale>
  KILN_DEVICE void decode(Scratch&, const ByteRows& bytes, const ByteRows& others,
                          const Scale (&first)[2], const Scale (&second)[2], u32 lane) {
    const u32 pair = lane % 2 == 0 ? 0x4140 : 0x4342;
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        const PairScale of(half == 0 ? first[r] : second[r]);
        words_[half][r] =
            decode_pair<kZero, kHasOffset>(bytes.words[r][half], pair, of.scale, of.offset);
        words_[half][r + 2] =
            decode_pair<kZero, kHasOffset>(others.words[r][half], pair, of.scale, of.offset);
      }
    }
  }
  KILN_DEVICE static void clear(HalfSums&) {}
  KILN_DEVICE void multiply(HalfSums& sums, bool is_first, const Scratch&, const u8* columns,
                            u32 group, u32) const {
    const u64 from = swizzled_columns(columns) + group / 2 * (kHalfColumns * 8) + group % 2 * 4;
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      multiply_f16_group(sums, words_[half], from + half * 2, half != 0 || !is_first);
    }
  }

 private:
  u32 words_[2][4];
};

#elif KILN_HAS_HALF_MMA

// Four columns' eight bytes lie in 32 banks.
struct HalfColumns {
  static constexpr u32 kStride = kHalfSpan * 2 + 32;
  static constexpr u32 kBytes = kHalfColumns * kStride, kAlignment = 16;
  KILN_DEVICE static u32 place(u32 column, u32 chunk) { return column * kStride + chunk * 16; }
};

// A thread has four neighbouring values of each half of 32, of both operands: which column of a
// fragment a value is does not matter, as long as it is the same one.
class DecodedRows {
 public:
  static constexpr bool kAreShared = false, kRunBeside = false;
  struct Scratch {};
  KILN_DEVICE static u32 word(u32 lane, u32) { return lane % 4; }

  template <i32 kZero, bool kHasOffset, class Scale>
  KILN_DEVICE void decode(Scratch&, const ByteRows& bytes, const ByteRows&, const Scale (&first)[2],
                          const Scale (&second)[2], u32) {
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        const PairScale of(half == 0 ? first[r] : second[r]);
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
          words_[half][2 * i + r] = decode_pair<kZero, kHasOffset>(
              bytes.words[r][half], i == 0 ? 0x4140 : 0x4342, of.scale, of.offset);
        }
      }
    }
  }
  KILN_DEVICE static void clear(HalfSums& sums) { set_zero(sums); }
  KILN_DEVICE void multiply(HalfSums& sums, bool, const Scratch&, const u8* columns, u32 group,
                            u32 lane) const {
    const u8* const own = columns + lane / 4 * HalfColumns::kStride + lane % 4 * 8 + group * 64;
    // Products with the same sum lie apart: one takes long until the next can begin.
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
#pragma unroll
      for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
        const u64 four = *reinterpret_cast<const u64*>(
            own + x * (kTileColumns * HalfColumns::kStride) + 32 * half);
        multiply_f16_fragments(sums[x], words_[half], static_cast<u32>(four),
                               static_cast<u32>(four >> 32));
      }
    }
  }

 private:
  u32 words_[2][4];
};

#else

struct HalfColumns {
  static constexpr u32 kStride = kHalfSpan * 2;
  static constexpr u32 kBytes = kHalfColumns * kStride, kAlignment = 16;
  KILN_DEVICE static u32 place(u32 column, u32 chunk) { return column * kStride + chunk * 16; }
};

class DecodedRows {
 public:
  // In shared memory, between barriers; rows are apart by an odd number of words.
  static constexpr bool kAreShared = true, kRunBeside = false;
  struct Scratch {
    u16 values[kTileRows][34];
  };
  KILN_DEVICE static u32 word(u32 lane, u32) { return lane % 4; }

  template <i32 kZero, bool kHasOffset, class Scale>
  KILN_DEVICE void decode(Scratch& scratch, const ByteRows& bytes, const ByteRows&,
                          const Scale (&first)[2], const Scale (&second)[2], u32 lane) {
    // Four threads have the same rows, and each stores a quarter of them.
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        const Scale& of = half == 0 ? first[r] : second[r];
        u32 word = bytes.words[r][half];
        if constexpr (kRowWords > 2) {
#pragma unroll
          for (u32 w = 0; w < 4; ++w) {
            if (lane % 4 == w) word = bytes.words[r][half * 4 + w];
          }
        }
        u16* const to = &scratch.values[lane / 4 + 8 * r][half * 16 + lane % 4 * 4];
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
          const f32 centered = static_cast<f32>(static_cast<i8>(word >> 8 * i) - kZero);
          to[i] = narrow<f16>(kHasOffset ? math::fma(centered, of.scale, of.offset)
                                         : centered * of.scale)
                      .bits;
        }
      }
    }
  }
  KILN_DEVICE static void clear(HalfSums& sums) { set_zero(sums); }
  KILN_DEVICE void multiply(HalfSums& sums, bool, const Scratch& scratch, const u8* columns,
                            u32 group, u32 lane) const {
    const u16* const own =
        reinterpret_cast<const u16*>(columns + lane % 4 * 2 * HalfColumns::kStride) + group * 32;
    constexpr u32 kApart = HalfColumns::kStride / 2;
#pragma unroll 1
    for (u32 k = 0; k < 32; ++k) {
      f32 rows[2];
#pragma unroll
      for (u32 r = 0; r < 2; ++r) rows[r] = widen(f16{scratch.values[lane / 4 + 8 * r][k]});
#pragma unroll
      for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
          const f32 value = widen(f16{own[(x * kTileColumns + i % 2) * kApart + k]});
          sums[x][i] = math::fma(rows[i / 2], value, sums[x][i]);
        }
      }
    }
  }
};

#endif

}  // namespace kiln::device
