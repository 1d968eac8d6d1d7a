// Products of a matrix of quantized rows and one vector, where hardware copies in the background:
// each 32 threads hold some columns of the vector, a slice, in registers, and rows stream through
// shared memory, so that bytes on their way take no registers.
//
// A block has the whole vector, and neighbouring rows. Each wave has a share of the rows' slices and
// copies them, one after another, to stages of its own: waves wait for each other only before sums
// of slices become results. All that is shared is dynamic: a product goes this way where its launch
// brings enough, so that other launches of the same kernel hold none.
#pragma once

#include "device/block.cuh"
#include "device/platform_copies.cuh"
#include "device/platform_lanes.cuh"
#include "device/wave.cuh"
#include "families/held_columns.cuh"
#include "families/quantized_results.cuh"
#include "tuning/streamed_vector.hpp"

namespace kiln::families {

// Whether products of fused_vector with a format may go this way.
template <class Format>
inline constexpr bool kStreamsFused = tuning::streams_fused_format(Format::kBytes);

#if KILN_HAS_COPIES

template <class Format>
struct StreamedRows {
  static constexpr u32 kStages = tuning::streamed_stages(Format::kBytes);
  static constexpr u32 kMostSums = tuning::kStreamedSums;
  static constexpr u32 kLanes = 32, kColumns = kLanes * tuning::kStreamedValues;  // of a slice
  // Of a piece, the slice of a row. It lies in its stage as far behind a line of 128 bytes as in the
  // matrix: hardware copies by lines, and takes half as long again for those that it has to turn.
  static constexpr u32 kBytes = kColumns / Format::kValues * Format::kBytes;
  static constexpr u32 kLine = 128, kStageBytes = tuning::streamed_stage(kBytes);
  static constexpr bool kStartsAnywhere = kStartsAtHalves<Format>;  // among sixteen bytes
  static_assert(kStageBytes % kLine == 0 && kStageBytes >= kBytes + kLine - 16 + kStartsAnywhere);
  static_assert(kMostSums >= tuning::kMostStreamedColumns / kColumns * 2);
  // The threads of a wave leave what they sum of so many pieces, and then four add up each.
  static constexpr u32 kBatch = tuning::kStreamedBatch, kStride = tuning::kStreamedStride;
  static_assert(kBatch == kLanes / 4 && kStride == kLanes + 4);

  // Of a wave.
  struct alignas(16) Wave {
    u8 stages[kStages * kStageBytes];
    f32 parts[kBatch][kStride];
  };
  // Before the waves', and the vector behind them.
  struct alignas(16) Sums {
    f32 of_pieces[kMostSums];
  };
  KILN_DEVICE static u32 bytes(u32 waves, u32 columns) {
    return sizeof(Sums) + waves * sizeof(Wave) + columns / 32 * sizeof(Q8_1);
  }
  static_assert(tuning::streamed_bytes(Format::kBytes, Format::kValues, 4, 0) ==
                sizeof(Sums) + 4 * sizeof(Wave));

  // `rows`: of each matrix.
  template <class Output>
  KILN_DEVICE static void multiply(const PairRows& matrix, const Q8_1* vector, const Output& output,
                                   u32 columns, u32 rows) {
    f32* const sums = static_cast<Sums*>(dynamic_shared())->of_pieces;
    const u32 shift = matrix.is_pair() ? 1 : 0;
    const u32 pieces = (columns + kColumns - 1) / kColumns << shift;
    const u32 end = begin_of(block_index() + 1, rows);
#pragma unroll 1
    for (u32 first = begin_of(block_index(), rows), next = end; first < end; first = next) {
      u32 count = end - first;
      if (count * pieces > kMostSums) count = kMostSums / pieces;
      next = first + count;
      sum_pieces(sums, Rows{matrix, shift, first, count, pieces}, vector, columns);
      barrier();
#pragma unroll 1
      for (u32 k = thread_rank(); k < count; k += block_threads()) {
        output(first + k << shift, 0, [&](u32 n) {
          f32 sum = 0;
#pragma unroll 1
          for (u32 p = n; p < pieces; p += 1u << shift) sum += sums[p * count + k];
          return sum;
        });
      }
      if (next != end) barrier();
    }
  }

 private:
  // Neighbouring rows of a block, and the pieces of each: its slices, of two matrices by turns.
  struct Rows {
    const PairRows& matrix;
    u32 shift, first, count, pieces;

    KILN_DEVICE const u8* piece(u32 p, u32 k) const {
      const u32 of_second = shift == 0 ? 0 : p % 2;
      return matrix.row((first + k << shift) + of_second) + (p >> shift) * kBytes;
    }
  };
  // The first row of a block: each has about as many.
  KILN_DEVICE static u32 begin_of(u32 block, u32 rows) {
    if (block >= block_count()) return rows;
    const f32 each =
        static_cast<f32>(rows) * reciprocal_approximate(static_cast<f32>(block_count()));
    const u32 begin = static_cast<u32>(static_cast<f32>(block) * each);
    return begin < rows ? begin : rows;
  }
  // What a wave copies: a piece of each row, and then the next.
  struct Copies {
    const Rows& rows;
    SharedPlace ring;
    u32 left, piece, k;
    u32 to = 0, size = 0;  // bytes, of the ring and of a piece
    const u8* from = nullptr;
    bool is_first = true;  // of its pieces: before a matrix is nothing to be read

    KILN_DEVICE Copies(const Rows& of, SharedPlace to_ring, u32 count, u32 first_piece, u32 first_k)
        : rows(of), ring(to_ring), left(count), piece(first_piece), k(first_k) {
      begin();
    }
    KILN_DEVICE void next() {
      if (left == 0) return;
      const u32 place = (static_cast<u32>(address_of(from)) - ring) % kLine;
      const u32 before = is_first ? place % 16 : place, behind = 16 * (thread_rank() % kLanes);
      is_first = false;
      const u32 all = before + size;
      copy<0, kStageBytes>(ring + to + (place - before) + behind,
                           one_address(from - before + behind), all > behind ? all - behind : 0);
      to = to + kStageBytes == kStages * kStageBytes ? 0 : to + kStageBytes;
      from += rows.matrix.row_bytes;
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
      is_first = true;
    }
  };
  // A thread's part of at most kAll bytes, of which `rest` are there from its first on.
  template <u32 kAt, u32 kAll>
  KILN_DEVICE static void copy(SharedPlace to, const u8* from, u32 rest) {
    if constexpr (kAt < kAll) {
      if (kAt < rest) copy_async_16_at<kAt>(to, from);
      copy<kAt + 16 * kLanes, kAll>(to, from, rest);
    }
  }

  KILN_DEVICE static void sum_pieces(f32* sums, const Rows& rows, const Q8_1* vector, u32 columns) {
    const u32 lane = thread_rank() % kLanes, wave = uniform(thread_rank() / kLanes);
    const u32 waves = block_threads() / kLanes, waves_shift = highest_bit(waves);
    Wave* const of_waves = reinterpret_cast<Wave*>(sums + kMostSums);
    Q8_1* const whole = reinterpret_cast<Q8_1*>(of_waves + waves);
    const u32 all = rows.pieces * rows.count;
    const u32 begin = all * wave >> waves_shift, end = all * (wave + 1) >> waves_shift;
    u32 piece = rows.pieces * wave >> waves_shift;
    u32 k = begin - piece * rows.count, left = end - begin;
    Wave& mine = of_waves[wave];
    const SharedPlace ring = shared_place(mine.stages);
    Copies copies(rows, ring, left, piece, k);
    for (u32 i = 16 * thread_rank(); i < columns / 32 * Q8_1::kBytes; i += 16 * block_threads()) {
      copy_async_16(shared_place(whole) + i, reinterpret_cast<const u8*>(vector) + i);
    }
#pragma unroll 1
    for (u32 s = 0; s < kStages; ++s) {
      copies.next();
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
      if (!is_idle) held.load(whole + slice * (kColumns / 32), lane);
      const u32 of_piece = rows.count - k, run = left < of_piece ? left : of_piece;
      f32* const of_run = sums + piece * rows.count + k;
      u32 place = static_cast<u32>(address_of(rows.piece(piece, k))) - ring;
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
        place += rows.matrix.row_bytes;
        if (in_batch + 1 == kBatch || i + 1 == run) {
          add_parts(mine.parts, in_batch + 1, of_run + (i - in_batch), lane);
        }
      }
      left -= run;
      ++piece;
      k = 0;
    }
  }

  // What the threads of a wave left of up to kBatch rows, to sums[0] and so on.
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

// Whether a product goes this way: rows, or, of some formats, the matrices begin and end at multiples
// of sixteen bytes.
template <class Format>
KILN_DEVICE bool streams_rows(const PairRows& matrix, const Q8_1* vector, u32 columns, u32 rows) {
  using Streamed = StreamedRows<Format>;
  const u32 threads = block_threads();
  const u64 begins = address_of(matrix.first) | address_of(matrix.second) | address_of(vector);
  const u32 ends = matrix.row_bytes * (Streamed::kStartsAnywhere ? rows : 1);
  return (begins | ends) % 16 == 0 && threads >= 32 && (threads & (threads - 1)) == 0 &&
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
