// Products that only kiln has: with results in any float type, with two matrices joined as
// silu(first) * second, and with a matrix for each task of a mixture of experts.
#pragma once

#include "families/float_vector.cuh"
#include "families/quantized_matrix.cuh"
#include "families/quantized_results.cuh"
#include "families/quantized_vector.cuh"
#include "families/streamed_vector.cuh"

namespace kiln::families {

using namespace device;

// The task of all blocks with index y: multiply matrix experts[y], or the only matrix if `experts`
// is null, by vector y / tasks_of_vector.
struct Task {
  u32 number, vector, expert;
  KILN_DEVICE Task(const u32* experts, i32 tasks_of_vector)
      : number(block_index_y()),
        vector(number / static_cast<u32>(tasks_of_vector)),
        expert(experts == nullptr ? 0 : experts[number]) {}
};

template <class Format>
KILN_DEVICE PairRows rows_of_task(const Task& task, const void* first, const void* second,
                                  i32 columns, i32 rows) {
  return {first, second, static_cast<u32>(columns) / Format::kValues * Format::kBytes,
          static_cast<u64>(task.expert) * static_cast<u32>(rows)};
}

// Products with vectors in Q8_1.
template <class Format>
KILN_DEVICE void fused_vector(const void* first, const void* second, const void* vectors,
                              const u32* experts, void* dst, i32 columns, i32 rows, i32 padded,
                              i32 dst_stride, i32 tasks_of_vector, u32 type) {
  const u32 length = static_cast<u32>(columns);
  if constexpr (kStreamsFused<Format>) {
    // Checked first of all: memory is idle until these launches begin to copy.
    using Aligned = gguf::Aligned<Format>;
    const PairRows matrix{first, second, length / Format::kValues * Format::kBytes};
    const Q8_1* const vector = static_cast<const Q8_1*>(vectors);
    if (experts == nullptr && block_count_y() == 1 &&
        streams_rows<Aligned>(matrix, vector, length, static_cast<u32>(rows))) {
      const FloatResults results{dst, static_cast<u32>(dst_stride), type, matrix.is_pair()};
      return stream_rows<Aligned>(matrix, vector, results, length, static_cast<u32>(rows));
    }
  }
  const Task task(experts, tasks_of_vector);
  const PairRows matrix = rows_of_task<Format>(task, first, second, columns, rows);
  const FloatResults results{dst, static_cast<u32>(dst_stride), type, matrix.is_pair()};
  const auto of_task = [&](u32 row, u32, auto sum) { results(row, task.number, sum); };
  const Q8_1* const vector = static_cast<const Q8_1*>(vectors) +
                             static_cast<u64>(task.vector) * (static_cast<u32>(padded) / 32);
  const u32 count = matrix.count(rows);
  const bool is_by_wave = length <= tuning::kColumnsOfWave && block_threads() % wave_width() == 0;
  const Share share = is_by_wave ? share_of_wave(block_count()) : share_of_block(block_count());
  multiply_rows<Format, 1, tuning::kRowsAtOnce>(matrix, vector, of_task, length, count, 0, share);
}

// Products with vectors of floats, x_stride apart. Vectors and strides are aligned to four values.
template <class Format>
KILN_DEVICE void fused_float_vector(const void* first, const void* second, const void* vectors,
                                    const u32* experts, void* dst, i32 columns, i32 rows,
                                    i32 x_stride, i32 dst_stride, i32 tasks_of_vector, u32 x_type,
                                    u32 type) {
  const Task task(experts, tasks_of_vector);
  const PairRows matrix = rows_of_task<Format>(task, first, second, columns, rows);
  const FloatResults results{dst, static_cast<u32>(dst_stride), type, matrix.is_pair()};
  const FloatVector vector(vectors, static_cast<u64>(task.vector) * static_cast<u32>(x_stride),
                           x_type);
  multiply_float_rows<Format, tuning::kRowsAtOnce>(
      matrix, vector, [&](u32 row, u32, auto sum) { results(row, task.number, sum); },
      static_cast<u32>(columns), matrix.count(rows));
}

// Products with many vectors in Q8_1. Blocks (x, y) compute row y of tiles. With `tiles` and
// `order`, row y is tiles[y], whose vectors belong to consecutive tasks in `order`. With `gates`,
// one for each result, a result is silu(gate) * product.
template <class GivenFormat>
KILN_DEVICE void fused_matrix(const void* weights, const f32* gates, const void* vectors,
                              const u32* order, const tuning::ExpertTile* tiles, void* dst,
                              i32 columns, i32 rows, i32 count, i32 padded, i32 dst_stride,
                              u32 type) {
  using Format = gguf::Centered<GivenFormat>;
  using Tiles = MatrixTiles<Format>;
  // Results replace the tile in shared memory, from where few instructions store them all.
  union Shared {
    typename Tiles::Shared of;
    f32 results[Tiles::kVectors][Tiles::kRows];
  };
  KILN_SHARED(shared, Shared);
  const u32 first = block_index_y() * Tiles::kVectors;
  tuning::ExpertTile of{0, first, static_cast<u32>(count)};
  if (tiles != nullptr) of = tiles[block_index_y()];
  if (leaves_to_all() || of.begin >= of.end) return;
  const FloatResults results{dst, 0, type, false};
  const u32 blocks = static_cast<u32>(columns) / Format::kValues;
  const u32 stride = static_cast<u32>(padded) / 32 * kBlockWords;
  const BlockMatrix matrix{
      static_cast<const u8*>(weights) +
          of.expert * (static_cast<u64>(static_cast<u32>(rows)) * blocks * Format::kBytes),
      static_cast<u32>(rows), blocks};
  const VectorRows of_tile{static_cast<const u32*>(vectors) + of.begin * static_cast<u64>(stride),
                           stride, min_of(of.end - of.begin, Tiles::kVectors),
                           static_cast<u32>(columns) / 32};
  const u32 tile_rows = Tiles::rows_of_tile(matrix.rows);
#pragma unroll 1
  for (u32 first_row = block_index() * tile_rows; first_row < matrix.rows;
       first_row += all_blocks() * tile_rows) {
    Tiles::multiply(
        shared.of, matrix, of_tile,
        [&](u32 row, u32 v, f32 value) { shared.results[v][row - first_row] = value; }, tile_rows,
        first_row, 0);
    barrier();
    const u32 width = min_of(matrix.rows - first_row, tile_rows);
#pragma unroll 1
    for (u32 i = thread_rank(); i < Tiles::kRows * of_tile.count; i += block_threads()) {
      const u32 row = i % Tiles::kRows, v = of.begin + i / Tiles::kRows;
      if (row >= width) continue;
      const u64 task = order == nullptr ? v : order[v];
      const u64 at = task * static_cast<u32>(dst_stride) + first_row + row;
      const f32 value = shared.results[i / Tiles::kRows][row];
      results.put(at, gates == nullptr ? value : silu(gates[at]) * value);
    }
    barrier();
  }
}

// dst[i] = values[i], or silu(gates[i]) * values[i] with gates, in any float type. With `scales`,
// one for each row, gates and values are multiplied by the row's scale first. The grid's y counts
// rows. `dst` may be `values`.
KILN_DEVICE void join_products(const f32* gates, const f32* values, const f32* scales, void* dst,
                               u32 rows, u64 columns, u32 type) {
  const FloatResults results{dst, 0, type, false};
  const bool by_chunks =
      columns % 4 == 0 && (address_of(gates) | address_of(values) | address_of(dst)) % 16 == 0;
  const u32 at_once = by_chunks ? 4 : 1;
  const u64 first = (static_cast<u64>(block_index()) * block_size() + thread_index()) * at_once;
  const u64 step = static_cast<u64>(block_count()) * block_size() * at_once;
#pragma unroll 1
  for (u32 row = block_index_y(); row < rows; row += block_count_y()) {
    const f32 scale = scales == nullptr ? 1 : scales[row];
    const u64 before = row * columns;
    const auto joined = [&](f32 gate, f32 value) {
      return gates == nullptr ? scale * value : silu(scale * gate) * (scale * value);
    };
    if (gates == nullptr && dst == values && scale == 1) continue;
    if (by_chunks) {
#pragma unroll 2
      for (u64 i = before + first; i < before + columns; i += step) {
        Chunk<f32, 4> gate, value;
        value.load(values + i);
        if (gates != nullptr) gate.load(gates + i);
        results.put_four(i, [&](u32 k) { return joined(gate.get(k), value.get(k)); });
      }
    } else {
#pragma unroll 1
      for (u64 i = before + first; i < before + columns; i += step) {
        results.put(i, joined(gates == nullptr ? 0 : gates[i], values[i]));
      }
    }
  }
}

}  // namespace kiln::families
