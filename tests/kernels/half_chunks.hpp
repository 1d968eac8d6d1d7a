// Vectors of f16 in the layout that half_matrix reads, implemented from its description in
// kernels/tuning/half_products.hpp.
#pragma once

#include <cstddef>

namespace kiln::conformance {

struct HalfChunks {
  static constexpr std::size_t kVectors = 128, kColumns = 64, kStep = 256, kPiece = 8;
  std::size_t columns;  // including padding after the last column

  explicit HalfChunks(std::size_t count) : columns((count + kStep - 1) / kStep * kStep) {}

  std::size_t values(std::size_t vectors) const {
    return (vectors + kVectors - 1) / kVectors * kVectors * columns;
  }
  std::size_t place(std::size_t vector, std::size_t column) const {
    const std::size_t chunk = vector / kVectors * (columns / kColumns) + column / kColumns;
    const std::size_t pair = column % 16 / 2;
    const std::size_t piece = (column % kColumns / 16 * 2 + pair % 2) ^ vector % 8;
    return (chunk * kVectors + vector % kVectors) * kColumns + piece * kPiece + pair / 2 * 2 +
           column % 2;
  }
};

}  // namespace kiln::conformance
