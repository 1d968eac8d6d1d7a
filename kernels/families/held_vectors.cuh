// Products of a matrix of quantized rows and up to eight vectors, by matrix units: each 32 threads
// hold 256 columns of all the vectors in registers, and rows stream through shared memory.
//
// Rows are the left operand of products of bytes (device/byte_matrix.cuh), 16 at once; the threads
// of a block have the same rows and different columns. The whole number that comes of a run of one
// scale is scaled and added as f32. The matrix begins and ends at a multiple of sixteen bytes.
#pragma once

#include "families/quantized_matrix.cuh"
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

// Of blocks of up to kMostWaves times 32 threads.
template <class GivenFormat>
struct HeldVectors {
  static constexpr u32 kMostWaves = tuning::kHeldWaves;
  // The sum of half a part of a vector is none of its fields.
  using Format = gguf::CenteredRuns<GivenFormat>;
  using Unit = UnitRows<Format>;
  static constexpr u32 kGroups = tuning::kHeldColumns / 32;  // what 32 threads hold
  static constexpr u32 kRuns = Unit::kRuns;
  static constexpr u32 kBytes = kGroups * 32 / Format::kValues * Format::kBytes;  // of a row
  // Rows begin anywhere among sixteen bytes; sixteen bytes of eight rows lie in 32 banks.
  static constexpr u32 kMostBefore = 16 - (Format::kBytes % 16 == 0 ? 16 : Format::kAlignment);
  static constexpr u32 kChunks = (kBytes + kMostBefore + 15) / 16, kStride = kChunks | 1;
  static constexpr u32 kCopies = (kTileRows * kStride + kTileThreads - 1) / kTileThreads;

  struct alignas(16) Stage {
    u8 bytes[kTileRows * kStride * 16];
  };
  struct Shared {
    Stage stages[kMostWaves];
    f32 results[2][kMostWaves][4][kTileThreads];
  };
  static_assert(sizeof(Shared) <= 48 * 1024);

  KILN_DEVICE static bool takes(const BlockMatrix& matrix, const VectorRows& vectors) {
    const u64 end =
        address_of(matrix.bytes) + static_cast<u64>(matrix.rows) * matrix.blocks * Format::kBytes;
    return vectors.count <= kTileColumns && vectors.groups % kGroups == 0 && block_count_y() == 1 &&
           (address_of(matrix.bytes) | end) % 16 == 0;
  }

  KILN_DEVICE static void multiply(Shared& shared, const BlockMatrix& matrix,
                                   const VectorRows& vectors, f32* dst, u32 dst_stride) {
    const u32 block = block_index(), blocks = block_count();
    const u32 thread = thread_rank(), lane = thread % kTileThreads, wave = thread / kTileThreads;
    const u32 waves = block_threads() / kTileThreads, steps = vectors.groups / kGroups;
    const u32 passes = (steps + waves - 1) / waves, last_row = matrix.rows - 1;
    const u32 row_bytes = matrix.blocks * Format::kBytes, row_step = blocks * kTileRows;
    if (block * kTileRows > last_row) return;
    const u8* const staged = shared.stages[wave].bytes;
    const SharedPlace stage = shared_place(shared.stages[wave].bytes) + 16 * lane;
    Fragments held;
    u32 chunks[kCopies];
    f32 of[4] = {};
    // Tile after tile is made of the columns that are held, and added to what is there; where a
    // block has one tile, that is in registers. A tile is copied while the one before is used; in
    // the first round there is none to use.
    const bool has_one = last_row < (block + blocks) * kTileRows;
    u32 first = 0, step = steps, next = block * kTileRows, next_step = wave, parity = 0;
    u32 pass = ~0u, next_pass = 0;
#pragma unroll 1
    for (;;) {
      const bool is_new = pass != next_pass;  // columns
      const u32 before = step * kBytes, next_before = next_step * kBytes;
      if (step < steps) {
        wait_for_copies();
        wave_barrier();
        const u32 r = lane / 4, last = last_row - first;
        const u8* const rows[2] = {
            staged + r * (kStride * 16) + (lesser(r, last) * row_bytes + before) % 16,
            staged + (r + 8) * (kStride * 16) + (lesser(r + 8, last) * row_bytes + before) % 16};
        add(of, rows, held, lane);
        wave_barrier();
      }
      if (next_pass < passes && next_step < steps) {
        const u32 last = last_row - next;
        if (is_new || last < kTileRows - 1) find_chunks(chunks, row_bytes, next_before, last, lane);
        copy(stage, matrix.bytes + static_cast<u64>(next) * row_bytes, chunks, lane);
        if (is_new) held.load(vectors, next_step * kGroups, lane);
      }
      if (pass != ~0u && (!has_one || pass + 1 == passes)) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
          shared.results[parity][wave][i][lane] = of[i];
          of[i] = 0;
        }
        barrier();
#pragma unroll 1
        for (u32 i = wave; i < 4; i += waves) {
          const u32 r = first + TileResults<1>::row(lane, i);
          const u32 v = TileResults<1>::vector(lane, 0, i);
          if (r > last_row || v >= vectors.count) continue;
          f32* const to = dst + static_cast<u64>(v) * dst_stride + r;
          f32 sum = has_one || pass == 0 ? 0 : *to;
#pragma unroll 2
          for (u32 w = 0; w < waves; ++w) sum += shared.results[parity][w][i][lane];
          *to = sum;
        }
        parity ^= 1;
      }
      if (next_pass == passes) break;
      first = next;
      step = next_step;
      pass = next_pass;
      if (row_step <= last_row - next) {
        next += row_step;
      } else {
        next = block * kTileRows;
        next_step += waves;
        ++next_pass;
      }
    }
  }

 private:
  // What a thread holds of the vectors: for each group the words of the right operand, and d and s
  // of two columns of results.
  struct Fragments {
    u32 words[kGroups][2], d[kGroups], s[kGroups];

    // Columns behind the last vector are the last's.
    KILN_DEVICE void load(const VectorRows& vectors, u32 first_group, u32 lane) {
      const u32 last = vectors.count - 1, j = lane % 4;
      const u32* const first = vectors.words + first_group * kBlockWords;
      const u32* const quants = first + lesser(lane / 4, last) * vectors.stride + 1 + j;
      const u32* const left = first + lesser(2 * j, last) * vectors.stride;
      const u32* const right = first + lesser(2 * j + 1, last) * vectors.stride;
#pragma unroll
      for (u32 g = 0; g < kGroups; ++g) {
        words[g][0] = quants[g * kBlockWords];
        words[g][1] = quants[g * kBlockWords + 4];
        const u32 both[2] = {left[g * kBlockWords], right[g * kBlockWords]};
        d[g] = permute_bytes<0, 1, 4, 5>(both[0], both[1]);
        s[g] = permute_bytes<2, 3, 6, 7>(both[0], both[1]);
      }
    }
  };

  // The columns of a step of 16 rows, of which `last` is the last that there is. Neighbouring
  // threads copy neighbouring chunks of sixteen bytes: all that hold something of a row.
  KILN_DEVICE static void find_chunks(u32 (&chunks)[kCopies], u32 row_bytes, u32 before, u32 last,
                                      u32 lane) {
#pragma unroll
    for (u32 i = 0; i < kCopies; ++i) {
      const u32 chunk = lane + i * kTileThreads;
      const u32 begin = lesser(chunk / kStride, last) * row_bytes + before;
      chunks[i] = lesser(begin / 16 + chunk % kStride, (begin + kBytes - 1) / 16);
    }
  }
  KILN_DEVICE static void copy(SharedPlace to, const u8* from, const u32 (&chunks)[kCopies],
                               u32 lane) {
#pragma unroll
    for (u32 i = 0; i < kCopies; ++i) {
      if (lane + i * kTileThreads < kTileRows * kStride) {
        copy_async_16(to + i * (16 * kTileThreads), from + static_cast<u64>(chunks[i]) * 16);
      }
    }
  }

  KILN_DEVICE static void add(f32 (&of)[4], const u8* const (&rows)[2], const Fragments& held,
                              u32 lane) {
#pragma unroll
    for (u32 u = 0; u < kGroups / Unit::kGroups; ++u) {
      Unit unit;
      unit.load(rows, u, lane);
#pragma unroll
      for (u32 k = 0; k < Unit::kGroups; ++k) {
        const u32 g = u * Unit::kGroups + k;
        if constexpr (kRuns == 1) {
          add_run<-1>(of, unit, k, held, g);
        } else {
          add_run<0>(of, unit, k, held, g);
          add_run<1>(of, unit, k, held, g);
        }
      }
    }
  }

  template <i32 kHalf>
  KILN_DEVICE static void add_run(f32 (&of)[4], const Unit& unit, u32 k, const Fragments& held,
                                  u32 g) {
    // The sum of a part of a vector's block is none of its fields.
    constexpr bool kSums = Format::kHasOffset && kHalf >= 0;
    constexpr u32 kOnes = 0x01010101u;
    const ByteRows& a = unit.bytes[k];
    const u32(&b)[2] = held.words[g];
    i32 ones[4] = {}, dot[4];
    if constexpr (kHalf < 0) {
      multiply_byte_fragments(dot, kWholeBias, a.words[0][0], a.words[1][0], a.words[0][1],
                              a.words[1][1], b[0], b[1]);
    } else {
      if constexpr (kSums) multiply_byte_fragments(ones, kWholeBias, kOnes, kOnes, b[kHalf]);
      multiply_byte_fragments(dot, kWholeBias, a.words[0][kHalf], a.words[1][kHalf], b[kHalf]);
    }
    f32 d[2], from[2], s[2];
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
      d[i] = widen(f16{static_cast<u16>(held.d[g] >> 16 * i)});
      from[i] = -kBias * d[i];  // exact
      s[i] = kSums ? math::fma(bit_cast<f32>(ones[i]), d[i], from[i])
                   : widen(f16{static_cast<u16>(held.s[g] >> 16 * i)});
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const f32 whole = bit_cast<f32>(dot[i]);
      const f32 product = Format::kZero == 0
                              ? math::fma(whole, d[i % 2], from[i % 2])
                              : math::fma(whole - kBias, d[i % 2], -Format::kZero * s[i % 2]);
      const gguf::Scale scale = unit.scales[k][kHalf == 1 ? 1 : 0][i / 2];
      of[i] = math::fma(product, scale.scale, of[i]);
      if constexpr (Format::kHasOffset) of[i] = math::fma(scale.offset, s[i % 2], of[i]);
    }
  }
};

#else
template <class>
struct HeldVectors {
  struct Shared {};
};
#endif

}  // namespace kiln::families
