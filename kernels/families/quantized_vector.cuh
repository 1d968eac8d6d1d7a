// Products of a matrix of quantized rows and a few vectors. The threads of a block share a row, or
// a few neighbouring rows; blocks go on to other rows, if the launch has fewer blocks than it
// takes.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "gguf/block.cuh"
#include "gguf/q8_1.cuh"

namespace kiln::families {

using namespace device;
using gguf::Q8_1;

// The sums over the block of each of kCount values, at most as many as a wave has lanes: thread i
// returns that of sums[i].
template <u32 kCount>
struct BlockSums {
  static constexpr u32 kMostWaves = 32;
  f32 of[kMostWaves][kCount];
};
template <u32 kCount>
KILN_DEVICE f32 block_sums(f32 (&sums)[kCount]) {
  KILN_SHARED(scratch, BlockSums<kCount>);
  const u32 threads = block_threads(), rank = thread_rank();
  const u32 both = threads | wave_width();
  const u32 width = both & (0 - both);
  f32 mine = 0;
#pragma unroll
  for (u32 i = 0; i < kCount; ++i) {
    const f32 sum = wave_sum(sums[i], width);
    mine = rank == i ? sum : mine;
    sums[i] = sum;
  }
  if (threads == width) return mine;
  barrier();  // what an earlier call left may still be read
  if (rank % width == 0) {
#pragma unroll
    for (u32 i = 0; i < kCount; ++i) scratch.of[rank / width][i] = sums[i];
  }
  barrier();
  mine = 0;
  if (rank < kCount) {
    for (u32 w = 0; w < threads / width; ++w) mine += scratch.of[w][rank];
  }
  return mine;
}

// How many slices of a format a thread takes at once: at least sixteen values, and of formats whose
// parts have scales of their own eight a part.
template <class Format>
inline constexpr u32 kSlicesAtOnce = Format::kParts == 1 ? 4 : 2;

template <class Format>
using RowPiece = gguf::Piece<Format, kSlicesAtOnce<Format>>;

// A piece of a row times what lies beside it in a row of Q8_1.
template <class Format>
KILN_DEVICE f32 times_q8_1(const RowPiece<Format>& piece, const gguf::Scale* scales,
                           const Q8_1* row, u64 first_word) {
  constexpr u32 kWords = kSlicesAtOnce<Format>;
  // Parts of one run are one sum.
  constexpr bool kOneRun = Format::kValues == 32;
  constexpr f32 kShare = (kOneRun ? kWords * Format::kParts : kWords) / 8.0f;
  f32 total = 0;
  i32 dot = 0, ones = 0;
#pragma unroll
  for (u32 p = 0; p < Format::kParts; ++p) {
    const u64 word = first_word + piece.word(p);
    const Q8_1& y = row[word / 8];
#pragma unroll
    for (u32 k = 0; k < kWords; ++k) {
      const u32 quants = y.quants[word % 8 + k];
      dot = dot_bytes(piece.quants[k][p], quants, dot);
      if (Format::kHasOffset && Format::kRun < 32) ones = dot_bytes(0x01010101u, quants, ones);
    }
    if (kOneRun && p + 1 < Format::kParts) continue;
    const gguf::Scale scale = scales[p];
    f32 product = static_cast<f32>(dot) * y.d();
    if constexpr (Format::kZero != 0) product -= Format::kZero * kShare * y.s();
    product *= scale.scale;
    if constexpr (Format::kHasOffset) {
      product +=
          scale.offset * (Format::kRun < 32 ? static_cast<f32>(ones) * y.d() : kShare * y.s());
    }
    total += product;
    dot = ones = 0;
  }
  return total;
}

// kVectors rows of Q8_1, `stride` blocks apart, times the rows of a matrix of `columns` columns:
// dst[v * dst_stride + row].
template <class Format, u32 kVectors>
KILN_DEVICE void multiply_vectors(const u8* matrix, const Q8_1* vectors, f32* dst, u32 columns,
                                  u32 rows, u32 stride, u32 dst_stride) {
  constexpr u32 kRows = kVectors == 1 ? 1 : 2;
  const u32 blocks = columns / Format::kValues;
  const u32 pieces = blocks * RowPiece<Format>::kPerBlock;
  const u64 row_bytes = static_cast<u64>(blocks) * Format::kBytes;
#pragma unroll 1
  for (u32 first = block_index() * kRows; first < rows; first += block_count() * kRows) {
    f32 sums[kRows * kVectors] = {};
#pragma unroll 1
    for (u32 i = thread_rank(); i < pieces; i += block_threads()) {
      const u64 first_word =
          static_cast<u64>(i / RowPiece<Format>::kPerBlock) * (Format::kValues / 4);
#pragma unroll
      for (u32 r = 0; r < kRows; ++r) {
        const u32 row = first + r < rows ? first + r : first;
        const RowPiece<Format> piece(matrix + row * row_bytes, i);
        gguf::Scale scales[Format::kParts];
#pragma unroll
        for (u32 p = 0; p < Format::kParts; ++p) scales[p] = piece.scale(p);
#pragma unroll
        for (u32 v = 0; v < kVectors; ++v) {
          sums[r * kVectors + v] +=
              times_q8_1<Format>(piece, scales, vectors + v * stride, first_word);
        }
      }
    }
    const f32 sum = block_sums(sums);
    const u32 rank = thread_rank(), row = first + rank / kVectors;
    if (rank < kRows * kVectors && row < rows) {
      dst[static_cast<u64>(rank % kVectors) * dst_stride + row] = sum;
    }
  }
}

// mul_mat_vec: `rows_y` is the padded length of a vector.
template <class Format, u32 kVectors>
KILN_DEVICE void mul_mat_vec(const void* vx, const void* vy, f32* dst, i32 columns, i32 rows,
                             i32 rows_y, i32 rows_dst) {
  multiply_vectors<Format, kVectors>(static_cast<const u8*>(vx), static_cast<const Q8_1*>(vy), dst,
                                     static_cast<u32>(columns), static_cast<u32>(rows),
                                     static_cast<u32>(rows_y) / 32, static_cast<u32>(rows_dst));
}

// Mixture of experts: for each task (batch, slot) the product of its expert's matrix, of n rows and
// k columns, and its vector: that of its batch, or its own.
template <class Format>
KILN_DEVICE void indexed_moe(const void* weights, const void* inputs, const u32* experts,
                             f32* outputs, i32 n, i32 k, i32 batch, i32 top, i32 padded,
                             i32 input_rows) {
  const u32 of_batch = block_index_y(), slot = block_index_z();
  if (of_batch >= static_cast<u32>(batch) || slot >= static_cast<u32>(top)) return;
  const u32 task = of_batch * static_cast<u32>(top) + slot;
  const u64 expert_bytes =
      static_cast<u64>(n) * (static_cast<u32>(k) / Format::kValues) * Format::kBytes;
  const u64 stride = static_cast<u32>(padded) / 32;
  multiply_vectors<Format, 1>(
      static_cast<const u8*>(weights) + experts[task] * expert_bytes,
      static_cast<const Q8_1*>(inputs) + (input_rows == 1 ? of_batch : task) * stride,
      outputs + static_cast<u64>(task) * static_cast<u32>(n), static_cast<u32>(k),
      static_cast<u32>(n), 0, 0);
}

// dequantize_mul_mat_vec: the same with one vector of f32, which is not rounded.
template <class Format>
KILN_DEVICE void multiply_f32_vector(const void* vx, const f32* y, f32* dst, i32 columns,
                                     u32 rows) {
  constexpr u32 kCount = 4 * kSlicesAtOnce<Format>;
  const u32 blocks = static_cast<u32>(columns) / Format::kValues;
  const u32 pieces = blocks * RowPiece<Format>::kPerBlock;
  const bool by_chunks = address_of(y) % 16 == 0;
#pragma unroll 1
  for (u32 row = block_index(); row < rows; row += block_count()) {
    const u8* const blocks_of_row =
        static_cast<const u8*>(vx) + static_cast<u64>(row) * blocks * Format::kBytes;
    f32 sums[1] = {};
#pragma unroll 1
    for (u32 i = thread_rank(); i < pieces; i += block_threads()) {
      const RowPiece<Format> piece(blocks_of_row, i);
      const f32* const beside =
          y + static_cast<u64>(i / RowPiece<Format>::kPerBlock) * Format::kValues;
#pragma unroll
      for (u32 p = 0; p < Format::kParts; ++p) {
        f32 values[kCount];
        piece.values(p, values);
#pragma unroll
        for (u32 k = 0; k < kCount; k += 4) {
          const f32* const at = beside + 4 * piece.word(p) + k;
          Chunk<f32, 4> four;
          if (by_chunks) {
            four.load(at);
          } else {
#pragma unroll
            for (u32 j = 0; j < 4; ++j) four.word[j] = bit_cast<u32>(at[j]);
          }
#pragma unroll
          for (u32 j = 0; j < 4; ++j) sums[0] = math::fma(values[k + j], four.get(j), sums[0]);
        }
      }
    }
    const f32 sum = block_sums(sums);
    if (thread_rank() == 0) dst[row] = sum;
  }
}

}  // namespace kiln::families
