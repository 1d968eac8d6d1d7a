// Where a view's elements lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// Returns the place of an element, counted in row-major order, in elements from the view's first.
inline std::uint64_t place_in(const Layout& layout, std::uint64_t element) {
  std::uint64_t place = 0;
  for (std::size_t dim = layout.dims.rank(); dim-- != 0;) {
    place += element % layout.dims[dim] * layout.strides[dim];
    element /= layout.dims[dim];
  }
  return place;
}

}  // namespace kiln::ops
