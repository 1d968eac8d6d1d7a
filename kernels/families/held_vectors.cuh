// Products of a matrix of quantized rows and up to eight vectors, by matrix units. Each 32 threads
// hold 256 columns of all vectors in registers, and rows stream through shared memory.
//
// The threads of a block have the same 16 rows at a time, and different columns. Groups of four
// times 32 threads copy for each other, so that they copy long parts of rows. Groups meet only to
// add up their sums. In most formats (kHeldByChunks), lines of 128 bytes are copied to lines of
// shared memory. Their 16-byte chunks are swizzled, so that those of eight rows lie in different
// banks. In other formats rows are padded instead. The matrix and the vectors begin and end at
// multiples of 16 bytes. A launch provides held_bytes() of shared memory for blocks of whole
// groups.
//
// Without matrix units for bytes, vectors are multiplied one after another, by blocks of any size.
#pragma once

#include "families/held_fragments.cuh"
#include "families/quantized_vector.cuh"
#include "tuning/quantized.hpp"

#if !KILN_HAS_BYTE_MATRIX
namespace kiln::gguf {
// Centered quants are not read together with their scale.
template <>
inline constexpr bool kIsHeaded<Centered<Q4_0>> = false;
}  // namespace kiln::gguf
#endif

namespace kiln::families {

#if KILN_HAS_BYTE_MATRIX

// `kByChunks`: load_fragments() loads the rows.
template <class Format, bool kByChunks>
struct HeldVectors {
  static constexpr u32 kTiles = tuning::kHeldTiles;  // tiles of a block at once
  static constexpr u32 kWaves = tuning::kHeldGroup;  // waves of a group, which copy for each other
  static constexpr u32 kColumns = tuning::kHeldColumns, kGroups = kColumns / 32;
  static constexpr u32 kVectorBytes = kGroups * sizeof(Q8_1);
  // Bytes of a row for 32 threads, and for a group. In some formats rows may begin anywhere in a
  // 16-byte chunk.
  static constexpr u32 kBytes = kColumns / Format::kValues * Format::kBytes;
  static constexpr u32 kAll = kWaves * kBytes;
  static constexpr u32 kLine = kByChunks ? 128 : 16;
  static constexpr u32 kMaxBefore = kLine - (kBytes % 16 == 0 ? 16 : Format::kAlignment);
  static constexpr u32 kPitch = kByChunks ? (kAll + kMaxBefore + kLine - 1) / kLine * kLine
                                          : ((kAll + kMaxBefore + 15) / 16 | 1) * 16;
  static constexpr u32 kVectorPitch = kWaves * kVectorBytes + 16;  // eight lie in different banks
  static constexpr u32 kStageBytes = tuning::held_stage(kBytes);
  static_assert(kTileRows * kPitch <= kStageBytes && kTileColumns * kVectorPitch <= kStageBytes);

  // With two stages, both are filled before the first is used, and a used stage is filled again
  // after a second barrier. With more stages, one is always free.
  static constexpr u32 kStages = tuning::held_stages(kBytes);
  static constexpr bool kIsBrief = kStages == 2;
  struct alignas(128) Ring {
    u8 stages[kStages * kStageBytes];
  };
  // The sums of 32 threads.
  struct Sums {
    f32 of[kTiles][4 * kTileThreads];
  };
  static_assert(sizeof(Ring) + kWaves * sizeof(Sums) == tuning::held_bytes(kBytes, kWaves));

  KILN_DEVICE static void multiply(const BlockMatrix& matrix, const VectorRows& vectors, f32* dst,
                                   u32 dst_stride) {
    const u32 thread = thread_rank(), lane = thread % kTileThreads;
    const u32 wave = uniform(thread / kTileThreads), group = wave / kWaves, own = wave % kWaves;
    const u32 threads = block_threads(), waves = threads / kTileThreads, blocks = block_count();
    const u32 steps = vectors.groups / kGroups, last_row = matrix.rows - 1;
    const u32 tiles = (matrix.rows + kTileRows - 1) / kTileRows;
    const u32 row_bytes = matrix.blocks * Format::kBytes;
    // Rows of an odd number of chunks lie in different banks without swizzling.
    const u32 turns = kByChunks && row_bytes % 32 == 0 ? 7 * 16 : 0;
    Ring* const rings = static_cast<Ring*>(dynamic_shared());
    Sums* const all_sums = reinterpret_cast<Sums*>(rings + waves / kWaves);
    u8* const mine = rings[group].stages;
    const SharedPlace ring = shared_place(mine);
    const u32 low = static_cast<u32>(address_of(matrix.bytes));
#pragma unroll 1
    for (u32 first = block_index(); first < tiles; first += kTiles * blocks) {
      const u32 count = min_of((tiles - first + blocks - 1) / blocks, kTiles);
      const auto first_row = [&](u32 tile) { return (first + tile * blocks) * kTileRows; };
      HeldFragments<Format, kByChunks> held;
      // In each step of columns, item 0 is the vectors, and the others are tiles. `step` is the
      // step of a group's first 32 threads. `next_step` and `next` are copied next.
      u32 step = group * kWaves, item = 0, next_step = step, next = 0, to = 0, stage = 0;
      const auto copy_next = [&] {
        if (next_step < steps) {
          const SharedPlace place = ring + to * kStageBytes;
          const u32 of_group = min_of(steps - next_step, kWaves);
          if (next == 0) {
            copy_vectors(place, vectors, next_step, of_group * kVectorBytes, own, lane);
          } else {
            const u32 row0 = first_row(next - 1);
#pragma unroll
            for (u32 i = 0; i < kTileRows; i += kWaves) {
              // Rows behind the last one repeat it.
              const u32 row = i + own;
              const u8* const piece =
                  matrix.bytes +
                  (static_cast<u64>(min_of(row0 + row, last_row)) * row_bytes + next_step * kBytes);
              const u32 before = static_cast<u32>(address_of(piece)) % kLine;
              copy_line<kPitch>(place + row * kPitch + (16 * lane ^ (row % 8 * 16 & turns)),
                                piece - before + 16 * lane, before, before + of_group * kBytes,
                                lane);
            }
          }
          if (next == count) next_step += waves;
          next = next == count ? 0 : next + 1;
          to = to + 1 == kStages ? 0 : to + 1;
        }
        end_group();
      };
#pragma unroll 1
      for (u32 i = 0; i + 1 < kStages; ++i) copy_next();
      if (kIsBrief) copy_next();
#pragma unroll 1
      while (step < steps) {
        wait_for_groups<kIsBrief ? kStages - 1 : kStages - 2>();
        part_barrier<kWaves * kTileThreads>(group);
        if (!kIsBrief) copy_next();
        u8* const at = mine + stage * kStageBytes;
        if (step + own < steps) {
          if (item == 0) {
            held.load(reinterpret_cast<const u32*>(at + own * kVectorBytes), kVectorPitch / 4, lane,
                      (step + own) * kBytes % 16);
          } else {
            const u32 row0 = first_row(item - 1), base = low + step * kBytes;
            const auto behind = [&](u32 row) {
              return (base + min_of(row0 + row, last_row) * row_bytes) % kLine + own * kBytes;
            };
            f32 of[4];
            held.multiply(of, HeldRows{at,
                                       shared_place(at),
                                       kPitch,
                                       lane,
                                       turns,
                                       {behind(lane / 4), behind(lane / 4 + 8)},
                                       behind(lane % kTileRows)});
            add_sums(&all_sums[wave].of[item - 1][4 * lane], of, step >= waves);
          }
        }
        if (item == count) step += waves;
        item = item == count ? 0 : item + 1;
        if (kIsBrief) {
          part_barrier<kWaves * kTileThreads>(group);
          copy_next();
        }
        stage = stage + 1 == kStages ? 0 : stage + 1;
      }
      barrier();
      const u32 busy = min_of(waves, steps);
#pragma unroll 1
      for (u32 i = thread; i < count * (kTileRows * kTileColumns); i += threads) {
        const u32 tile = i / (kTileRows * kTileColumns), at = i % (kTileRows * kTileColumns);
        const u32 v = at / 4 % 4 * 2 + at % 2;
        const u32 row = first_row(tile) + at / kTileRows + at % 4 / 2 * 8;
        if (row > last_row || v >= vectors.count) continue;
        f32 sum = 0;
#pragma unroll 4
        for (u32 w = 0; w < busy; ++w) sum += all_sums[w].of[tile][at];
        dst[static_cast<u64>(v) * dst_stride + row] = sum;
      }
      barrier();
    }
  }

 private:
  KILN_DEVICE static void copy_vectors(SharedPlace stage, const VectorRows& vectors, u32 step,
                                       u32 bytes, u32 own, u32 lane) {
#pragma unroll 1
    for (u32 v = own; v < vectors.count; v += kWaves) {
      const u32* const from = vectors.words + (v * vectors.stride + step * (kVectorBytes / 4));
      copy_line<kWaves * kVectorBytes>(stage + v * kVectorPitch + 16 * lane,
                                       reinterpret_cast<const u8*>(from + 4 * lane), 0, bytes,
                                       lane);
    }
  }
  // Copies bytes `begin` to `end`, at most kMax, of a line. `from` and `to` are the thread's own.
  template <u32 kMax>
  KILN_DEVICE static void copy_line(SharedPlace to, const u8* from, u32 begin, u32 end, u32 lane) {
#pragma unroll
    for (u32 i = 0; i < kMax; i += 16 * kTileThreads) {
      const u32 at = 16 * lane + i;
      if (at < end && (i != 0 || at + 16 > begin)) copy_async_16(to + i, from + i);
    }
  }

  // Stores sums. If `adds`, first adds what is stored there.
  KILN_DEVICE static void add_sums(f32* sums, f32 (&of)[4], bool adds) {
    if (adds) {
      const Words before = load_16_bytes(sums);
#pragma unroll
      for (u32 i = 0; i < 4; ++i) of[i] += bit_cast<f32>(before.word[i]);
    }
    Words after;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) after.word[i] = bit_cast<u32>(of[i]);
    store_16_bytes_shared(sums, after);
  }
};

// Rows of Q6_K may begin anywhere in a 16-byte chunk, and are then not loaded by load_fragments().
template <class Format>
KILN_DEVICE void multiply_held(const BlockMatrix& matrix, const VectorRows& vectors, f32* dst,
                               u32 dst_stride) {
  using Held = HeldVectors<Format, kHeldByChunks<Format>>;
  if constexpr (kHeldByChunks<Format> && Held::kBytes % 16 != 0) {
    if (matrix.blocks * Format::kBytes % 16 != 0) {
      return HeldVectors<Format, false>::multiply(matrix, vectors, dst, dst_stride);
    }
  }
  Held::multiply(matrix, vectors, dst, dst_stride);
}

#else

template <class Format>
KILN_DEVICE void multiply_held(const BlockMatrix& matrix, const VectorRows& vectors, f32* dst,
                               u32 dst_stride) {
  const MatrixRows rows{matrix.bytes, matrix.blocks * Format::kBytes};
  const u32 columns = vectors.groups * 32;
#pragma unroll 1
  for (u32 v = 0; v < vectors.count; ++v) {
    const u32* const vector = vectors.words + static_cast<u64>(v) * vectors.stride;
    const F32Results results{dst + static_cast<u64>(v) * dst_stride, 0};
    multiply_rows<gguf::Centered<Format>, 1, 1>(rows, reinterpret_cast<const Q8_1*>(vector),
                                                results, columns, matrix.rows, 0,
                                                share_of_block(block_count()));
  }
}

#endif

}  // namespace kiln::families
