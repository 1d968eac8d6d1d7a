// The table of views that kernels of the elementwise families may read in place of the ABI's block
// (kernels/tuning/views.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/ops/launch.hpp"
#include "operands.hpp"

namespace kiln::ops {

// The units of a table.
struct TableUnits {
  static constexpr std::size_t kUncut = ~std::size_t{0};

  std::size_t elements = 1;  // of a unit
  // The dim in which the elements are neighbours; the innermost, in whole chunks, unless there are
  // groups.
  std::size_t cut = kUncut;
};

// Appends the table of `views` views to `layout`, which holds their block. Returns the upper half of
// num_dims. Appends nothing and returns 0 if there is no room, or if a number of the table would
// need more than 32 bits.
std::uint32_t append_table(LayoutBlock& layout, const ViewBlock& block, std::size_t views,
                           const TableUnits& units);

}  // namespace kiln::ops
