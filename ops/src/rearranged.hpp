// Copies of views that are a whole transpose or slice: by the kernels of module rearrange, whose code
// knows what it copies, in place of ucopy's, which finds each element's place by division.
#pragma once

#include <optional>

#include "kiln/ops/unary.hpp"
#include "operands.hpp"

namespace kiln::ops {

// The launch for a copy of a view of merged dims; none where it is neither, or ucopy is as fast.
Result<std::optional<Launch>> plan_rearranged(const Unary& copy, const ViewBlock& view,
                                              std::size_t count, const Gpu& gpu);

}  // namespace kiln::ops
