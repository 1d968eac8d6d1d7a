// Products of a matrix of quantized rows and one vector, for hardware with asynchronous copies.
// Every 32 threads hold some columns of the vector, a slice, in registers. Rows stream through
// shared memory, so that bytes in flight take no registers.
//
// A block has the whole vector, and rows go to blocks in turn. Each wave takes a share of the
// slices of its block's rows and copies them, one after another, to stages of its own. Waves wait
// for each other only before the sums of slices become results. All shared memory is dynamic. A
// product takes this path if its launch brings enough of it, so other launches of the same kernel
// hold none.
#pragma once

#include "device/block.cuh"
#include "device/index.cuh"
#include "device/platform_copies.cuh"
#include "device/platform_lanes.cuh"
#include "device/wave.cuh"
#include "families/held_columns.cuh"
#include "families/quantized_results.cuh"
#include "tuning/streamed_vector.hpp"

namespace kiln::families {

// True if products of fused_vector with a format may take this path.
template <class Format>
inline constexpr bool kStreamsFused = tuning::streams_fused_format(Format::kBytes);

#if KILN_HAS_COPIES

template <class Format>
struct StreamedRows {
  static constexpr u32 kStages = tuning::streamed_stages(Format::kBytes);
  static constexpr u32 kMaxSums = tuning::kStreamedSums;
  static constexpr u32 kLanes = 32, kColumns = kLanes * tuning::kStreamedValues;  // of a slice
  // Bytes of a piece, the slice of a row. In its stage, a piece begins at the same offset from a
  // 128-byte line as in the matrix: hardware copies lines, and takes half as long again if it must
  // shift them.
  static constexpr u32 kBytes = kColumns / Format::kValues * Format::kBytes;
  static constexpr u32 kLine = 128, kStageBytes = tuning::streamed_stage(kBytes);
  static constexpr bool kStartsAnywhere = kStartsAtHalves<Format>;  // within 16 bytes
  static_assert(kStageBytes % kLine == 0 && kStageBytes >= kBytes + kLine - 16 + kStartsAnywhere);
  static_assert(kMaxSums >= tuning::kMaxStreamedColumns / kColumns * 4);
  // The threads of a wave store their sums of kBatch pieces. Then four threads add up those of each
  // piece.
  static constexpr u32 kBatch = tuning::kStreamedBatch, kStride = tuning::kStreamedStride;
  static_assert(kBatch == kLanes / 4 && kStride == kLanes + 4);

  // Memory of a wave.
  struct alignas(16) Wave {
    u8 stages[kStages * kStageBytes];
    f32 parts[kBatch][kStride];
  };
  // Memory of a block. The waves' memory and then the vector follow.
  struct alignas(16) Sums {
    f32 of_pieces[kMaxSums];
  };
  KILN_DEVICE static u32 bytes(u32 waves, u32 columns) {
    return sizeof(Sums) + waves * sizeof(Wave) + columns / 32 * sizeof(Q8_1);
  }
  static_assert(tuning::streamed_bytes(Format::kBytes, Format::kValues, 4, 0) ==
                sizeof(Sums) + 4 * sizeof(Wave));

  // `rows` is the number of rows of each matrix.
  template <class Output>
  KILN_DEVICE static void multiply(const PairRows& matrix, const Q8_1* vector, const Output& output,
                                   u32 columns, u32 rows) {
    f32* const sums = static_cast<Sums*>(dynamic_shared())->of_pieces;
    const u32 of_pair = matrix.is_pair() ? 1 : 0;
    const u32 by_two = kStartsAnywhere && matrix.row_bytes % 4 != 0 ? 1 : 0;
    const u32 shift = of_pair + by_two;
    const u32 pieces = (columns + kColumns - 1) / kColumns << shift;
    // Blocks take units in turn, so that all of them read one region of memory at a time.
    const u32 blocks = block_count(), block = block_index();
    const u32 all = small_quotient((rows >> by_two) + (blocks - 1 - block), blocks);
#pragma unroll 1
    for (u32 done = 0, next = all; done < all; done = next) {
      u32 count = all - done;
      if (count * pieces > kMaxSums) count = kMaxSums / pieces;
      next = done + count;
      const u64 step = static_cast<u64>(matrix.row_bytes << by_two) * blocks;
      const Rows of{matrix, shift, step, block + done * blocks, blocks, count, pieces};
      sum_pieces(sums, of, vector, columns);
      barrier();
      // If there are many slices, four threads add up a row. The threads of a wave stay together.
      const u32 team = pieces >> shift > 3 ? 2 : 0, results = count << by_two;  // team: log2
      const u32 lane = thread_rank() % kLanes, wave = uniform(thread_rank() / kLanes);
#pragma unroll 1
      for (u32 row = wave * kLanes >> team; row < results; row += block_threads() >> team) {
        const u32 own = row + (lane >> team), part = lane & ((1u << team) - 1);
        const u32 i = min_of(own, results - 1), k = i >> by_two, before = (i & by_two) << of_pair;
        f32 sum[2] = {};
#pragma unroll 1
        for (u32 at = 0; at < pieces; at += 1u << (shift + team)) {
          const u32 p = at + before + (part << shift);
#pragma unroll
          for (u32 n = 0; n < 2; ++n) {
            if (p < pieces && n <= of_pair) sum[n] += sums[(p + n) * count + k];
          }
        }
        if (team != 0) {
#pragma unroll
          for (u32 n = 0; n < 2; ++n) {
            sum[n] += exchange(sum[n], 2, 4);
            sum[n] += exchange(sum[n], 1, 4);
          }
        }
        if (part == 0 && own < results) {
          output((of.unit(k) << shift) + before, 0, [&](u32 n) { return sum[n]; });
        }
      }
      if (next != all) barrier();
    }
  }

 private:
  // The rows of a block, in units of one, two or four, and the pieces of a unit: the slices of its
  // rows in turn. A unit has a row of each matrix, or two if every other row begins in the
  // middle of a word. So pieces with the same number begin alike within a word, in all units.
  struct Rows {
    const PairRows& matrix;
    u32 shift;         // log2 of a unit's rows
    u64 step;          // bytes from a unit to the next one
    u32 first, every;  // the block's first unit, and units to its next one
    u32 count, pieces;

    KILN_DEVICE u32 unit(u32 k) const { return first + k * every; }
    KILN_DEVICE const u8* piece(u32 p, u32 k) const {
      const u32 row = p & ((1u << shift) - 1);
      return matrix.row((unit(k) << shift) + row) + (p >> shift) * kBytes;
    }
  };
  // The pieces that a wave copies: one of each unit, then the next one of each unit.
  struct Copies {
    const Rows& rows;
    SharedPlace ring;
    u32 left, piece, k;
    u32 to = 0, size = 0;  // bytes: where in the ring, and of a piece
    const u8* from = nullptr;

    KILN_DEVICE Copies(const Rows& of, SharedPlace to_ring, u32 count, u32 first_piece, u32 first_k)
        : rows(of), ring(to_ring), left(count), piece(first_piece), k(first_k) {
      begin();
    }
    KILN_DEVICE void next() {
      if (left == 0) return;
      const u32 before = (static_cast<u32>(address_of(from)) - ring) % kLine;
      const u32 all = before + size, behind = 16 * (thread_rank() % kLanes);
      copy<0, kStageBytes>(ring + to + behind, one_address(from - before + behind),
                           all > behind ? all - behind : 0, behind + 16 > before);
      to = to + kStageBytes == kStages * kStageBytes ? 0 : to + kStageBytes;
      from += rows.step;
      --left;
      if (++k == rows.count) {
        k = 0;
        ++piece;
        begin();
      }
    }

   private:
    KILN_DEVICE void begin() {
      const u32 rest = rows.matrix.row_bytes - (piece >> rows.shift) * kBytes;
      from = rows.piece(piece, k);
      size = rest < kBytes ? rest : kBytes;
    }
  };
  // Copies a thread's part of at most kAll bytes: 16 of every 32 * 16, up to byte `rest`. Skips the
  // first 16 unless `has_first`.
  template <u32 kAt, u32 kAll>
  KILN_DEVICE static void copy(SharedPlace to, const u8* from, u32 rest, bool has_first) {
    if constexpr (kAt < kAll) {
      if (kAt < rest && (kAt != 0 || has_first)) copy_async_16_at<kAt>(to, from);
      copy<kAt + 16 * kLanes, kAll>(to, from, rest, has_first);
    }
  }

  KILN_DEVICE static void copy_vector(SharedPlace to, const Q8_1* vector, u32 columns) {
    for (u32 i = 16 * thread_rank(); i < columns / 32 * Q8_1::kBytes; i += 16 * block_threads()) {
      copy_async_16(to + i, reinterpret_cast<const u8*>(vector) + i);
    }
  }

  KILN_DEVICE static void sum_pieces(f32* sums, const Rows& rows, const Q8_1* vector, u32 columns) {
    const u32 lane = thread_rank() % kLanes, wave = uniform(thread_rank() / kLanes);
    const u32 waves = block_threads() / kLanes, waves_shift = highest_bit(waves);
    Wave* const of_waves = reinterpret_cast<Wave*>(sums + kMaxSums);
    Q8_1* const whole = reinterpret_cast<Q8_1*>(of_waves + waves);
    const u32 all = rows.pieces * rows.count;
    const u32 begin = all * wave >> waves_shift, end = all * (wave + 1) >> waves_shift;
    u32 piece = rows.pieces * wave >> waves_shift;
    u32 k = begin - piece * rows.count, left = end - begin;
    Wave& mine = of_waves[wave];
    const SharedPlace ring = shared_place(mine.stages);
    Copies copies(rows, ring, left, piece, k);
    // The vector follows the first stage, which takes longer to arrive. Measured on an H200:
    // products take 0.1 to 0.3 us longer if the vector comes first.
#pragma unroll 1
    for (u32 s = 0; s < kStages; ++s) {
      copies.next();
      if (s == 0) copy_vector(shared_place(whole), vector, columns);
      end_group();
    }
    wait_for_groups<kStages - 1>();
    barrier();
    u32 stage = 0;
#pragma unroll 1
    while (left != 0) {
      HeldColumns<Format> held;
      const u32 slice = piece >> rows.shift;
      const bool is_idle = slice * kBytes + kBytes * lane / kLanes >= rows.matrix.row_bytes;
      u32 place = static_cast<u32>(address_of(rows.piece(piece, k))) - ring;
      if (!is_idle) held.load(whole + slice * (kColumns / 32), lane, place);
      const u32 of_piece = rows.count - k, run = left < of_piece ? left : of_piece;
      f32* const of_run = sums + piece * rows.count + k;
#pragma unroll 1
      for (u32 i = 0; i < run; ++i) {
        const u32 in_batch = i % kBatch;
        wait_for_groups<kStages - 1>();
        wave_barrier();
        const f32 sum = is_idle ? 0 : held.dot(mine.stages + stage + place % kLine, lane);
        mine.parts[in_batch][lane] = sum;
        wave_barrier();
        copies.next();
        end_group();
        stage = stage + kStageBytes == kStages * kStageBytes ? 0 : stage + kStageBytes;
        place += static_cast<u32>(rows.step);
        if (in_batch + 1 == kBatch || i + 1 == run) {
          add_parts(mine.parts, in_batch + 1, of_run + (i - in_batch), lane);
        }
      }
      left -= run;
      ++piece;
      k = 0;
    }
  }

  // Adds up the sums that the threads of a wave stored for `batch` pieces, into sums[0] and so on.
  KILN_DEVICE static void add_parts(const f32 (&parts)[kBatch][kStride], u32 batch, f32* sums,
                                    u32 lane) {
    const f32* const own = &parts[lane / 4][lane % 4 * (kLanes / 4)];
    f32 sum = 0;
#pragma unroll
    for (u32 i = 0; i < kLanes / 4; i += 4) {
      const Words four = load_16_bytes(own + i);
#pragma unroll
      for (u32 j = 0; j < 4; ++j) sum += bit_cast<f32>(four.word[j]);
    }
    sum += exchange(sum, 2, 4);
    sum += exchange(sum, 1, 4);
    if (lane % 4 == 0 && lane / 4 < batch) sums[lane / 4] = sum;
    wave_barrier();
  }
};

// Returns true if a product takes this path. Vector and matrices begin at multiples of 16 bytes. A
// row, or with kStartsAnywhere a matrix, has a multiple of 16 bytes.
template <class Format>
KILN_DEVICE bool streams_rows(const PairRows& matrix, const Q8_1* vector, u32 columns, u32 rows) {
  using Streamed = StreamedRows<Format>;
  const u32 threads = block_threads();
  const u64 begins = address_of(matrix.first) | address_of(matrix.second) | address_of(vector);
  const u32 ends = matrix.row_bytes * (Streamed::kStartsAnywhere ? rows : 1);
  return (begins | ends) % 16 == 0 && threads >= 32 && (threads & (threads - 1)) == 0 &&
         rows + block_count() < kSmallIndex &&
         dynamic_shared_bytes() >= Streamed::bytes(threads / 32, columns);
}
template <class Format, class Output>
KILN_DEVICE void stream_rows(const PairRows& matrix, const Q8_1* vector, const Output& output,
                             u32 columns, u32 rows) {
  StreamedRows<Format>::multiply(matrix, vector, output, columns, rows);
}

#else

template <class Format>
KILN_DEVICE bool streams_rows(const PairRows&, const Q8_1*, u32, u32) {
  return false;
}
template <class Format, class Output>
KILN_DEVICE void stream_rows(const PairRows&, const Q8_1*, const Output&, u32, u32) {}

#endif

}  // namespace kiln::families
