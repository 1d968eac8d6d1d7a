// How the elements of a tensor lie in memory: dims and strides.
//
// Strides count elements; 0 repeats an element (broadcast), and any order is allowed. The offset of
// a view is part of its address, not of its layout. The last dim is the fastest in row-major order.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "kiln/result.hpp"

namespace kiln::ops {

// The most dims that a layout may have.
inline constexpr std::size_t kMaxRank = 16;

// Up to kMaxRank numbers, one per dim. Holding more is remembered as a rank above kMaxRank, with
// the surplus dropped, so that the launch that uses it can refuse it by name.
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

// A shape and, unless the tensor is row-major contiguous, one stride per dim:
// Layout{{rows, columns}} or Layout{{rows, columns}, {1, rows}}.
struct Layout {
  Extents dims = {};     // none: a scalar
  Extents strides = {};  // empty: row-major contiguous
};

// The product of the dims. Errors (kInvalidInput) name the shape: more than kMaxRank dims, a stride
// list of another length, a dim of zero, a product above the address space.
Result<std::size_t> element_count(const Layout& layout);

// Whether row-major index i lies at offset i, ignoring dims of size 1; rank 0 is contiguous.
bool is_contiguous(const Layout& layout);

// The strides of the layout, spelt out when they were left empty.
Extents strides_of(const Layout& layout);

// "[2, 3, 4]", and "[2, 3, 4] with strides [1, 2, 6]" when strides are given.
std::string to_string(const Extents& extents);
std::string to_string(const Layout& layout);

}  // namespace kiln::ops
