// Products of a matrix of quantized rows and many vectors: dst[v * rows_dst + row].
//
// A block makes a tile of kRows x kVectors results, step by step along the rows: 128 values of its
// rows and vectors come to shared memory as signed bytes and scales, are multiplied as whole
// numbers by runs of one scale, and each sum is scaled and added as f32. A block is four groups of
// 32 threads, and each group makes a quarter of the tile.
#pragma once

#include "device/byte_matrix.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "gguf/block.cuh"
#include "gguf/q8_1.cuh"

namespace kiln::families {

using namespace device;
using gguf::Q8_1;

inline constexpr u32 kMatrixThreads = 128;
inline constexpr u32 kStepValues = 128, kStepWords = kStepValues / 4,
                     kStepGroups = kStepValues / 32;
// Words from row to row: the eight rows and four words that a fragment takes lie in 32 banks.
inline constexpr u32 kRowStride = kStepWords + 4;

template <class Format, u32 kRows, u32 kVectors>
struct MatrixTile {
  static constexpr bool kSums = Format::kHasOffset;
  // Runs that end at 32 values, too, where vectors have another scale.
  static constexpr u32 kRun = Format::kRun < 32 ? Format::kRun : 32;
  static constexpr u32 kRuns = kStepValues / kRun;

  u32 rows[kRows * kRowStride];
  u32 vectors[kVectors * kRowStride];
  f32 scales[kRuns][kRows];
  f32 offsets[kSums ? kRuns : 1][kSums ? kRows : 1];
  f32 steps[kStepGroups][kVectors];
  f32 sums[kSums ? kRuns : 1][kSums ? kVectors : 1];
};

// 128 values of each row into the tile, from step * 128 on; 0 behind the row's end and the last
// row.
template <class Format, u32 kRows, u32 kVectors>
KILN_DEVICE void load_rows(MatrixTile<Format, kRows, kVectors>& tile, const u8* matrix, u32 blocks,
                           u32 rows, u32 step) {
  constexpr u32 kOfRow = kStepWords / Format::kParts;  // slices
  constexpr u32 kSlices = gguf::kSlices<Format>;
  const u64 row_bytes = static_cast<u64>(blocks) * Format::kBytes;
  const u32 slice_of_row = step * kOfRow + thread_rank() % kOfRow;
  const u32 block = slice_of_row / kSlices, slice = slice_of_row % kSlices;
#pragma unroll 4
  for (u32 r = thread_rank() / kOfRow; r < kRows; r += kMatrixThreads / kOfRow) {
    u32 quants[Format::kParts] = {};
    if (r < rows && block < blocks) {
      Format::unpack(matrix + r * row_bytes + static_cast<u64>(block) * Format::kBytes, slice,
                     quants);
    }
#pragma unroll
    for (u32 p = 0; p < Format::kParts; ++p) {
      const u32 word = (block * (Format::kValues / 4) + Format::word(slice, p)) % kStepWords;
      const u32 q = quants[p];
      tile.rows[r * kRowStride + word] =
          Format::kZero == 0 ? q : gguf::subtract_from_bytes(q, Format::kZero);
    }
  }
  constexpr u32 kRuns = MatrixTile<Format, kRows, kVectors>::kRuns;
  constexpr u32 kRunWords = kStepWords / kRuns;
#pragma unroll 4
  for (u32 i = thread_rank(); i < kRuns * kRows; i += kMatrixThreads) {
    const u32 r = i / kRuns, run = i % kRuns;
    const u32 word = step * kStepWords + run * kRunWords;
    const u32 of_row = word / (Format::kValues / 4);
    gguf::Scale scale = {};
    if (r < rows && of_row < blocks) {
      scale = Format::scale(matrix + r * row_bytes + static_cast<u64>(of_row) * Format::kBytes,
                            word % (Format::kValues / 4));
    }
    tile.scales[run][r] = scale.scale;
    if constexpr (Format::kHasOffset) tile.offsets[run][r] = scale.offset;
  }
}

// The same of the vectors, which are rows of `stride` blocks of Q8_1.
template <class Format, u32 kRows, u32 kVectors>
KILN_DEVICE void load_vectors(MatrixTile<Format, kRows, kVectors>& tile, const Q8_1* vectors,
                              u32 stride, u32 count, u32 step) {
  using Tile = MatrixTile<Format, kRows, kVectors>;
  const u32 word = thread_rank() % kStepWords, group = word / 8;
  const u32 block = step * kStepGroups + group;
#pragma unroll 4
  for (u32 v = thread_rank() / kStepWords; v < kVectors; v += kMatrixThreads / kStepWords) {
    u32 quants = 0, d_and_s = 0;
    if (v < count && block < stride) {
      const Q8_1& y = vectors[static_cast<u64>(v) * stride + block];
      quants = y.quants[word % 8];
      d_and_s = y.d_and_s;
    }
    tile.vectors[v * kRowStride + word] = quants;
    const f32 d = widen(f16{static_cast<u16>(d_and_s)});
    if (word % 8 == 0) tile.steps[group][v] = d;
    if constexpr (Tile::kSums && Tile::kRun == 32) {
      if (word % 8 == 0) tile.sums[group][v] = widen(f16{static_cast<u16>(d_and_s >> 16)});
    }
  }
  if constexpr (Tile::kSums && Tile::kRun < 32) {
    barrier();
    for (u32 i = thread_rank(); i < Tile::kRuns * kVectors; i += kMatrixThreads) {
      const u32 run = i % Tile::kRuns, v = i / Tile::kRuns;
      i32 sum = 0;
#pragma unroll
      for (u32 w = 0; w < Tile::kRun / 4; ++w) {
        sum =
            dot_bytes(0x01010101u, tile.vectors[v * kRowStride + run * (Tile::kRun / 4) + w], sum);
      }
      tile.sums[run][v] = static_cast<f32>(sum) * tile.steps[run * Tile::kRun / 32][v];
    }
  }
}

// A whole number below 2^22 in magnitude, held as kWholeBias + n, as f32: conversions are slow.
inline constexpr i32 kWholeBias = 0x4b400000;
KILN_DEVICE f32 biased_to_f32(i32 n) { return bit_cast<f32>(n) - 12582912.0f; }

template <class Format, u32 kRows, u32 kVectors>
KILN_DEVICE void mul_mat(const void* vx, const void* vy, f32* dst, i32 columns, i32 rows_x,
                         i32 vectors, i32 rows_y, i32 rows_dst) {
  using Tile = MatrixTile<Format, kRows, kVectors>;
  KILN_SHARED(tile, Tile);
  // A group's quarter, in tiles of fragments.
  constexpr u32 kAcross = kVectors >= kRows ? 2 : (kVectors >= 64 ? 2 : 1);
  constexpr u32 kGroupRows = kRows * kAcross / 4, kGroupVectors = kVectors / kAcross;
  constexpr u32 kDown = kGroupRows / kTileRows, kRight = kGroupVectors / kTileColumns;
  constexpr u32 kRunWords = Tile::kRun / 4, kRunsOfGroup = 32 / Tile::kRun;

  const u32 first_row = block_index() * kRows, first_vector = block_index_y() * kVectors;
  const u32 rows = static_cast<u32>(rows_x) - first_row;
  const u32 count = static_cast<u32>(vectors) - first_vector;
  const u32 blocks = static_cast<u32>(columns) / Format::kValues;
  const u32 stride = static_cast<u32>(rows_y) / 32;
  const u8* const matrix =
      static_cast<const u8*>(vx) + static_cast<u64>(first_row) * blocks * Format::kBytes;
  const Q8_1* const of_tile =
      static_cast<const Q8_1*>(vy) + static_cast<u64>(first_vector) * stride;

  const u32 lane = thread_rank() % kTileThreads, part = thread_rank() / kTileThreads;
  const u32 top = part / kAcross * kGroupRows, left = part % kAcross * kGroupVectors;
  const u32 row = top + lane / 4, column = left + lane % 4 * 2;
  f32 sums[kDown][kRight][4] = {};

  const u32 steps = (static_cast<u32>(columns) + kStepValues - 1) / kStepValues;
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    load_rows(tile, matrix, blocks, rows, step);
    load_vectors(tile, of_tile, stride, count, step);
    barrier();
#pragma unroll 1
    for (u32 group = 0; group < kStepGroups; ++group) {
#pragma unroll
      for (u32 run = 0; run < kRunsOfGroup; ++run) {
        const u32 word = group * 8 + run * kRunWords, r = group * kRunsOfGroup + run;
#pragma unroll
        for (u32 x = 0; x < kRight; ++x) {
          const f32 d[2] = {tile.steps[group][column + 8 * x],
                            tile.steps[group][column + 8 * x + 1]};
#pragma unroll
          for (u32 y = 0; y < kDown; ++y) {
            i32 dot[4] = {kWholeBias, kWholeBias, kWholeBias, kWholeBias};
            multiply_tiles<kRunWords, kRowStride>(
                dot, &tile.rows[(top + y * kTileRows) * kRowStride + word],
                &tile.vectors[(left + x * kTileColumns) * kRowStride + word], lane);
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
              const u32 at = row + y * kTileRows + i / 2 * 8;
              const f32 product = biased_to_f32(dot[i]) * tile.scales[r][at];
              sums[y][x][i] = math::fma(product, d[i % 2], sums[y][x][i]);
              if constexpr (Format::kHasOffset) {
                sums[y][x][i] = math::fma(tile.offsets[r][at], tile.sums[r][column + 8 * x + i % 2],
                                          sums[y][x][i]);
              }
            }
          }
        }
      }
    }
    barrier();
  }
#pragma unroll
  for (u32 x = 0; x < kRight; ++x) {
#pragma unroll
    for (u32 y = 0; y < kDown; ++y) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        const u32 at = row + y * kTileRows + i / 2 * 8, vector = column + 8 * x + i % 2;
        if (at < rows && vector < count) {
          dst[static_cast<u64>(first_vector + vector) * static_cast<u32>(rows_dst) + first_row +
              at] = sums[y][x][i];
        }
      }
    }
  }
}

}  // namespace kiln::families
