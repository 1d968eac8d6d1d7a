#include "views.hpp"

#include <algorithm>
#include <stdexcept>

namespace kiln::conformance {
namespace {

// Returns row-major `dims` reordered: dim i of the view is dim order[i] of the tensor.
ops::Layout permuted(const ops::Extents& dims, std::initializer_list<std::size_t> order) {
  const ops::Extents strides = ops::strides_of({dims});
  ops::Layout view{dims, strides};
  std::size_t i = 0;
  for (const std::size_t from : order) {
    view.dims[i] = dims[from];
    view.strides[i] = strides[from];
    ++i;
  }
  return view;
}

std::vector<NamedLayout> make_strided_layouts() {
  std::vector<NamedLayout> list;
  const auto add = [&](const std::string& name, const ops::Layout& layout, std::size_t offset = 0) {
    list.emplace_back();
    list.back().name = name + "/" + shape_name(layout.dims);
    list.back().layout = layout;
    list.back().offset = offset;
  };
  for (const ops::Extents& dims :
       {ops::Extents{7, 3}, {31, 33}, {64, 64}, {65, 33}, {129, 257}, {300, 404}, {3, 1025}}) {
    add("transposed", permuted(dims, {1, 0}));
  }
  add("transposed", permuted({1100, 701}, {1, 0}));  // more tiles than a GPU has multiprocessors
  add("transposed", permuted({1104, 704}, {1, 0}));  // the same, with whole and aligned chunks
  add("transposed", permuted({320, 160}, {1, 0}));
  add("permuted", permuted({2, 3, 5, 7}, {3, 2, 1, 0}));
  add("permuted", permuted({3, 33, 4, 64}, {0, 2, 1, 3}));  // b t h d to b h t d
  add("permuted", permuted({5, 67, 129}, {0, 2, 1}));       // a batch of transposes
  add("permuted", permuted({17, 9, 40}, {1, 0, 2}));
  add("permuted", permuted({17, 9, 40}, {2, 0, 1}));
  add("broadcast-rows", {{33, 65}, {0, 1}});
  add("broadcast-columns", {{33, 65}, {1, 0}});
  add("broadcast-columns", {{64, 80}, {16, 0}});  // the stride between rows is of whole chunks
  add("broadcast-middle", {{4, 33, 16}, {16, 0, 1}});
  add("broadcast-all", {{1025}, {0}});
  add("narrowed-columns", {{33, 48}, {100, 1}}, 3);
  add("narrowed-columns", {{9, 65}, {67, 1}}, 1);
  add("narrowed-columns", {{20, 256}, {512, 1}}, 256);
  add("narrowed-middle", {{3, 5, 64}, {1024, 64, 1}}, 128);
  add("stepped", {{1023}, {2}});
  add("stepped", {{31, 17}, {102, 3}}, 5);
  add("stepped", {{64, 80}, {1280, 16}});  // all strides are of whole chunks
  add("windows", {{60, 7}, {1, 1}});       // each row starts one element after the previous one
  add("windows", {{60, 64}, {1, 1}});      // the same, of whole chunks, which are not aligned
  add("ones", {{1, 65, 1, 33, 1}, {7, 1, 9, 65, 5}});
  add("eight-dims", permuted({2, 3, 2, 3, 2, 3, 2, 3}, {7, 1, 5, 3, 4, 2, 6, 0}));
  return list;
}

}  // namespace

std::string shape_name(const ops::Extents& dims) {
  std::string text;
  for (const std::size_t& dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

GridChoice grid_of(std::uint32_t blocks, std::uint32_t threads, std::uint32_t rows) {
  std::string name = "grid=" + std::to_string(blocks) + "x";
  if (rows != 1) name += std::to_string(rows) + "x";
  return {name + std::to_string(threads), ops::Geometry::kOwn, blocks, threads, rows, 0};
}

void GridChoice::apply(ops::Launch& launch) const {
  if (blocks != 0) launch.grid = {blocks, rows, 1};
  if (threads != 0) launch.block = {threads, 1, 1};
}

const GridChoice& own_grid() {
  static const GridChoice grid{"own", ops::Geometry::kOwn, 0, 0, 1, 0};
  return grid;
}

GridChoice own_grid_of(std::uint32_t multiprocessors) {
  GridChoice own = own_grid();
  own.multiprocessors = multiprocessors;
  own.name += "-of-" + std::to_string(multiprocessors);
  return own;
}

const GridChoice& reference_grid() {
  static const GridChoice grid{"reference", ops::Geometry::kReference, 0, 0, 1, 0};
  return grid;
}

std::size_t GridChoice::work(std::size_t elements) const {
  return std::max(elements, std::size_t{blocks} * rows * threads);
}

const std::vector<GridChoice>& all_grids() {
  static const std::vector<GridChoice> grids = {
      own_grid(),      reference_grid(), grid_of(1, 1),      grid_of(1, 32),   grid_of(3, 64),
      grid_of(5, 100), grid_of(7, 1024), grid_of(1000, 128), grid_of(1000, 32)};
  return grids;
}

const std::vector<NamedLayout>& strided_layouts() {
  static const std::vector<NamedLayout> list = make_strided_layouts();
  return list;
}

const NamedLayout& strided_layout(std::string_view name) {
  for (const NamedLayout& each : strided_layouts()) {
    if (each.name == name) return each;
  }
  throw std::logic_error("no strided layout " + std::string(name));
}

const std::vector<std::size_t>& contiguous_counts() {
  static const std::vector<std::size_t> counts = {
      1, 2, 7, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4097, 8193, 100003};
  return counts;
}

const std::vector<NamedLayout>& passed_layouts() {
  static const std::vector<NamedLayout> list = [] {
    std::vector<NamedLayout> made;
    for (const ops::Layout& layout :
         {ops::Layout{{33, 65}}, ops::Layout{{1, 1025}, {4, 1}}, ops::Layout{{7, 1, 9}, {9, 77, 1}},
          ops::Layout{{1}, {3}}, ops::Layout{}}) {
      made.emplace_back();
      made.back().name = "passed-layout/" + shape_name(layout.dims);
      made.back().layout = layout;
      made.back().always_passed = true;
    }
    return made;
  }();
  return list;
}

NamedLayout contiguous(std::size_t count) {
  NamedLayout view;
  view.name = "contiguous/n=" + std::to_string(count);
  view.layout = {{count}};
  return view;
}

std::size_t count_of(const ops::Layout& layout) {
  std::size_t count = 1;
  for (const std::size_t dim : layout.dims) count *= dim;
  return count;
}

std::size_t extent_of(const ops::Layout& layout) {
  const ops::Extents strides = ops::strides_of(layout);
  std::size_t furthest = 0;
  for (std::size_t d = 0; d < layout.dims.rank(); ++d) {
    furthest += (layout.dims[d] - 1) * strides[d];
  }
  return furthest + 1;
}

std::vector<std::size_t> offsets_of(const ops::Layout& layout) {
  const ops::Extents strides = ops::strides_of(layout);
  const std::size_t rank = layout.dims.rank();
  std::vector<std::size_t> offsets(count_of(layout));
  ops::Extents position = layout.dims;
  for (std::size_t d = 0; d < rank; ++d) position[d] = 0;
  std::size_t at = 0;
  for (std::size_t& offset : offsets) {
    offset = at;
    for (std::size_t d = rank; d-- > 0;) {
      at += strides[d];
      if (++position[d] < layout.dims[d]) break;
      at -= layout.dims[d] * strides[d];
      position[d] = 0;
    }
  }
  return offsets;
}

void pass_layout(ops::Launch& launch, const std::vector<ops::Layout>& views) {
  launch.arguments[launch.layout_argument - 1] = ops::Argument::of(views.front().dims.rank());
  launch.layout.assign(views.front().dims.begin(), views.front().dims.end());
  for (const ops::Layout& view : views) {
    const ops::Extents strides = ops::strides_of(view);
    launch.layout.append(strides.begin(), strides.end());
  }
  // A scalar has no dims. Its block must not be null, so that the kernel has to check the rank.
  if (launch.layout.empty()) launch.layout = {0};
}

}  // namespace kiln::conformance
