// Products of rows that the threads decode themselves and columns of f16 in shared memory, summed
// in f32. Matrix units compute them if they take rows from registers, and a loop otherwise.
//
// 32 neighbouring threads have 16 rows. They multiply 32 values of each row by as many of each of
// kHalfColumns columns at once. Rows are bytes with scales, held as in device/byte_matrix.cuh, and
// are converted to f16 on the way. As there, a thread has four sums of a tile of 16 rows and 8
// columns. The hardware determines the order and the rounding of the additions.
//
//   HalfColumns    layout of columns in shared memory: kHalfSpan values of each, which are a step
//   DecodedRows    the left operand
//
// In each group of 16 values, pairs 0, 2, 4 and 6 precede pairs 1, 3, 5 and 7, in both operands,
// because a thread has four neighbouring values of a row. The order does not matter for the sum.
#pragma once

#include "device/byte_matrix.cuh"
#include "device/dtypes.cuh"
#include "device/half_layout.cuh"
#include "device/platform_matrix.cuh"
#include "tuning/half_products.hpp"

namespace kiln::device {

#if KILN_HAS_WARP_GROUPS
inline constexpr bool kHasWarpGroups = true;
#else
inline constexpr bool kHasWarpGroups = false;
#endif
inline constexpr u32 kHalfColumns = tuning::half_vectors(kHasWarpGroups);
inline constexpr u32 kHalfSpan = tuning::kHalfSpan;
using HalfSums = f32[kHalfColumns / kTileColumns][4];
KILN_DEVICE void set_zero(HalfSums& sums) {
#pragma unroll
  for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) sums[x][i] = 0;
  }
}

#if KILN_HAS_HALF_MMA
// Returns (q - kZero) * scale + offset for two of four bytes q. `bytes` chooses them: 0x4140 the
// first two, 0x4342 the last two. `scale` and `offset` hold their f16 twice.
template <i32 kZero, bool kHasOffset>
KILN_DEVICE u32 decode_pair(u32 quants, u32 bytes, u32 scale, u32 offset) {
  // Bytes are signed if they need neither zero nor offset. The lowest bits of the f16 1024 + n are
  // the byte n.
  constexpr bool kIsSigned = kZero == 0 && !kHasOffset;
  constexpr u32 kMiddle = (0x6400u + (kIsSigned ? 128 : kZero)) * 0x10001u;
  const u32 n = kIsSigned ? quants ^ 0x80808080u : quants;
  const u32 centered = subtract_f16_pairs(select_bytes(n, 0x64646464u, bytes), kMiddle);
  return kHasOffset ? fma_f16_pairs(centered, scale, offset) : multiply_f16_pairs(centered, scale);
}
// Scale and offset as f16, each twice in a word.
struct PairScale {
  u32 scale, offset;
  template <class Scale>
  KILN_DEVICE explicit PairScale(const Scale& of)
      : scale(narrow_pair<f16>(of.scale, of.scale)),
        offset(narrow_pair<f16>(of.offset, of.offset)) {}
};

// Pieces of 16 bytes have the same layout as in memory (device/half_layout.cuh), chunk by chunk.
struct HalfColumns {
  static constexpr u32 kChunkBytes = kHalfColumns * kHalfChunkColumns * 2;
  static constexpr u32 kBytes = kHalfSpan / kHalfChunkColumns * kChunkBytes;
  KILN_DEVICE static u32 place(u32 column, u32 piece) {
    return piece / kHalfPieces * kChunkBytes + half_piece(column, piece % kHalfPieces);
  }
};

class DecodedRows {
 public:
  static constexpr bool kAreShared = false;
  struct Scratch {};

  template <i32 kZero, bool kHasOffset, class Scale>
  KILN_DEVICE void decode(Scratch&, const ByteRows& bytes, const Scale (&first)[2],
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

#if KILN_HAS_WARP_GROUPS
  // Adds the products of group `group` of the step or chunk at `columns` to the sums. If `adds` is
  // false, it replaces the sums instead. Call it between begin_products() and end_products()
  // (device/platform_matrix.cuh).
  KILN_DEVICE void multiply(HalfSums& sums, const Scratch&, const u8* columns, u32 group, u32,
                            bool adds = true) const {
    const u64 from =
        swizzled_columns(columns + group / 2 * HalfColumns::kChunkBytes) + group % 2 * 4;
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      multiply_f16_group(sums, words_[half], from + half * 2, half != 0 || adds);
    }
  }
#else
  // Adds the products of group `group` of a step.
  KILN_DEVICE void multiply(HalfSums& sums, const Scratch&, const u8* columns, u32 group,
                            u32 lane) const {
    const u8* const own = columns + HalfColumns::place(lane % 8, group * 4 + lane / 8);
#pragma unroll
    for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
      u32 pieces[4];
      load_fragments(pieces, own + x * (kTileColumns * kHalfChunkColumns * 2));
#pragma unroll
      for (u32 half = 0; half < 2; ++half) {
        multiply_f16_fragments(sums[x], words_[half], pieces[2 * half], pieces[2 * half + 1]);
      }
    }
  }
#endif

 private:
  u32 words_[2][4];
};

#else

struct HalfColumns {
  static constexpr u32 kStride = kHalfSpan * 2;
  static constexpr u32 kBytes = kHalfColumns * kStride;
  KILN_DEVICE static u32 place(u32 column, u32 piece) { return column * kStride + piece * 16; }
};

class DecodedRows {
 public:
  // Decoded values are in shared memory, between barriers. Rows are an odd number of words apart.
  static constexpr bool kAreShared = true;
  struct Scratch {
    u16 values[kTileRows][34];
  };
  template <i32 kZero, bool kHasOffset, class Scale>
  KILN_DEVICE void decode(Scratch& scratch, const ByteRows& bytes, const Scale (&first)[2],
                          const Scale (&second)[2], u32 lane) {
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
        u16* const to = &scratch.values[lane / 4 + 8 * r][half * 16 + lane % 4 * 2];
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
          const f32 centered = static_cast<f32>(static_cast<i8>(word >> 8 * i) - kZero);
          to[i / 2 * 8 + i % 2] = narrow<f16>(kHasOffset ? math::fma(centered, of.scale, of.offset)
                                                         : centered * of.scale)
                                      .bits;
        }
      }
    }
  }
  KILN_DEVICE void multiply(HalfSums& sums, const Scratch& scratch, const u8* columns, u32 group,
                            u32 lane) const {
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
