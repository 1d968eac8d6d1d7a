// Our own grids for views that are not contiguous: by what a kernel of the elementwise families does
// with them (kernels/families/map.cuh, copy.cuh, elementwise.cuh, elements.cuh).
#pragma once

#include <cstddef>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "operands.hpp"

namespace kiln::ops {

enum class Reads {
  kSingly,  // where, casts
  kGroups,  // functions of one operand
  kRows,    // of two: by whole chunks, too
  kCopied   // the same, and tile by tile
};

// Sets the launch's grid for `count` elements of so many views; launch.own_kernel is set.
Result<void> set_view_grid(Launch& launch, const Gpu& gpu, Geometry geometry, std::size_t count,
                           const ViewBlock& block, std::size_t views, Reads reads);

}  // namespace kiln::ops
