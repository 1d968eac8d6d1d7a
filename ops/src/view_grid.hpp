// kiln's own grids for views that are not contiguous. A grid depends on how a kernel of the
// elementwise families reads the views (kernels/families/map.cuh, copy.cuh, elementwise.cuh,
// elements.cuh).
#pragma once

#include <cstddef>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "operands.hpp"
#include "own_kernels.hpp"

namespace kiln::ops {

enum class Reads {
  kSingly,  // by whole chunks, or element by element: casts
  kChosen,  // by whole chunks, or element by element: where
  kGroups,  // by whole chunks or by groups: functions of one operand
  kRows,    // by whole chunks or groups: functions of two operands
  kCopied   // by whole chunks or tiles: copies
};

// Sets the launch's grid for `count` elements of `views` views, and may append a table of them to
// its layout block (view_table.hpp). launch.own_kernel must be set. `aligned`: all arrays begin
// where wide accesses may. Returns what to pass for num_dims: the rank, and with a table the upper
// half.
Result<std::size_t> set_view_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                                  std::size_t count, const ViewBlock& block, std::size_t views,
                                  Reads reads, bool aligned);

// True if a cast moves the rows of a view, which has dims, by whole chunks.
bool casts_by_rows(const OwnKernel& own, const Gpu& gpu, const ViewBlock& block, bool aligned);

}  // namespace kiln::ops
