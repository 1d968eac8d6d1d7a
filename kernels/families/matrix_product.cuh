// Products of a matrix of quantized rows and any number of vectors.
#pragma once

#include "families/quantized_matrix.cuh"

namespace kiln::families {

template <class GivenFormat>
struct MatrixProduct {
  using Tiles = MatrixTiles<gguf::Centered<GivenFormat>>;

  BlockMatrix matrix;
  VectorRows vectors;
  KILN_DEVICE MatrixProduct(const void* vx, const void* vy, i32 columns, i32 rows_x, i32 count,
                            i32 rows_y)
      : matrix{static_cast<const u8*>(vx), static_cast<u32>(rows_x),
               static_cast<u32>(columns) / GivenFormat::kValues},
        vectors{static_cast<const u32*>(vy), static_cast<u32>(rows_y) / 32 * kBlockWords,
                static_cast<u32>(count), static_cast<u32>(columns) / 32} {}
};

// mul_mat. Blocks take tiles in turn along both dimensions of the grid.
template <class Format>
KILN_DEVICE void mul_mat(const void* vx, const void* vy, f32* dst, i32 columns, i32 rows_x,
                         i32 vectors, i32 rows_y, i32 rows_dst) {
  using Product = MatrixProduct<Format>;
  using Tiles = typename Product::Tiles;
  if (leaves_to_all()) return;
  const Product product(vx, vy, columns, rows_x, vectors, rows_y);
  KILN_SHARED(shared, typename Tiles::Shared);
  const auto output = [&](u32 row, u32 vector, f32 value) {
    dst[static_cast<u64>(vector) * static_cast<u32>(rows_dst) + row] = value;
  };
  const u32 rows = product.matrix.rows, count = product.vectors.count;
  const u32 tile_rows = Tiles::rows_of_tile(rows), tile_vectors = Tiles::vectors_of_tile(count);
#pragma unroll 1
  for (u32 v = block_index_y() * tile_vectors; v < count; v += block_count_y() * tile_vectors) {
    VectorRows of_tile = product.vectors;
    of_tile.count = min_of(count, v + tile_vectors);
#pragma unroll 1
    for (u32 r = block_index() * tile_rows; r < rows; r += all_blocks() * tile_rows) {
      Tiles::multiply(shared, product.matrix, of_tile, output, tile_rows, r, v);
    }
  }
}

}  // namespace kiln::families
