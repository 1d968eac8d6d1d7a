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
// Elements of tiles for each that exists, beyond which they move one by one.
inline constexpr unsigned kMostEmptyTile = 4;

}  // namespace kiln::tuning
