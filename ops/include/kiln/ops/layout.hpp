// How the elements of a tensor lie in memory: dims and strides.
//
// Strides are numbers of elements. They may be in any order, and 0 repeats an element (broadcast).
// The offset of a view is part of its address, not of its layout. In row-major order, the last dim
// varies fastest.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "kiln/result.hpp"

namespace kiln::ops {

// The largest rank of a layout.
inline constexpr std::size_t kMaxRank = 16;

// Up to kMaxRank numbers, one per dim. Given more, it drops the surplus but keeps the rank, so that
// the launch that uses it can report the error.
class Extents {
 public:
  constexpr Extents() = default;
  constexpr Extents(std::initializer_list<std::size_t> values)
      : Extents(values.begin(), values.size()) {}
  constexpr Extents(const std::size_t* values, std::size_t count) : rank_(count) {
    for (std::size_t i = 0; i < count && i < kMaxRank; ++i) values_[i] = values[i];
  }

  constexpr std::size_t rank() const { return rank_; }
  constexpr bool empty() const { return rank_ == 0; }
  constexpr std::size_t operator[](std::size_t i) const { return values_[i]; }
  constexpr std::size_t& operator[](std::size_t i) { return values_[i]; }
  constexpr const std::size_t* begin() const { return values_.data(); }
  constexpr const std::size_t* end() const {
    return values_.data() + (rank_ < kMaxRank ? rank_ : kMaxRank);
  }

 private:
  std::array<std::size_t, kMaxRank> values_{};
  std::size_t rank_ = 0;
};

// A shape, with one stride per dim unless the tensor is row-major contiguous:
// Layout{{rows, columns}} or Layout{{rows, columns}, {1, rows}}.
struct Layout {
  Extents dims = {};     // none: a scalar
  Extents strides = {};  // empty: row-major contiguous
};

// The most elements of a tensor, and the largest offset of an element. No device addresses more, and
// the sizes that plans compute from so many fit into 64 bits.
inline constexpr std::size_t kMaxElements = std::size_t{1} << 48;

// Returns the product of the dims. Errors (kInvalidInput) name the shape: more than kMaxRank dims,
// a number of strides other than the rank, a dim of zero, elements or offsets beyond kMaxElements.
Result<std::size_t> element_count(const Layout& layout);

// True if the elements are contiguous in row-major order. Dims of size 1 do not count, and a layout
// of rank 0 is contiguous.
bool is_contiguous(const Layout& layout);

// Returns the strides of the layout, computed from the dims if they were left empty.
Extents strides_of(const Layout& layout);

// Return "[2, 3, 4]", or "[2, 3, 4] with strides [1, 2, 6]" if strides are given.
std::string to_string(const Extents& extents);
std::string to_string(const Layout& layout);

}  // namespace kiln::ops
