// Products of a matrix of quantized rows and many vectors of f16: dst[v * stride + row].
//
// A block makes a tile of rows and vectors, step by step of columns. Rows come to shared memory as
// they are, vectors as f16; while one step is multiplied, the next is on its way. Each 32 threads
// decode 16 rows to f16 and multiply them by all vectors of the tile (device/half_fragments.cuh).
#pragma once

#include "device/chunk.cuh"
#include "device/half_fragments.cuh"
#include "device/platform.cuh"
#include "device/platform_copies.cuh"
#include "device/wave.cuh"
#include "families/quantized_matrix.cuh"
#include "families/quantized_results.cuh"
#include "tuning/half_products.hpp"

namespace kiln::families {

using namespace device;

// The vectors of a tile, one behind the other.
struct HalfVectors {
  const f16* first;
  u32 count;
};

template <class Format>
class HalfTiles {
  using Unit = UnitRows<Format>;
  using Scratch = DecodedRows::Scratch;
  static constexpr bool kRunBeside = DecodedRows::kRunBeside;
  static constexpr u32 kSpan = kHalfSpan, kGroups = Unit::kGroups;
  static constexpr u32 kUnits = kSpan / 32 / kGroups;  // of a step
  static constexpr u32 kRowBytes = tuning::half_row_bytes(Format::kBytes, Format::kValues);
  static constexpr u32 kBytes = kSpan / Format::kValues * Format::kBytes;
  static constexpr u32 kLanes = 8;                                        // that copy a row
  static constexpr u32 kChunks = (kRowBytes / 16 + kLanes - 1) / kLanes;  // that each copies
#if KILN_HAS_COPIES
  static constexpr u32 kStages = 2;
#else
  static constexpr u32 kStages = 1;
#endif
  static_assert(kSpan == tuning::kHalfSpan &&
                HalfColumns::kBytes <= kHalfColumns * tuning::kHalfVectorBytes);

 public:
  KILN_DEVICE HalfTiles(const BlockMatrix& matrix, const HalfVectors& vectors, u32 first_row)
      : matrix_(matrix),
        vectors_(vectors),
        row_bytes_(static_cast<u64>(matrix.blocks) * Format::kBytes),
        columns_(matrix.blocks * Format::kValues),
        first_row_(first_row),
        are_aligned_((address_of(matrix.bytes) | row_bytes_) % 16 == 0),
        are_vectors_aligned_(address_of(vectors.first) % 16 == 0) {}

  // The products of all columns; those of a wave's parts are to be added.
  KILN_DEVICE void multiply(HalfSums& sums) const {
    constexpr u32 kAlignment = HalfColumns::kAlignment;
    u8* const shared = static_cast<u8*>(dynamic_shared());
    u8* const stages = shared + (-address_of(shared) & (kAlignment - 1));
    const u32 step_bytes = HalfColumns::kBytes + waves_ * kTileRows * kRowBytes;
    const u32 stage_bytes = (step_bytes + kAlignment - 1) & ~(kAlignment - 1);
    const u32 wave = thread_rank() / kTileThreads;
    Scratch& scratch = reinterpret_cast<Scratch*>(stages + kStages * stage_bytes)[wave];
    const auto copy = [&](u32 stage, u32 first) {
      if (first >= columns_) return;
      copy_vectors(stages + stage * stage_bytes, first);
      copy_rows(stages + stage * stage_bytes + HalfColumns::kBytes, first);
    };
    u32 stage = 0;
    copy(0, 0);
#pragma unroll 1
    for (u32 first = 0; first < columns_; first += kSpan) {
      wait_for_copies();
      show_products();
      barrier();
      const u8* const from = stages + stage * stage_bytes;
      if constexpr (kStages == 2) {
        stage ^= 1;
        add(sums, from, first, scratch, [&] { copy(stage, first + kSpan); });
      } else {
        add(sums, from, first, scratch, [] {});
        barrier();
        copy(0, first + kSpan);
      }
    }
    wait_for_products<0>();
  }

 private:
  // Where a row begins. Its first byte has the same place among 16 in shared memory.
  KILN_DEVICE u32 place_among_16(u32 row, u32 column) const {
    const u32 low = static_cast<u32>(address_of(matrix_.bytes)) +
                    (first_row_ + row) * static_cast<u32>(row_bytes_) +
                    column / Format::kValues * Format::kBytes;
    return low % 16;
  }
  KILN_DEVICE const u8* place(u32 row, u32 column) const {
    return matrix_.bytes + (first_row_ + row) * row_bytes_ +
           column / Format::kValues * Format::kBytes;
  }

  // Rows of the thread's wave, those that are there; zero behind their last column. A thread with
  // nothing of its own to copy copies the last row or chunk once more: so no thread branches.
  KILN_DEVICE void copy_rows(u8* stage, u32 first) const {
    constexpr u32 kAtOnce = kTileThreads / kLanes;
    const u32 size = lesser(columns_ - first, kSpan) / Format::kValues * Format::kBytes;
    const u32 begin = wave_ * kTileRows, step = parts_ * kAtOnce;
    const u32 end = lesser(begin + kTileRows, matrix_.rows - first_row_);
    const u32 own = begin + part_ * kAtOnce + lane_ / kLanes, lane = lane_ % kLanes;
    if (begin >= end) return;
    if (are_aligned_ && size == kBytes) {
      const u32 before = place_among_16(0, first), last = (before + kBytes - 1) / 16;
      const u8* const from = place(0, first) - before;
      u32 chunks[kChunks];
#pragma unroll
      for (u32 c = 0; c < kChunks; ++c) chunks[c] = 16 * lesser(c * kLanes + lane, last);
#pragma unroll 1
      for (u32 i = 0; i < kTileRows; i += step) {
        const u32 row = lesser(own + i, end - 1);
        const u8* const from_row = from + row * row_bytes_;
        u8* const to = stage + row * kRowBytes;
#pragma unroll
        for (u32 c = 0; c < kChunks; ++c) copy_async<16>(to + chunks[c], from_row + chunks[c]);
      }
    } else {
#pragma unroll 1
      for (u32 row = own; row < end; row += step) {
        const u8* const from = place(row, first);
        u8* const to = stage + row * kRowBytes + place_among_16(row, first);
#pragma unroll 4
        for (u32 i = lane; i < kBytes; i += kLanes) to[i] = i < size ? from[i] : u8{0};
      }
    }
  }
  // Four vectors for each 32 threads at once; the last one also in place of those behind it.
  KILN_DEVICE void copy_vectors(u8* stage, u32 first) const {
    const u32 size = lesser(columns_ - first, kSpan), count = vectors_.count;
    const u32 step = 4 * waves_ * parts_;
#pragma unroll 1
    for (u32 v = 4 * (part_ * waves_ + wave_); v < count; v += step) {
      const auto from = [&](u32 k) {
        return vectors_.first + (static_cast<u64>(lesser(v + k, count - 1)) * columns_ + first);
      };
      if (are_vectors_aligned_ && size == kSpan) {
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
          copy_async<16>(stage + HalfColumns::place(v + k, lane_), from(k) + 8 * lane_);
        }
      } else {
#pragma unroll 1
        for (u32 i = lane_; i < 4 * kSpan; i += kTileThreads) {
          const u32 k = i / kSpan, j = i % kSpan;
          f16* const to = reinterpret_cast<f16*>(stage + HalfColumns::place(v + k, j / 8));
          to[j % 8] = j < size ? from(k)[j] : f16{0};
        }
      }
    }
  }

  // The products of a step. Meanwhile calls copy(), when nothing reads the step before.
  template <class Copy>
  KILN_DEVICE void add(HalfSums& sums, const u8* vectors, u32 first, Scratch& scratch,
                       Copy copy) const {
    const u8* rows[2];
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      const u32 row = wave_ * kTileRows + r * 8 + lane_ / 4;
      rows[r] = vectors + HalfColumns::kBytes + row * kRowBytes + place_among_16(row, first);
    }
    const u32 each = units_, begin = part_ * each;
    if constexpr (!kRunBeside) copy();
    // Products that run beside what comes next take two groups at a time, and read registers until
    // they end: two sets of these are filled by turns.
    constexpr u32 kAtOnce = kRunBeside ? 2 : 1, kRound = kRunBeside ? 4 : kGroups;  // groups
    constexpr u32 kUnitsAtOnce = kAtOnce > kGroups ? kAtOnce / kGroups : 1;
    DecodedRows left[kRunBeside ? 2 : 1][kAtOnce];
    Unit unit[kUnitsAtOnce], other[kUnitsAtOnce];
    const auto load = [&](u32 number) {
#pragma unroll
      for (u32 i = 0; i < kUnitsAtOnce; ++i) {
        unit[i].load_bytes(rows, number + i, DecodedRows::word(lane_, 0));
        if constexpr (kRunBeside) {
          other[i].load_bytes(rows, number + i, DecodedRows::word(lane_, 1));
        }
        unit[i].load_scales(rows, number + i, lane_);
      }
    };
    if constexpr (kRunBeside) load(begin);
#pragma unroll 1
    for (u32 u = begin; u < begin + each; u += kRound / kGroups) {
#pragma unroll
      for (u32 g = 0; g < kRound; g += kAtOnce) {
        if constexpr (!kRunBeside) {
          if (g % kGroups == 0) load(u + g / kGroups);
        }
        DecodedRows(&now)[kAtOnce] = left[kRunBeside ? g / kAtOnce % 2 : 0];
        wait_for_products<1>();
        if constexpr (DecodedRows::kAreShared) wave_barrier();
#pragma unroll
        for (u32 k = 0; k < kAtOnce; ++k) {
          const u32 i = k / kGroups, of_unit = (g + k) % kGroups;
          const auto& scales = unit[i].scales[of_unit];
          now[k].template decode<Format::kZero, Format::kHasOffset>(
              scratch, unit[i].bytes[of_unit], other[i].bytes[of_unit], scales[0],
              scales[Unit::kRuns - 1], lane_);
        }
        if constexpr (DecodedRows::kAreShared) wave_barrier();
        begin_products();
#pragma unroll
        for (u32 k = 0; k < kAtOnce; ++k) {
          now[k].multiply(sums, g + k == 0 && (first | (u - begin)) == 0, scratch, vectors,
                          u * kGroups + g + k, lane_);
        }
        end_products();
        // What is decoded next is loaded beside the products; behind the last there is nothing.
        if constexpr (kRunBeside) {
          if ((g + kAtOnce) % kGroups == 0) {
            load(lesser(u + (g + kAtOnce) / kGroups, begin + each - kUnitsAtOnce));
          }
        }
      }
      if constexpr (kRunBeside) {
        if (u == begin) {
          wait_for_products<1>();
          barrier();
          copy();
        }
      }
    }
  }

  BlockMatrix matrix_;
  HalfVectors vectors_;
  u64 row_bytes_;
  u32 columns_, first_row_;
  bool are_aligned_, are_vectors_aligned_;  // to sixteen bytes; columns are whole blocks
  u32 lane_ = thread_index() % kTileThreads;
  u32 waves_ = block_size() / kTileThreads, parts_ = block_y();
  u32 wave_ = thread_index() / kTileThreads, part_ = thread_y();
  u32 units_ = kUnits / parts_;  // of a step, for each part
};

// Vector v is multiplied by scales[v], where there are scales. With `gates`, one for each result:
// silu(gate) * product. Any grid does.
template <class Format>
struct HalfMatrix {
  const void* weights;
  const f32* gates;
  const f16* x;
  const f32* scales;
  FloatResults results;
  u32 columns, rows, count;

  KILN_DEVICE void multiply() const {
    const BlockMatrix matrix{static_cast<const u8*>(weights), rows, columns / Format::kValues};
    const u32 tile_rows = block_size() / 2;
#pragma unroll 1
    for (u32 v = block_index_y() * kHalfColumns; v < count; v += block_count_y() * kHalfColumns) {
      const HalfVectors vectors{x + static_cast<u64>(v) * columns, lesser(count - v, kHalfColumns)};
#pragma unroll 1
      for (u32 r = block_index() * tile_rows; r < rows; r += block_count() * tile_rows) {
        HalfSums sums;
        DecodedRows::clear(sums);
        HalfTiles<Format>(matrix, vectors, r).multiply(sums);
        barrier();
        put(sums, r, v, vectors.count);
        barrier();
      }
    }
  }

 private:
  // Results go by way of shared memory, so that wide accesses store them.
  KILN_DEVICE void put(const HalfSums& sums, u32 first_row, u32 first_vector, u32 vectors) const {
    const u32 tile_rows = block_size() / 2, stride = tile_rows + tuning::kHalfResultsApart;
    const u32 lane = thread_index() % kTileThreads;
    f32* const all = static_cast<f32*>(dynamic_shared());
    f32* const mine = all + thread_y() * (kHalfColumns * stride) + lane % 4 * 2 * stride +
                      thread_index() / kTileThreads * kTileRows + lane / 4;
#pragma unroll
    for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        mine[(x * kTileColumns + i % 2) * stride + i / 2 * 8] = sums[x][i];
      }
    }
    barrier();
    // A thread has four rows, of every so many vectors.
    const u32 fours = tile_rows / 4, row = thread_rank() % fours * 4;
    const u32 step = block_threads() / fours, first = thread_rank() / fours;
    if (row >= lesser(rows - first_row, tile_rows) || first >= step) return;
    const u32 there = lesser(rows - first_row - row, 4);
    const bool by_four = there == 4 && results.stride % 4 == 0 &&
                         (address_of(results.dst) | address_of(gates)) % 16 == 0;
#pragma unroll 1
    for (u32 v = first; v < vectors; v += step) {
      const u64 at = static_cast<u64>(first_vector + v) * results.stride + first_row + row;
      f32 sum[4] = {};
#pragma unroll 1
      for (u32 p = 0; p < block_y(); ++p) {
        const Words four = load_16_bytes(all + (p * kHalfColumns + v) * stride + row);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) sum[k] += bit_cast<f32>(four.word[k]);
      }
      const f32 scale = scales == nullptr ? 1 : scales[first_vector + v];
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        sum[k] *= scale;
        if (gates != nullptr && k < there) sum[k] *= silu(gates[at + k]);
      }
      if (by_four) {
        results.put_four(at, [&](u32 k) { return sum[k]; });
      } else {
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
          if (k < there) results.put(at + k, sum[k]);
        }
      }
    }
  }
};

}  // namespace kiln::families
