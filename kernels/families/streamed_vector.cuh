// Products of a matrix of quantized rows and one vector, where hardware copies in the background:
// each 32 threads hold some columns of the vector, a slice, in registers, and rows stream through
// shared memory, so that bytes on their way take no registers.
//
// Each wave of a block has a share of the slices of the block's rows and copies them, one after
// another, to stages of its own: waves wait for each other only before sums of slices become
// results. The stages are dynamic shared memory: a product goes this way where its launch brings
// enough, so that other launches of the same kernel hold none.
#pragma once

#include "device/block.cuh"
#include "device/platform_copies.cuh"
#include "device/platform_lanes.cuh"
#include "device/wave.cuh"
#include "families/held_columns.cuh"
#include "tuning/streamed_vector.hpp"

namespace kiln::families {

// Whether products of fused_vector with a format may go this way.
template <class Format>
inline constexpr bool kStreamsFused = tuning::streams_fused_format(Format::kBytes);
template <class Format>
inline constexpr u32 kStreamedBytes = tuning::streamed_bytes(Format::kBytes, Format::kValues);
template <class Format>
inline constexpr u32 kStreamedStages = tuning::streamed_stages(Format::kBytes);

#if KILN_HAS_COPIES

template <class Format>
struct StreamedRows {
  static constexpr u32 kWaves = tuning::kStreamedWaves;
  static constexpr u32 kStages = kStreamedStages<Format>;
  static constexpr u32 kMostSums = tuning::kStreamedSums, kLanes = 32;
  static constexpr u32 kColumns = kLanes * tuning::kStreamedValues;  // of a slice
  static constexpr u32 kBlocks = kColumns / 32;                      // of the vector
  static constexpr u32 kBytes = kColumns / Format::kValues * Format::kBytes;
  static_assert(kBytes % 16 == 0 && kMostSums >= tuning::kMostStreamedColumns / kColumns * 2);
  // The threads of a wave leave what they sum of so many slices, and then four add up each.
  static constexpr u32 kBatch = tuning::kStreamedBatch, kStride = tuning::kStreamedStride;
  static_assert(kBatch == kLanes / 4 && kStride == kLanes + 4);

  struct Shared {
    struct alignas(16) Stage {
      u8 bytes[kBytes];
    };
    Stage stages[kWaves][kStages];
    alignas(16) Q8_1 vector[kWaves][kBlocks];  // a slice
    alignas(16) f32 parts[kWaves][kBatch][kStride];
    f32 sums[kMostSums];  // of slices
  };
  static_assert(sizeof(Shared) == kStreamedBytes<Format>);

  template <class Matrix, class Output>
  KILN_DEVICE static void multiply(Shared& shared, const Matrix& matrix, const Q8_1* vector,
                                   const Output& output, u32 columns, u32 rows) {
    const u32 slices = (columns + kColumns - 1) / kColumns, together = matrix.together();
    const u32 step = block_count() * together;
#pragma unroll 1
    for (u32 first = block_index() * together, next = 0; first < rows; first = next) {
      u32 count = ((rows - first - 1) / step + 1) * together;
      next = rows;
      if (count * slices > kMostSums) {
        count = kMostSums / slices / together * together;
        next = first + count * block_count();
      }
      const Rows of_block{first, step, together, count, slices};
      sum_slices(shared, matrix, vector, columns, of_block);
      barrier();
#pragma unroll 1
      for (u32 k = thread_rank(); k < of_block.count; k += block_threads()) {
        output(of_block.number(k), 0, [&](u32 n) {
          f32 sum = 0;
#pragma unroll 1
          for (u32 s = 0; s < slices; ++s) sum += shared.sums[s * of_block.count + k + n];
          return sum;
        });
      }
      barrier();
    }
  }

 private:
  // So many rows: `together` neighbours, those `step` further on, and so on.
  struct Rows {
    u32 first, step, together, count, slices;
    KILN_DEVICE u32 number(u32 k) const {
      return first + (together == 1 ? k * step : k / 2 * step + k % 2);
    }
  };
  // What a wave copies, slice by slice, row after row.
  template <class Matrix>
  struct Copies {
    const Matrix& matrix;
    const Rows& rows;
    SharedPlace ring;  // of this thread
    u32 left, k;       // slices of rows, and the row of the next one
    u32 before, to;    // bytes of its row, and of the ring

    KILN_DEVICE void next() {
      if (left != 0) {
        const u8* const from = one_address(matrix.row(rows.number(k)) + before);
        const u32 rest = matrix.row_bytes - before;
        copy<0, kBytes>(ring + to, from, before < matrix.row_bytes ? rest : 0);
        to = to + kBytes == kStages * kBytes ? 0 : to + kBytes;
        --left;
        if (++k == rows.count) {
          k = 0;
          before += kBytes;
        }
      }
      end_group();
    }
  };
  // A thread's part of kAll bytes, of which `rest` are there from its first on.
  template <u32 kAt, u32 kAll>
  KILN_DEVICE static void copy(SharedPlace place, const u8* from, u32 rest) {
    if constexpr (kAt < kAll) {
      const bool is_there = kAt + 16 * kLanes <= kAll || thread_rank() % kLanes < (kAll - kAt) / 16;
      if (is_there && kAt < rest) copy_async_16_at<kAt>(place, from);
      copy<kAt + 16 * kLanes, kAll>(place, from, rest);
    }
  }

  template <class Matrix>
  KILN_DEVICE static void sum_slices(Shared& shared, const Matrix& matrix, const Q8_1* vector,
                                     u32 columns, const Rows& rows) {
    const u32 lane = thread_rank() % kLanes, wave = uniform(thread_rank() / kLanes);
    const u32 all = rows.slices * rows.count;
    const u32 begin = all * wave / kWaves, end = all * (wave + 1) / kWaves;
    u32 slice = rows.slices * wave / kWaves, k = begin - slice * rows.count, left = end - begin;
    u32 stage = 0;
    const SharedPlace ring = shared_place(shared.stages[wave]) + 16 * lane;
    Copies<Matrix> copies{matrix, rows, ring, left, k, slice * kBytes + 16 * lane, 0};
    // The first slice of the vector, too, is on its way with the first row.
    constexpr u32 kVectorBytes = kBlocks * Q8_1::kBytes;
    const u32 of_vector = slice * kVectorBytes + 16 * lane,
              all_of_vector = columns / 32 * Q8_1::kBytes;
    copy<0, kVectorBytes>(shared_place(shared.vector[wave]) + 16 * lane,
                          reinterpret_cast<const u8*>(vector) + of_vector,
                          of_vector < all_of_vector ? all_of_vector - of_vector : 0);
#pragma unroll 1
    for (u32 s = 0; s < kStages; ++s) copies.next();
    wait_for_groups<kStages - 1>();
    wave_barrier();
    const Q8_1* from = shared.vector[wave];
#pragma unroll 1
    while (left != 0) {
      HeldColumns<Format> held;
      const bool is_idle = slice * kBytes + kBytes * lane / kLanes >= matrix.row_bytes;
      if (!is_idle) held.load(from, lane);
      const u32 of_slice = rows.count - k, run = left < of_slice ? left : of_slice;
      f32* const sums = shared.sums + slice * rows.count + k;
#pragma unroll 1
      for (u32 i = 0; i < run; ++i) {
        const u32 in_batch = i % kBatch;
        wait_for_groups<kStages - 1>();
        wave_barrier();
        const f32 sum = is_idle ? 0 : held.dot(shared.stages[wave][stage].bytes, lane);
        shared.parts[wave][in_batch][lane] = sum;
        wave_barrier();
        copies.next();
        stage = stage + 1 == kStages ? 0 : stage + 1;
        if (in_batch + 1 == kBatch || i + 1 == run) {
          add_parts(shared.parts[wave], in_batch + 1, sums + (i - in_batch), lane);
        }
      }
      left -= run;
      ++slice;
      k = 0;
      from = vector + slice * kBlocks;
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

// Whether a product goes this way.
template <class Format, class Matrix>
KILN_DEVICE bool streams_rows(const Matrix& matrix, const Q8_1* vector, u32 columns) {
  return dynamic_shared_bytes() >= sizeof(typename StreamedRows<Format>::Shared) &&
         columns <= tuning::kMostStreamedColumns && matrix.are_aligned() &&
         address_of(vector) % 16 == 0 && block_threads() == 32 * tuning::kStreamedWaves;
}
template <class Format, class Matrix, class Output>
KILN_DEVICE void stream_rows(const Matrix& matrix, const Q8_1* vector, const Output& output,
                             u32 columns, u32 rows) {
  using Streamed = StreamedRows<Format>;
  Streamed::multiply(*static_cast<typename Streamed::Shared*>(dynamic_shared()), matrix, vector,
                     output, columns, rows);
}

#else

template <class Format, class Matrix>
KILN_DEVICE bool streams_rows(const Matrix&, const Q8_1*, u32) {
  return false;
}
template <class Format, class Matrix, class Output>
KILN_DEVICE void stream_rows(const Matrix&, const Q8_1*, const Output&, u32, u32) {}

#endif

}  // namespace kiln::families
