// How matrices are transposed. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Bytes of one access for elements of `element` bytes. A square of elements fits into registers.
constexpr unsigned unit_of_transpose(unsigned element) { return element < 4 ? 8 : 16; }
// Number of squares along each side of a tile. A thread takes one square.
inline constexpr unsigned kSquaresOfTile = 16;
inline constexpr unsigned kTransposeThreads = kSquaresOfTile * kSquaresOfTile;
constexpr unsigned side_of_transpose(unsigned element) {
  return kSquaresOfTile * unit_of_transpose(element) / element;
}
// Number of blocks that share a multiprocessor. Two-byte elements have the smallest tiles.
// Measured on an H200, two-byte elements, in us, 6 blocks -> 8: 16384x8192 155 -> 138; 64x1024x1024
// 75 -> 68.
constexpr unsigned blocks_of_transpose(unsigned element) { return element == 2 ? 8 : 6; }
// If the tiles have room for more than kMaxEmptyTile times the number of elements, elements are
// moved one by one.
inline constexpr unsigned kMaxEmptyTile = 4;

}  // namespace kiln::tuning
