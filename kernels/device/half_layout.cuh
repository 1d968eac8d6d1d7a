// Where vectors of f16 lie that half_matrix multiplies (tuning/half_products.hpp).
#pragma once

#include "device/platform.cuh"
#include "tuning/half_products.hpp"

namespace kiln::device {

inline constexpr u32 kHalfTileVectors = tuning::kHalfTileVectors;
inline constexpr u32 kHalfChunkColumns = tuning::kHalfChunkColumns;
inline constexpr u32 kHalfPieces = kHalfChunkColumns / 8;  // of a vector in a chunk
inline constexpr u32 kHalfPieceBytes = 16;

// The steps that columns take, the last one whole as well.
KILN_DEVICE u32 half_steps(u32 columns) {
  return (columns + tuning::kHalfSpan - 1) / tuning::kHalfSpan;
}
// The chunk of a value, from the first one on, in values.
KILN_DEVICE u64 half_chunk(u32 vector, u32 column, u32 columns) {
  const u64 of_tile =
      static_cast<u64>(half_steps(columns)) * (tuning::kHalfSpan * kHalfTileVectors);
  return vector / kHalfTileVectors * of_tile +
         static_cast<u64>(column / kHalfChunkColumns) * (kHalfChunkColumns * kHalfTileVectors);
}
// The vector of the first task of a tile that has one expert, behind `before` others.
KILN_DEVICE u32 half_task_vector(u32 expert, u32 before) {
  constexpr u32 kAlignment = tuning::kHalfTaskAlignment;
  return (before / kAlignment + expert) * kAlignment;
}
// Where a piece of a vector lies in its chunk, in bytes.
KILN_DEVICE u32 half_piece(u32 vector, u32 piece) {
  return (vector * kHalfPieces + (piece ^ vector % kHalfPieces)) * kHalfPieceBytes;
}
// The piece and the place in it, in values, of a column of a chunk.
struct HalfPlace {
  u32 piece, within;
};
KILN_DEVICE HalfPlace half_place(u32 column) {
  const u32 pair = column % 16 / 2;
  return {column / 16 * 2 + pair % 2, pair / 2 * 2 + column % 2};
}

}  // namespace kiln::device
