// dst[m, c, r] = src[m, r, c]: matrices, row-major contiguous, tile by tile through shared memory.
#pragma once

#include "families/transpose_tile.cuh"

namespace kiln::families {

using namespace device;

// Where tiles would be mostly empty, and in blocks of less than a tile's line.
template <class B>
KILN_DEVICE void transpose_by_elements(u64 numel, u64 rows, u64 columns, const B* src, B* dst) {
  const Spread spread(numel);
  if (spread.is_surplus()) return;
#pragma unroll 1
  for (u64 i = spread.self; i < numel; i += spread.threads) {
    const u64 line = quotient(i, rows);  // of the output
    const u64 matrix = quotient(line, columns);
    const u64 row = i - line * rows, column = line - matrix * columns;
    dst[i] = src[(matrix * rows + row) * columns + column];
  }
}

template <class T>
KILN_DEVICE void transpose(u64 matrices, u64 rows, u64 columns, const T* elements, T* transposed) {
  using B = BitsOf<T>;
  using Tile = TransposeTile<B>;
  const B* const src = reinterpret_cast<const B*>(elements);
  B* const dst = reinterpret_cast<B*>(transposed);
  if (leaves_at_once()) return;
  // A tile's rows are the output's, along which the input lies.
  const u64 down = (columns + Tile::kRows - 1) / Tile::kRows;
  const u64 across = (rows + Tile::kColumns - 1) / Tile::kColumns;
  const u64 tiles = matrices * down * across, numel = matrices * rows * columns;
  if (block_size() < Tile::kAlong || tiles * (Tile::kRows * Tile::kColumns) > 4 * numel) {
    transpose_by_elements(numel, rows, columns, src, dst);
    return;
  }
  KILN_SHARED(memory, TransposeTiles<B>);
  const bool by_words = (address_of(src) / sizeof(B) | rows | columns) % Tile::kSquare == 0;
  const u32 team = block_size() < kTeam ? block_size() : kTeam;
  const u32 teams = block_size() / team, mine = thread_index() / team;
  const u32 self = thread_index() - mine * team;
  const u32 most = most_blocks();
  const u32 blocks = block_count() < most ? block_count() : most;
#pragma unroll 1
  for (u64 first = static_cast<u64>(block_index()) * teams; first < tiles;
       first += static_cast<u64>(blocks) * teams) {
    const bool works = mine < teams && first + mine < tiles;
    TilePlace place{};
    if (works) {
      const u64 line = quotient(first + mine, across);
      const u64 matrix = quotient(line, down);
      const u64 row = (line - matrix * down) * Tile::kRows;
      const u64 column = (first + mine - line * across) * Tile::kColumns;
      const u64 start = matrix * rows * columns;
      place.inp = start + column * columns + row;
      place.out = start + row * rows + column;
      place.rows = static_cast<u32>(columns - row < Tile::kRows ? columns - row : Tile::kRows);
      place.columns =
          static_cast<u32>(rows - column < Tile::kColumns ? rows - column : Tile::kColumns);
      memory.of[mine].fill(src + place.inp, place, columns, by_words, self, team);
    }
    barrier();
    if (works) memory.of[mine].drain(dst + place.out, place, rows, self, team);
    barrier();
  }
}

}  // namespace kiln::families
