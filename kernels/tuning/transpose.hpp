// How matrices are transposed. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Bytes of one access, for elements of so many bytes: the elements of a square fit into registers.
constexpr unsigned unit_of_transpose(unsigned element) { return element < 4 ? 8 : 16; }
// A tile has so many squares along each side; a thread takes one.
inline constexpr unsigned kSquaresOfTile = 16;
inline constexpr unsigned kTransposeThreads = kSquaresOfTile * kSquaresOfTile;
constexpr unsigned side_of_transpose(unsigned element) {
  return kSquaresOfTile * unit_of_transpose(element) / element;
}
// Blocks that share a multiprocessor. Of two bytes, tiles are smallest: NVIDIA H200, us for 16384x8192 and
// 64x1024x1024, with 6 and with 8: 155, 138; 75, 68.
constexpr unsigned blocks_of_transpose(unsigned element) { return element == 2 ? 8 : 6; }
// Elements of tiles for each that exists, beyond which they move one by one.
inline constexpr unsigned kMostEmptyTile = 4;

}  // namespace kiln::tuning
