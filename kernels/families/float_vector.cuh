// Products of a matrix of quantized rows and a vector of floats. A thread block takes several rows
// at once, so that each load of the vector serves all of them.
#pragma once

#include "device/chunk.cuh"
#include "families/quantized_results.cuh"
#include "families/quantized_vector.cuh"
#include "gguf/block.cuh"

namespace kiln::families {

using namespace device;

// A vector of f32, f16 or bf16, read as f32. Groups of four values are aligned.
struct FloatVector {
  const void* values;
  u32 type;  // tuning::FloatType

  KILN_DEVICE FloatVector(const void* x, u64 before, u32 type_of_x)
      : values(static_cast<const u8*>(x) + before * (type_of_x == tuning::kFloatF32 ? 4 : 2)),
        type(type_of_x) {}

  // Loads the values that a piece of a row is multiplied by. Its block begins at column `at`.
  template <class Piece, u32 kParts, u32 kCount>
  KILN_DEVICE void load(const Piece& piece, u32 at, f32 (&x)[kParts][kCount]) const {
    if (type == tuning::kFloatF32) {
      each_four(piece, at, [&](u32 p, u32 k, u32 from) {
        Chunk<f32, 4> four;
        four.load(static_cast<const f32*>(values) + from);
#pragma unroll
        for (u32 j = 0; j < 4; ++j) x[p][k + j] = four.get(j);
      });
    } else {
      each_four(piece, at, [&](u32 p, u32 k, u32 from) {
        Chunk<f16, 4> four;
        four.load(static_cast<const f16*>(values) + from);
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          const u16 bits = four.get(j).bits;
          x[p][k + j] = type == tuning::kFloatF16 ? widen(f16{bits}) : widen(bf16{bits});
        }
      });
    }
  }

 private:
  template <class Piece, class Load>
  KILN_DEVICE static void each_four(const Piece& piece, u32 at, Load load) {
#pragma unroll
    for (u32 p = 0; p < Piece::kParts; ++p) {
#pragma unroll
      for (u32 k = 0; k < Piece::kWords; ++k) load(p, 4 * k, at + 4 * (piece.word(p) + k));
    }
  }
};

// Returns byte `k` of a word of quants, minus `zero`. `flipped` is the word with its sign bits
// flipped. The f32 is made of bits, because conversions are slow.
KILN_DEVICE f32 quant_to_f32(u32 flipped, u32 k, i32 zero) {
  return bit_cast<f32>(0x4b000000u | (flipped >> 8 * k & 0xffu)) -
         static_cast<f32>(8388608 + 128 + zero);
}

// Like multiply_rows(), for a vector of floats.
template <class Format, u32 kRows, class Matrix, class Output>
KILN_DEVICE void multiply_float_rows(const Matrix& matrix, const FloatVector& vector,
                                     const Output& output, u32 columns, u32 rows) {
  constexpr u32 kWords = Format::kParts == 1 ? 4 : 2;
  using Piece = gguf::Piece<Format, kWords>;
  const u32 pieces = columns / Format::kValues * Piece::kPerBlock;
  const Team team = block_team();
  if (leaves_to_all()) return;
#pragma unroll 1
  for (u32 first = block_index() * kRows; first < rows; first += all_blocks() * kRows) {
    const u8* row[kRows];
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) row[r] = matrix.row(first + r < rows ? first + r : rows - 1);
    f32 sums[kRows] = {};
#pragma unroll 1
    for (u32 i = team.rank; i < pieces; i += team.threads) {
      Piece piece[kRows];
#pragma unroll
      for (u32 r = 0; r < kRows; ++r) piece[r] = Piece(row[r], i);
      f32 x[Format::kParts][4 * kWords];
      vector.load(piece[0], i / Piece::kPerBlock * Format::kValues, x);
#pragma unroll
      for (u32 p = 0; p < Format::kParts; ++p) {
        f32 ones = 0;
        if constexpr (Format::kHasOffset) {
#pragma unroll
          for (u32 k = 0; k < 4 * kWords; ++k) ones += x[p][k];
        }
#pragma unroll
        for (u32 r = 0; r < kRows; ++r) {
          f32 dot = 0;
#pragma unroll
          for (u32 k = 0; k < 4 * kWords; ++k) {
            const u32 flipped = piece[r].quants[k / 4][p] ^ 0x80808080u;
            dot = math::fma(quant_to_f32(flipped, k % 4, Format::kZero), x[p][k], dot);
          }
          const gguf::Scale scale = piece[r].scale(p);
          if constexpr (Format::kHasOffset) sums[r] = math::fma(scale.offset, ones, sums[r]);
          sums[r] = math::fma(scale.scale, dot, sums[r]);
        }
      }
    }
    team_sums(team, sums, [&](u32 i, auto sum_of) {
      if (first + i < rows) output(first + i, 0, [&](u32 n) { return sum_of(i + n); });
    });
  }
}

}  // namespace kiln::families
