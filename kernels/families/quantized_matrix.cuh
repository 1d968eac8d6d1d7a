// Products of a matrix of quantized rows and several vectors: dst[v * rows_dst + row].
//
// Tiles of results are made step by step along the rows: 128 values of the rows and vectors come to
// shared memory as signed bytes and scales, are multiplied as whole numbers by runs of one scale,
// and each sum is scaled and added as f32. Many vectors: a block makes one tile, and its four
// groups of 32 threads a quarter each. Five to eight: each group takes steps of its own for the
// same 16 rows.
#pragma once

#include "device/byte_matrix.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "gguf/block.cuh"
#include "gguf/q8_1.cuh"

namespace kiln::families {

using namespace device;
using gguf::Q8_1;

inline constexpr u32 kStepValues = 128, kStepWords = kStepValues / 4;
inline constexpr u32 kStepGroups = kStepValues / 32;  // of 32 values, which are a block of a vector
// Words from row to row: eight rows of sixteen bytes lie in 32 banks.
inline constexpr u32 kRowStride = kStepWords + 4;

// How many slices of a format a thread loads at once: 32 values, or 64 where scales are apart from
// what they scale.
template <class Format>
using StepPiece = gguf::Piece<Format, (Format::kTogether < 8 ? 4 : 8)>;

template <class Format_, u32 kRows, u32 kVectors>
struct MatrixTile {
  using Format = Format_;
  static constexpr bool kHasOffset = Format::kHasOffset;
  // Runs that end at 32 values, too, where vectors have another scale.
  static constexpr u32 kRun = Format::kRun < 32 ? Format::kRun : 32;
  static constexpr u32 kRuns = kStepValues / kRun;
  // Whether the vectors' values must be summed; else their blocks have the sum.
  static constexpr bool kSums = kHasOffset && kRun < 32;
  static constexpr u32 kVectorStride = kStepGroups * sizeof(Q8_1) / 4;

  alignas(16) u32 rows[kRows * kRowStride];
  alignas(16) u32 vectors[kVectors * kVectorStride];  // blocks of Q8_1
  f32 scales[kRuns][kRows];
  f32 offsets[kHasOffset ? kRuns : 1][kHasOffset ? kRows : 1];
  f32 sums[kSums ? kRuns : 1][kSums ? kVectors : 1];

  // What one of kThreads threads brings of a step. Fetched before the step that is in the tile is
  // used up, and stored after.
  template <u32 kThreads>
  struct Share {
    using Piece = StepPiece<Format>;
    static constexpr u32 kWords = Piece::kWords, kOfRow = kStepWords / (kWords * Format::kParts);
    static constexpr u32 kPieces = kRows * kOfRow / kThreads;
    static constexpr u32 kOfVector = kVectorStride / 4;
    static constexpr u32 kChunks = (kVectors * kOfVector + kThreads - 1) / kThreads;

    Piece pieces[kPieces];
    Words chunks[kChunks];
    u32 first_piece;  // of the step, in a row
    u32 blocks_left;

    // The values from step * 128 on; 0 behind a row's or a vector's end, and behind the last of
    // them.
    KILN_DEVICE void fetch(const u8* matrix, u32 blocks, u32 row_count, const Q8_1* vectors,
                           u32 stride, u32 vector_count, u32 step, u32 thread) {
      const u64 row_bytes = static_cast<u64>(blocks) * Format::kBytes;
      first_piece = step * kOfRow + thread % kOfRow;
      const u32 block = first_piece / Piece::kPerBlock;
      blocks_left = block < blocks ? row_count : 0;  // rows that have this piece
#pragma unroll
      for (u32 i = 0; i < kPieces; ++i) {
        const u32 r = thread / kOfRow + i * (kThreads / kOfRow);
        // What is not there is the first piece, times 0.
        const bool is_there = r < blocks_left;
        pieces[i] = Piece(matrix + (is_there ? r * row_bytes : 0), is_there ? first_piece : 0);
      }
      const u32 first = step * kStepGroups;
      const bool is_whole = address_of(vectors) % 16 == 0 && stride % kStepGroups == 0;
#pragma unroll
      for (u32 i = 0; i < kChunks; ++i) {
        const u32 chunk = thread + i * kThreads, v = chunk / kOfVector,
                  word = chunk % kOfVector * 4;
        const u32* const at = reinterpret_cast<const u32*>(vectors + v * stride + first) + word;
        if (is_whole && v < vector_count && first < stride) {
          chunks[i] = load_16_bytes(at);
        } else {
#pragma unroll
          for (u32 k = 0; k < 4; ++k) {
            const bool is_there = v < vector_count && first + (word + k) / 9 < stride;
            chunks[i].word[k] = is_there ? at[k] : 0;
          }
        }
      }
    }

    KILN_DEVICE void store(MatrixTile& tile, u32 thread) const {
      constexpr u32 kRunWords = kStepWords / kRuns;
      const u32 first_word = first_piece / Piece::kPerBlock * (Format::kValues / 4);
#pragma unroll
      for (u32 i = 0; i < kPieces; ++i) {
        const u32 r = thread / kOfRow + i * (kThreads / kOfRow);
        const bool is_there = r < blocks_left;
#pragma unroll
        for (u32 p = 0; p < Format::kParts; ++p) {
          const u32 slice = first_piece % Piece::kPerBlock * kWords;
          const u32 word = (first_word + Format::word(slice, p)) % kStepWords;
#pragma unroll
          for (u32 k = 0; k < kWords; ++k) {
            tile.rows[r * kRowStride + word + k] = pieces[i].quants[k][p];
          }
          if (word % kRunWords != 0) continue;
          const gguf::Scale scale = pieces[i].scale(p);
          tile.scales[word / kRunWords][r] = is_there ? scale.scale : 0;
          if constexpr (kHasOffset) tile.offsets[word / kRunWords][r] = is_there ? scale.offset : 0;
        }
      }
#pragma unroll
      for (u32 i = 0; i < kChunks; ++i) {
        const u32 chunk = thread + i * kThreads;
        if (kVectors * kOfVector % kThreads != 0 && chunk >= kVectors * kOfVector) continue;
#pragma unroll
        for (u32 k = 0; k < 4; ++k) tile.vectors[4 * chunk + k] = chunks[i].word[k];
      }
    }
  };

  // The vectors' sums over runs, once the vectors are there.
  template <u32 kThreads>
  KILN_DEVICE void sum_vectors(u32 thread) {
    for (u32 i = thread; i < kRuns * kVectors; i += kThreads) {
      const u32 run = i % kRuns, v = i / kRuns;
      i32 sum = 0;
#pragma unroll
      for (u32 w = 0; w < kRun / 4; ++w) {
        const u32 word = run * (kRun / 4) + w;
        sum = dot_bytes(0x01010101u, quants(v, word / 8)[word % 8], sum);
      }
      sums[run][v] =
          static_cast<f32>(sum) * widen(f16{static_cast<u16>(d_and_s(v, run * kRun / 32))});
    }
  }

  KILN_DEVICE u32 d_and_s(u32 vector, u32 group) const {
    return vectors[vector * kVectorStride + group * 9];
  }
  KILN_DEVICE const u32* quants(u32 vector, u32 group) const {
    return &vectors[vector * kVectorStride + group * 9 + 1];
  }
};

// A whole number below 2^22 in magnitude, held as kWholeBias + n, as f32: conversions are slow.
inline constexpr i32 kWholeBias = 0x4b400000;
KILN_DEVICE f32 biased_to_f32(i32 n) { return bit_cast<f32>(n) - 12582912.0f; }

// The results of one thread of a group: kDown x kRight fragments from row `top` and vector `left`
// of a tile on.
template <u32 kDown, u32 kRight>
struct TileResults {
  f32 of[kDown][kRight][4] = {};

  KILN_DEVICE static u32 row(u32 lane, u32 y, u32 i) {
    return lane / 4 + y * kTileRows + i / 2 * 8;
  }
  KILN_DEVICE static u32 vector(u32 lane, u32 x, u32 i) {
    return lane % 4 * 2 + x * kTileColumns + i % 2;
  }

  // Adds what the step in the tile gives.
  template <class Tile>
  KILN_DEVICE void add_step(const Tile& tile, u32 top, u32 left, u32 lane) {
    constexpr u32 kUnroll = kRight == 1 ? kStepGroups : 1;
#pragma unroll kUnroll
    for (u32 group = 0; group < kStepGroups; ++group) {
      Bytes bytes[kDown];
#pragma unroll
      for (u32 y = 0; y < kDown; ++y) {
        bytes[y].load(&tile.rows[(top + y * kTileRows) * kRowStride + group * 8], lane);
      }
      if constexpr (Tile::kRun == 32) {
        add_run<-1>(tile, bytes, group, group, top, left, lane);
      } else {
        add_run<0>(tile, bytes, group, 2 * group, top, left, lane);
        add_run<1>(tile, bytes, group, 2 * group + 1, top, left, lane);
      }
    }
  }

 private:
  using Bytes = ByteRows<kRowStride>;

  template <i32 kHalf, class Tile>
  KILN_DEVICE void add_run(const Tile& tile, const Bytes (&bytes)[kDown], u32 group, u32 run,
                           u32 top, u32 left, u32 lane) {
    using Format = typename Tile::Format;
    const u32 first_row = top + row(lane, 0, 0), first_vector = left + vector(lane, 0, 0);
    f32 scales[kDown][2], offsets[kDown][2] = {};
#pragma unroll
    for (u32 y = 0; y < kDown; ++y) {
#pragma unroll
      for (u32 h = 0; h < 2; ++h) {
        scales[y][h] = tile.scales[run][first_row + y * kTileRows + 8 * h];
        if (Tile::kHasOffset) offsets[y][h] = tile.offsets[run][first_row + y * kTileRows + 8 * h];
      }
    }
#pragma unroll
    for (u32 x = 0; x < kRight; ++x) {
      f32 d[2], s[2];
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 v = first_vector + x * kTileColumns + i;
        const u32 both = tile.d_and_s(v, group);
        d[i] = widen(f16{static_cast<u16>(both)});
        s[i] = Tile::kSums ? tile.sums[Tile::kSums ? run : 0][Tile::kSums ? v : 0]
                           : widen(f16{static_cast<u16>(both >> 16)});
      }
      const u32* const columns = tile.quants(left + x * kTileColumns, group);
#pragma unroll
      for (u32 y = 0; y < kDown; ++y) {
        i32 dot[4] = {kWholeBias, kWholeBias, kWholeBias, kWholeBias};
        bytes[y].template multiply<kHalf, Tile::kVectorStride>(dot, columns, lane);
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
          f32& sum = of[y][x][i];
          const f32 product = Format::kZero == 0 ? biased_to_f32(dot[i]) * d[i % 2]
                                                 : math::fma(biased_to_f32(dot[i]), d[i % 2],
                                                             -Format::kZero * s[i % 2]);
          sum = math::fma(product, scales[y][i / 2], sum);
          if constexpr (Tile::kHasOffset) sum = math::fma(offsets[y][i / 2], s[i % 2], sum);
        }
      }
    }
  }
};

KILN_DEVICE u32 step_count(u32 columns) { return (columns + kStepValues - 1) / kStepValues; }

inline constexpr u32 kMatrixThreads = 128;

// The results of a tile, from a row and a vector on: output(row, vector, value).
template <class Format, u32 kRows, u32 kVectors, class Output>
KILN_DEVICE void mul_mat_tile(MatrixTile<Format, kRows, kVectors>& tile, const void* vx,
                              const void* vy, const Output& output, i32 columns, i32 rows_x,
                              i32 vectors, i32 rows_y, u32 first_row, u32 first_vector) {
  using Tile = MatrixTile<Format, kRows, kVectors>;
  // A group's quarter.
  constexpr u32 kAcross = kVectors >= 64 ? 2 : 1;
  constexpr u32 kGroupRows = kRows * kAcross / 4, kGroupVectors = kVectors / kAcross;
  using Results = TileResults<kGroupRows / kTileRows, kGroupVectors / kTileColumns>;

  if (first_row >= static_cast<u32>(rows_x) || first_vector >= static_cast<u32>(vectors)) return;
  const u32 rows = static_cast<u32>(rows_x) - first_row;
  const u32 count = static_cast<u32>(vectors) - first_vector;
  const u32 blocks = static_cast<u32>(columns) / Format::kValues;
  const u32 stride = static_cast<u32>(rows_y) / 32;
  const u8* const matrix =
      static_cast<const u8*>(vx) + static_cast<u64>(first_row) * blocks * Format::kBytes;
  const Q8_1* const of_tile =
      static_cast<const Q8_1*>(vy) + static_cast<u64>(first_vector) * stride;

  const u32 thread = thread_rank(), lane = thread % kTileThreads, part = thread / kTileThreads;
  const u32 top = part / kAcross * kGroupRows, left = part % kAcross * kGroupVectors;
  Results results;
  const u32 steps = step_count(static_cast<u32>(columns));
  typename Tile::template Share<kMatrixThreads> share;
  if (steps != 0) share.fetch(matrix, blocks, rows, of_tile, stride, count, 0, thread);
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    share.store(tile, thread);
    barrier();
    share.fetch(matrix, blocks, rows, of_tile, stride, count, step + 1, thread);
    if (Tile::kSums) {
      tile.template sum_vectors<kMatrixThreads>(thread);
      barrier();
    }
    results.add_step(tile, top, left, lane);
    barrier();
  }
#pragma unroll
  for (u32 x = 0; x < kGroupVectors / kTileColumns; ++x) {
#pragma unroll
    for (u32 y = 0; y < kGroupRows / kTileRows; ++y) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        const u32 row = top + Results::row(lane, y, i);
        const u32 vector = left + Results::vector(lane, x, i);
        if (row < rows && vector < count) {
          output(first_row + row, first_vector + vector, results.of[y][x][i]);
        }
      }
    }
  }
}

// mul_mat: block (x, y) makes the tile of kRows rows and kVectors vectors with these numbers; of
// more results than registers hold, half after half.
template <class Format, u32 kRows, u32 kVectors>
KILN_DEVICE void mul_mat(const void* vx, const void* vy, f32* dst, i32 columns, i32 rows_x,
                         i32 vectors, i32 rows_y, i32 rows_dst) {
  constexpr u32 kHalf = kRows * kVectors > 128 * 64 ? kVectors / 2 : kVectors;
  using Tile = MatrixTile<Format, kRows, kHalf>;
  KILN_SHARED(tile, Tile);
  const auto output = [&](u32 row, u32 vector, f32 value) {
    dst[static_cast<u64>(vector) * static_cast<u32>(rows_dst) + row] = value;
  };
#pragma unroll 1
  for (u32 v = 0; v < kVectors; v += kHalf) {
    mul_mat_tile(tile, vx, vy, output, columns, rows_x, vectors, rows_y, block_index() * kRows,
                 block_index_y() * kVectors + v);
  }
}

// mul_mat_vec of 5 to 8 vectors: blocks of up to kGroups times 32 threads make 16 rows each, their
// groups by steps in turn. A launch may have any number of blocks.
template <class Format, u32 kVectors, u32 kGroups>
KILN_DEVICE void mul_mat_vectors(const void* vx, const void* vy, f32* dst, i32 columns, i32 rows_x,
                                 i32 rows_y, i32 rows_dst) {
  using Tile = MatrixTile<Format, kTileRows, kTileColumns>;
  using Results = TileResults<1, 1>;
  struct Tiles {
    Tile of[kGroups];
    f32 results[kGroups][kTileRows * kTileColumns];
  };
  KILN_SHARED(tiles, Tiles);
  const u32 rows = static_cast<u32>(rows_x);
  if (block_index() * kTileRows >= rows) return;
  const u32 blocks = static_cast<u32>(columns) / Format::kValues;
  const u32 stride = static_cast<u32>(rows_y) / 32;
  const u32 thread = thread_rank(), lane = thread % kTileThreads, group = thread / kTileThreads;
  const u32 groups = block_threads() / kTileThreads;
  const u32 steps = step_count(static_cast<u32>(columns));
  const Q8_1* const vectors = static_cast<const Q8_1*>(vy);
  Tile& tile = tiles.of[group];
#pragma unroll 1
  for (u32 first = block_index() * kTileRows; first < rows; first += block_count() * kTileRows) {
    const u8* const matrix =
        static_cast<const u8*>(vx) + static_cast<u64>(first) * blocks * Format::kBytes;
    Results results;
    typename Tile::template Share<kTileThreads> share;
    // All groups go as many rounds: what lies behind the last step is 0.
#pragma unroll 1
    for (u32 round = 0; round < steps; round += groups) {
      share.fetch(matrix, blocks, rows - first, vectors, stride, kVectors, round + group, lane);
      share.store(tile, lane);
      wave_barrier();
      if (Tile::kSums) {
        tile.template sum_vectors<kTileThreads>(lane);
        wave_barrier();
      }
      results.add_step(tile, 0, 0, lane);
      wave_barrier();
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      tiles.results[group][Results::row(lane, 0, i) * kTileColumns + Results::vector(lane, 0, i)] =
          results.of[0][0][i];
    }
    barrier();
    for (u32 i = thread; i < kTileRows * kVectors; i += block_threads()) {
      const u32 row = i % kTileRows, vector = i / kTileRows;
      f32 sum = 0;
#pragma unroll 1
      for (u32 g = 0; g < groups; ++g) sum += tiles.results[g][row * kTileColumns + vector];
      if (first + row < rows) {
        dst[static_cast<u64>(vector) * static_cast<u32>(rows_dst) + first + row] = sum;
      }
    }
    barrier();
  }
}

}  // namespace kiln::families
