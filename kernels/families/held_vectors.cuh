// Products of a matrix of quantized rows and up to eight vectors, by matrix units: each 32 threads
// hold 256 columns of all the vectors in registers, and rows stream through shared memory.
//
// Rows are the left operand of products of bytes (device/byte_matrix.cuh), 16 at once; the threads
// of a block have the same rows and different columns, and wait for each other only where their
// sums meet. The whole number that comes of a run of one scale is scaled and added as f32; offsets
// times the sums of the vectors' blocks are a product of f16. The matrix begins and ends at a
// multiple of sixteen bytes, and so do vectors. Stages are dynamic shared memory: a product goes
// this way where its launch brings enough.
#pragma once

#include "device/platform_matrix.cuh"
#include "families/quantized_matrix.cuh"
#include "gguf/k_scales.cuh"
#include "tuning/quantized.hpp"

namespace kiln::families {

// Whether those of a format are.
#if KILN_HAS_BYTE_MATRIX
template <class Format>
inline constexpr bool kHoldsVectors = tuning::holds_vectors(Format::kBytes);
#else
template <class Format>
inline constexpr bool kHoldsVectors = false;
#endif

#if KILN_HAS_BYTE_MATRIX

// Of blocks of whole waves.
template <class GivenFormat>
struct HeldVectors {
  using Format = gguf::Centered<GivenFormat>;
  using Unit = UnitRows<Format>;
  static constexpr u32 kTiles = tuning::kHeldTiles;          // of a block at once
  static constexpr u32 kGroups = tuning::kHeldColumns / 32;  // what 32 threads hold
  static constexpr u32 kRuns = Unit::kRuns;
  // Of a row. Rows of some formats begin anywhere among sixteen bytes; sixteen bytes of eight rows
  // lie in 32 banks.
  static constexpr u32 kBytes = tuning::kHeldColumns / Format::kValues * Format::kBytes;
  static constexpr u32 kMostBefore = kBytes % 16 == 0 ? 0 : 16 - Format::kAlignment;
  static constexpr u32 kChunks = (kBytes + kMostBefore + 15) / 16, kStride = kChunks | 1;
  static constexpr u32 kVectorChunks = kGroups * kBlockWords / 4;

  // What 32 threads copy at once: columns of a tile or of the vectors.
  union alignas(16) Stage {
    u8 rows[kTileRows * kStride * 16];
    u32 vectors[kTileColumns * kVectorChunks * 4];
  };
  static constexpr u32 kStages = tuning::kHeldStages;
  // Of 32 threads; at last their sums.
  union Stages {
    Stage stage[kStages];
    f32 sums[kTiles][4][kTileThreads];
  };
  static_assert(sizeof(Stages) == tuning::held_bytes(Format::kBytes, Format::kValues));

  KILN_DEVICE static bool takes(const BlockMatrix& matrix, const VectorRows& vectors) {
    if (dynamic_shared_bytes() < block_threads() / kTileThreads * sizeof(Stages)) return false;
    const u64 end =
        address_of(matrix.bytes) + static_cast<u64>(matrix.rows) * matrix.blocks * Format::kBytes;
    const u64 begins =
        address_of(matrix.bytes) | address_of(vectors.words) | static_cast<u64>(vectors.stride) * 4;
    return vectors.count <= kTileColumns && vectors.groups % kGroups == 0 && block_count_y() == 1 &&
           (begins | end) % 16 == 0;
  }

  KILN_DEVICE static void multiply(const BlockMatrix& matrix, const VectorRows& vectors, f32* dst,
                                   u32 dst_stride) {
    const u32 thread = thread_rank(), lane = thread % kTileThreads;
    const u32 wave = uniform(thread / kTileThreads);
    const u32 threads = block_threads(), waves = threads / kTileThreads, blocks = block_count();
    const u32 steps = vectors.groups / kGroups, last_row = matrix.rows - 1;
    const u32 tiles = (matrix.rows + kTileRows - 1) / kTileRows;
    const u32 row_bytes = matrix.blocks * Format::kBytes;
    Stages* const of_waves = static_cast<Stages*>(dynamic_shared());
    Stage(&stages)[kStages] = of_waves[wave].stage;
#pragma unroll 1
    for (u32 first = block_index(); first < tiles; first += kTiles * blocks) {
      const u32 count = lesser((tiles - first + blocks - 1) / blocks, kTiles);
      f32 sums[kTiles][4] = {};
      Fragments held;
      // Of each step of columns item 0 is the vectors, the others are tiles. Of kStages items that
      // are copied the first is waited for and used.
      u32 step = wave, item = 0, next_step = wave, next = 0;
#pragma unroll 1
      for (u32 turn = 0; step < steps; ++turn) {
        Stage& stage = stages[turn % kStages];
        if (turn >= kStages) {
          wait_for_groups<kStages - 1>();
          wave_barrier();
          if (item == 0) {
            held.load(stage.vectors, lane);
          } else {
            const u32 last = last_row - (first + (item - 1) * blocks) * kTileRows;
            const u8* rows[2];
#pragma unroll
            for (u32 r = 0; r < 2; ++r) {
              const u32 row = lane / 4 + 8 * r;
              rows[r] = stage.rows + row * (kStride * 16);
              if (kMostBefore != 0) rows[r] += (lesser(row, last) * row_bytes + step * kBytes) % 16;
            }
            f32 of[4];
            multiply_step(of, rows, held, lane);
#pragma unroll
            for (u32 t = 0; t < kTiles; ++t) {
              if (item != t + 1) continue;
#pragma unroll
              for (u32 i = 0; i < 4; ++i) sums[t][i] += of[i];
            }
          }
          wave_barrier();
          if (item == count) step += waves;
          item = item == count ? 0 : item + 1;
        }
        if (next_step < steps) {
          if (next == 0) {
            copy_vectors(stage, vectors, next_step, lane);
          } else {
            const u32 row = (first + (next - 1) * blocks) * kTileRows;
            copy_rows(stage, matrix.bytes + static_cast<u64>(row) * row_bytes, row_bytes, next_step,
                      last_row - row, lane);
          }
          if (next == count) next_step += waves;
          next = next == count ? 0 : next + 1;
        }
        end_group();
      }
#pragma unroll
      for (u32 t = 0; t < kTiles; ++t) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) of_waves[wave].sums[t][i][lane] = sums[t][i];
      }
      barrier();
#pragma unroll 1
      for (u32 i = thread; i < count * (kTileRows * kTileColumns); i += threads) {
        const u32 tile = i / (kTileRows * kTileColumns), v = i / kTileRows % kTileColumns;
        const u32 r = i % kTileRows, row = (first + tile * blocks) * kTileRows + r;
        if (row > last_row || v >= vectors.count) continue;
        f32 sum = 0;
#pragma unroll 2
        for (u32 w = 0; w < waves; ++w) {
          sum += of_waves[w].sums[tile][r / 8 * 2 + v % 2][r % 8 * 4 + v / 2];
        }
        dst[static_cast<u64>(v) * dst_stride + row] = sum;
      }
      barrier();
    }
  }

 private:
  // What a thread holds of the vectors: for each group the words of the right operand, and d of two
  // columns of results, of centered quants; s of its column and the two groups whose offsets it has.
  struct Fragments {
    u32 words[kGroups][2], s;
    f32 d[kGroups][2];

    KILN_DEVICE void load(const u32* vectors, u32 lane) {
      constexpr u32 kStride = kVectorChunks * 4;
      const u32 j = lane % 4;
      const u32* const mine = vectors + lane / 4 * kStride;
      const u32* const two = vectors + 2 * j * kStride;
      s = permute_bytes<2, 3, 6, 7>(mine[2 * j * kBlockWords], mine[(2 * j + 1) * kBlockWords]);
#pragma unroll
      for (u32 g = 0; g < kGroups; ++g) {
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
          words[g][i] = mine[g * kBlockWords + 1 + 4 * i + j];
          const u32 d_and_s = two[g * kBlockWords + i * kStride];
          d[g][i] = widen(f16{static_cast<u16>(d_and_s)}) * (1.0f / Format::kTimes);
        }
      }
    }
  };

  // The columns of a step of a tile, which begins at `tile`. Neighbouring threads copy neighbouring
  // chunks of sixteen bytes: all that hold something of a row. Rows behind the last are the last.
  KILN_DEVICE static void copy_rows(Stage& stage, const u8* tile, u32 row_bytes, u32 step, u32 last,
                                    u32 lane) {
    each_chunk<kStride>(kTileRows, stage, lane, [&](SharedPlace to, u32 row, u32 chunk) {
      const u32 begin = lesser(row, last) * row_bytes + step * kBytes;
      const u32 all = begin / 16 + chunk, end = (begin + kBytes - 1) / 16;
      const u64 at = kMostBefore == 0 && kStride == kChunks ? all : lesser(all, end);
      copy_async_16(to, tile + 16 * at);
    });
  }
  // And of the vectors.
  KILN_DEVICE static void copy_vectors(Stage& stage, const VectorRows& vectors, u32 step,
                                       u32 lane) {
    const u32* const from = vectors.words + step * (kVectorChunks * 4);
    each_chunk<kVectorChunks>(vectors.count, stage, lane, [&](SharedPlace to, u32 v, u32 chunk) {
      copy_async_16(to, from + (v * vectors.stride + 4 * chunk));
    });
  }
  // copy(place, line, chunk) for a thread's part of `lines` lines of kOfLine chunks of 16 bytes.
  template <u32 kOfLine, class Copy>
  KILN_DEVICE static void each_chunk(u32 lines, Stage& stage, u32 lane, Copy copy) {
    SharedPlace to = shared_place(&stage) + 16 * lane;
    u32 line = lane / kOfLine, chunk = lane % kOfLine;
#pragma unroll 1
    while (line < lines) {
      copy(to, line, chunk);
      to += 16 * kTileThreads;
      line += kTileThreads / kOfLine;
      chunk += kTileThreads % kOfLine;
      if (chunk >= kOfLine) {
        chunk -= kOfLine;
        ++line;
      }
    }
  }

  // Scales of long blocks are bytes times d of all: a thread has those of two of the eight groups,
  // 2 * (lane % 4) and the next, of both rows. Others take them as whole numbers; d comes last.
  static constexpr bool kHasBytes = Format::kValues > 32;
  struct ByteScales {
    u32 words[kRuns];  // of one run a group byte 2 * row + group; else word `row`, 2 * group + run
    f32 d[2];

    KILN_DEVICE void load(const u8* const (&rows)[2], u32 lane) {
      words[0] = 0;
#pragma unroll
      for (u32 r = 0; r < 2; ++r) {
        if constexpr (kRuns == 1) {
          u32 head[4];
          gguf::load_words<16>(rows[r], head);
          words[0] |= gguf::k_pair(head, lane % 4).scales << 16 * r;
          d[r] = widen(f16{static_cast<u16>(head[0])});
        } else {
          // Of Q6_K, whose last bytes they are.
          const u8* const scales = rows[r] + Format::kBytes - 18;
          words[r] = gguf::load_word<Format::kAlignment>(scales + lane % 4 * 4) ^ 0x80808080u;
          d[r] = gguf::load_f16(scales + 16);
        }
      }
    }
    // Byte `i` of a word as a number.
    KILN_DEVICE static f32 number(u32 word, u32 i) {
      const u32 biased = i == 0   ? permute_bytes<0, 4, 6, 7>(word, kWholeBias)
                         : i == 1 ? permute_bytes<1, 4, 6, 7>(word, kWholeBias)
                         : i == 2 ? permute_bytes<2, 4, 6, 7>(word, kWholeBias)
                                  : permute_bytes<3, 4, 6, 7>(word, kWholeBias);
      return bit_cast<f32>(biased) - (kRuns == 1 ? kBias : kBias + 128);
    }
  };

  // Adds offsets times the sums of the vectors' blocks.
  KILN_DEVICE static void add_offsets(f32 (&of)[4], const u8* const (&rows)[2], u32 s, u32 lane) {
    u32 offsets[4] = {};
    f32 d[2] = {1, 1}, sums[4] = {};
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      if constexpr (kHasBytes) {
        u32 head[4];
        gguf::load_words<16>(rows[r], head);
        // A byte as the bits of an f16 is it times 2^-24.
        offsets[r] = permute_bytes<0, 4, 1, 4>(gguf::k_pair(head, lane % 4).minima, 0);
        d[r] = -0x1p24f * widen(f16{static_cast<u16>(head[0] >> 16)});
      } else {
        const u8* const two = rows[r] + lane % 4 * 2 * Format::kBytes;
        offsets[r] = permute_bytes<2, 3, 6, 7>(gguf::load_word<4>(two),
                                               gguf::load_word<4>(two + Format::kBytes));
      }
    }
    multiply_f16_fragments(sums, offsets, s, 0);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] = math::fma(sums[i], d[i / 2], of[i]);
  }

  // The columns that are held of 16 rows.
  KILN_DEVICE static void multiply_step(f32 (&of)[4], const u8* const (&rows)[2],
                                        const Fragments& held, u32 lane) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) of[i] = 0;
    ByteScales scales;
    if constexpr (kHasBytes) scales.load(rows, lane);
    u32 words[kRuns];
    Unit unit;
#pragma unroll
    for (u32 g = 0; g < kGroups; ++g) {
      if (g % Unit::kGroups == 0) unit.load_bytes(rows, g / Unit::kGroups, lane);
      if (kHasBytes && g % 2 == 0) {
#pragma unroll
        for (u32 i = 0; i < kRuns; ++i) words[i] = share_word(scales.words[i], g / 2, 4);
      }
      const ByteRows& a = unit.bytes[g % Unit::kGroups];
      const u32(&b)[2] = held.words[g];
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
          if constexpr (!kHasBytes) {
            of_rows[r] = GivenFormat::scale(rows[r] + g * Format::kBytes, 0).scale;
          } else if constexpr (kRuns == 1) {
            of_rows[r] = ByteScales::number(words[0], 2 * r + g % 2);
          } else {
            of_rows[r] = ByteScales::number(words[r], g % 2 * 2 + run);
          }
        }
        add_products(of, dot, held.d[g], of_rows);
      }
    }
    if constexpr (kHasBytes) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) of[i] *= scales.d[i / 2];
    }
    if constexpr (Format::kHasOffset) add_offsets(of, rows, held.s, lane);
  }
};

#else
template <class>
struct HeldVectors {};
#endif

}  // namespace kiln::families
