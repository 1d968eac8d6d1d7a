// The memory layout of the f16 vectors that half_matrix multiplies (tuning/half_products.hpp).
#pragma once

#include "device/platform.cuh"
#include "tuning/half_products.hpp"

namespace kiln::device {

inline constexpr u32 kHalfTileVectors = tuning::kHalfTileVectors;
inline constexpr u32 kHalfChunkColumns = tuning::kHalfChunkColumns;
inline constexpr u32 kHalfPieces = kHalfChunkColumns / 8;  // of a vector in a chunk
inline constexpr u32 kHalfPieceBytes = 16;

// Number of steps that `columns` columns take, the last one rounded up to a whole step.
KILN_DEVICE u32 half_steps(u32 columns) {
  return (columns + tuning::kHalfSpan - 1) / tuning::kHalfSpan;
}
// Returns where a value's chunk begins, counted in values from the first chunk.
KILN_DEVICE u64 half_chunk(u32 vector, u32 column, u32 columns) {
  const u64 of_tile =
      static_cast<u64>(half_steps(columns)) * (tuning::kHalfSpan * kHalfTileVectors);
  return vector / kHalfTileVectors * of_tile +
         static_cast<u64>(column / kHalfChunkColumns) * (kHalfChunkColumns * kHalfTileVectors);
}
// Returns the first vector of a tile of tasks of `expert`, if `before` tasks precede the tile.
KILN_DEVICE u32 half_task_vector(u32 expert, u32 before) {
  constexpr u32 kAlignment = tuning::kHalfTaskAlignment;
  return (before / kAlignment + expert) * kAlignment;
}
// Returns the offset in bytes of a vector's piece in its chunk.
KILN_DEVICE u32 half_piece(u32 vector, u32 piece) {
  return (vector * kHalfPieces + (piece ^ vector % kHalfPieces)) * kHalfPieceBytes;
}
// Returns the piece that holds a column of a chunk, and the column's place in the piece, in values.
struct HalfPlace {
  u32 piece, within;
};
KILN_DEVICE HalfPlace half_place(u32 column) {
  const u32 pair = column % 16 / 2;
  return {column / 16 * 2 + pair % 2, pair / 2 * 2 + column % 2};
}

}  // namespace kiln::device
