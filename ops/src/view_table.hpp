// The table of views that kernels of the elementwise families may read in place of the ABI's block
// (kernels/tuning/views.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/ops/launch.hpp"
#include "operands.hpp"

namespace kiln::ops {

// Appends the table of `views` views to `layout`, which holds their block. A unit is `unit`
// elements of the innermost dim; more than one is a whole chunk. Returns the upper half of
// num_dims. Appends nothing and returns 0 if there is no room, or if a number of the table would
// need more than 32 bits.
std::uint32_t append_table(LayoutBlock& layout, const ViewBlock& block, std::size_t views,
                           std::size_t unit);

}  // namespace kiln::ops
