// The memory layouts of the data of a case and the grids that walk over it. All families share
// these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/ops/layout.hpp"

namespace kiln::conformance {

// Returns the GPU to plan for: the device, or one like it with so many multiprocessors, if not 0. A
// small GPU gets few threads, each of which does much.
inline ops::Gpu gpu_of(std::uint32_t multiprocessors, ops::Gpu device = {}) {
  if (multiprocessors != 0) device.multiprocessors = multiprocessors;
  return device;
}

// The grid of a launch: a geometry of the launch helpers, or a size chosen by the test.
struct GridChoice {
  // "own", "reference", "grid=3x64" of blocks x threads, or "grid=3x2x64" with two rows of blocks.
  std::string name;
  ops::Geometry geometry = ops::Geometry::kOwn;
  std::uint32_t blocks = 0, threads = 0;  // 0: chosen by the geometry
  std::uint32_t rows = 1;                 // of blocks, along y
  std::uint32_t multiprocessors = 0;      // of the GPU that is planned for; 0: the device's

  bool is_own() const { return geometry == ops::Geometry::kOwn && blocks == 0; }
  ops::Gpu gpu(const ops::Gpu& device = {}) const { return gpu_of(multiprocessors, device); }
  void apply(ops::Launch& launch) const;
  // Returns the cost of a launch over `elements`. Idle threads count as well.
  std::size_t work(std::size_t elements) const;
};
const std::vector<GridChoice>& all_grids();
GridChoice grid_of(std::uint32_t blocks, std::uint32_t threads, std::uint32_t rows = 1);
const GridChoice& own_grid();
GridChoice own_grid_of(std::uint32_t multiprocessors);  // "own-of-4"
const GridChoice& reference_grid();

// A shape with strides, as a view into a larger tensor.
struct NamedLayout {
  std::string name;  // "transposed/33x65"
  ops::Layout layout;
  std::size_t offset = 0;      // elements from the start of the operand to the view
  bool always_passed = false;  // pass the layout block even if the view is contiguous
};
// Returns transposed, permuted, broadcast, narrowed and stepped views, for all kernels that read or
// write a strided view.
const std::vector<NamedLayout>& strided_layouts();
const NamedLayout& strided_layout(std::string_view name);
// Returns contiguous views that are passed with a layout block, so that the kernel must find out
// that they are contiguous.
const std::vector<NamedLayout>& passed_layouts();
const std::vector<std::size_t>& contiguous_counts();
NamedLayout contiguous(std::size_t count);
std::string shape_name(const ops::Extents& dims);  // "33x65", "scalar"

std::size_t count_of(const ops::Layout& layout);
std::size_t extent_of(const ops::Layout& layout);  // elements from the first to the farthest
// Returns the offsets of the elements, in row-major order.
std::vector<std::size_t> offsets_of(const ops::Layout& layout);

// Passes the layout block of views with the same dims, whether or not they are contiguous, and the
// rank, which is the argument before the block.
void pass_layout(ops::Launch& launch, const std::vector<ops::Layout>& views);

}  // namespace kiln::conformance
