// The cases of an element-wise kernel: every way to lay out its input, to align its pointers, to
// alias them, and to choose its grid.
//
// Shared by the families whose kernels read one strided operand and write a contiguous one of the
// same element count. What the kernel computes is not known here.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "case.hpp"
#include "kiln/ops/layout.hpp"

namespace kiln::conformance {

// The grid of a launch: a geometry of the launch helpers, or a size of the test's own.
struct GridChoice {
  std::string name;  // "own", "reference", "grid=3x64": blocks x threads
  ops::Geometry geometry = ops::Geometry::kOwn;
  std::uint32_t blocks = 0, threads = 0;  // 0: as the geometry says

  void apply(ops::Launch& launch) const;
  // What a launch over `elements` costs: idle threads take their time, too.
  std::size_t work(std::size_t elements) const;
};
const std::vector<GridChoice>& all_grids();
const GridChoice& own_grid();
const GridChoice& reference_grid();

// A shape with strides, as a view into a larger tensor.
struct NamedLayout {
  std::string name;  // "transposed/33x65"
  ops::Layout layout;
  std::size_t offset = 0;      // elements from the start of the operand to the view
  bool always_passed = false;  // pass the layout block though the view is contiguous
};
// Transposed, permuted, broadcast, narrowed, stepped: for all that read or write a strided view.
const std::vector<NamedLayout>& strided_layouts();
// Contiguous, with a layout block all the same: the kernel has to find out.
const std::vector<NamedLayout>& passed_layouts();
const std::vector<std::size_t>& contiguous_counts();
NamedLayout contiguous(std::size_t count);

std::size_t count_of(const ops::Layout& layout);
std::size_t extent_of(const ops::Layout& layout);  // elements from the first to the furthest
// Where element i, in row-major order, lies.
std::size_t offset_of(const ops::Layout& layout, std::size_t i);

enum class Alias : std::uint8_t {
  kNone,     // inp and out are apart
  kSame,     // inp == out
  kNullInp,  // inp is null: in place
};
enum class ValueSet : std::uint8_t { kMixed, kAll };

struct MapVariant {
  std::string name;
  NamedLayout view;
  std::size_t inp_misalignment = 0, out_misalignment = 0;
  Alias alias = Alias::kNone;
  GridChoice grid;
  ValueSet values = ValueSet::kMixed;
  bool empty = false;  // the kernel is told that there are no elements, and writes none
};
// `element_bytes` of the input: the small ones also meet all their values.
std::vector<MapVariant> map_variants(std::size_t element_bytes);

// A kernel takes the element count as its first argument.
struct MapKernel {
  DType inp_dtype, out_dtype;
  std::function<Result<ops::Launch>(const ops::Layout&, const void* inp, void* out, ops::Geometry)>
      plan;
  std::function<Expected(Bits inp)> reference;
};
Case map_case(std::string name, const MapVariant& variant, const MapKernel& kernel,
              const Seed& seed);

// The layout block of a view whether or not it is contiguous.
void pass_layout(ops::Launch& launch, const ops::Layout& layout);

}  // namespace kiln::conformance
