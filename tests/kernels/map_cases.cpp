#include "map_cases.hpp"

#include <algorithm>
#include <memory>

#include "values.hpp"

namespace kiln::conformance {
namespace {

std::string shape(const ops::Extents& dims) {
  std::string text;
  for (const std::size_t& dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

GridChoice grid_of(std::uint32_t blocks, std::uint32_t threads) {
  return {"grid=" + std::to_string(blocks) + "x" + std::to_string(threads), ops::Geometry::kOwn,
          blocks, threads};
}

// The strides of row-major `dims` after reordering: dim i of the view is dim order[i] of the
// tensor.
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
    list.back().name = name + "/" + shape(layout.dims);
    list.back().layout = layout;
    list.back().offset = offset;
  };
  for (const ops::Extents& dims :
       {ops::Extents{7, 3}, {31, 33}, {64, 64}, {65, 33}, {129, 257}, {300, 404}, {3, 1025}}) {
    add("transposed", permuted(dims, {1, 0}));
  }
  add("permuted", permuted({2, 3, 5, 7}, {3, 2, 1, 0}));
  add("permuted", permuted({3, 33, 4, 64}, {0, 2, 1, 3}));  // b t h d to b h t d
  add("permuted", permuted({5, 67, 129}, {0, 2, 1}));       // a batch of transposes
  add("permuted", permuted({17, 9, 40}, {1, 0, 2}));
  add("permuted", permuted({17, 9, 40}, {2, 0, 1}));
  add("broadcast-rows", {{33, 65}, {0, 1}});
  add("broadcast-columns", {{33, 65}, {1, 0}});
  add("broadcast-middle", {{4, 33, 16}, {16, 0, 1}});
  add("broadcast-all", {{1025}, {0}});
  add("narrowed-columns", {{33, 48}, {100, 1}}, 3);
  add("narrowed-columns", {{9, 65}, {67, 1}}, 1);
  add("narrowed-columns", {{20, 256}, {512, 1}}, 256);
  add("narrowed-middle", {{3, 5, 64}, {1024, 64, 1}}, 128);
  add("stepped", {{1023}, {2}});
  add("stepped", {{31, 17}, {102, 3}}, 5);
  add("windows", {{60, 7}, {1, 1}});  // each row starts one element after the last
  add("ones", {{1, 65, 1, 33, 1}, {7, 1, 9, 65, 5}});
  add("eight-dims", permuted({2, 3, 2, 3, 2, 3, 2, 3}, {7, 1, 5, 3, 4, 2, 6, 0}));
  return list;
}

}  // namespace

void GridChoice::apply(ops::Launch& launch) const {
  if (blocks != 0) launch.grid = {blocks, 1, 1};
  if (threads != 0) launch.block = {threads, 1, 1};
}

const GridChoice& own_grid() {
  static const GridChoice grid{"own", ops::Geometry::kOwn, 0, 0};
  return grid;
}

const GridChoice& reference_grid() {
  static const GridChoice grid{"reference", ops::Geometry::kReference, 0, 0};
  return grid;
}

std::size_t GridChoice::work(std::size_t elements) const {
  return std::max(elements, std::size_t{blocks} * threads);
}

const std::vector<GridChoice>& all_grids() {
  static const std::vector<GridChoice> grids = {
      own_grid(),     reference_grid(), grid_of(1, 1),    grid_of(1, 32),
      grid_of(3, 64), grid_of(5, 100),  grid_of(7, 1024), grid_of(1000, 128)};
  return grids;
}

const std::vector<NamedLayout>& strided_layouts() {
  static const std::vector<NamedLayout> list = make_strided_layouts();
  return list;
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
      made.back().name = "passed-layout/" + shape(layout.dims);
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

std::size_t offset_of(const ops::Layout& layout, std::size_t i) {
  if (layout.strides.empty()) return i;
  std::size_t offset = 0;
  for (std::size_t d = layout.dims.rank(); d-- > 0;) {
    offset += i % layout.dims[d] * layout.strides[d];
    i /= layout.dims[d];
  }
  return offset;
}

void pass_layout(ops::Launch& launch, const ops::Layout& layout) {
  const ops::Extents strides = ops::strides_of(layout);
  launch.layout.assign(layout.dims.begin(), layout.dims.end());
  launch.layout.insert(launch.layout.end(), strides.begin(), strides.end());
  // A scalar has no dims; its block must not be null, so that the kernel has to look at the rank.
  if (launch.layout.empty()) launch.layout = {0};
}

std::vector<MapVariant> map_variants(std::size_t element_bytes) {
  std::vector<MapVariant> list;
  const auto add = [&list](const NamedLayout& view, const GridChoice& grid,
                           const std::string& detail = "") -> MapVariant& {
    MapVariant variant;
    variant.name = view.name + detail + "/" + grid.name;
    variant.view = view;
    variant.grid = grid;
    list.push_back(std::move(variant));
    return list.back();
  };

  if (element_bytes <= 2) {
    NamedLayout all;
    all.name = "all-values";
    all.layout = {{std::size_t{1} << (8 * element_bytes)}};
    add(all, own_grid()).values = ValueSet::kAll;
    // One element a thread, and no wide access: the values take that path too.
    MapVariant& narrow = add(all, reference_grid());
    narrow.values = ValueSet::kAll;
    narrow.inp_misalignment = 1;
  }
  // What large sizes bring is more work a thread, and our geometry gives it to them.
  constexpr std::size_t kLarge = 10000;
  for (const std::size_t count : contiguous_counts()) {
    add(contiguous(count), own_grid());
    if (count < kLarge) add(contiguous(count), reference_grid());
  }
  for (const NamedLayout& view : strided_layouts()) {
    add(view, own_grid());
    if (count_of(view.layout) < kLarge) add(view, reference_grid());
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks == 0) continue;
    add(contiguous(4097), grid);
    MapVariant& unaligned = add(contiguous(1031), grid, "/unaligned");
    unaligned.inp_misalignment = unaligned.out_misalignment = 1;
    for (const NamedLayout& view : strided_layouts()) {
      if (view.name == "transposed/33x65" || view.name == "permuted/7x5x3x2" ||
          view.name == "narrowed-columns/33x48") {
        add(view, grid);
      }
    }
  }
  static constexpr std::size_t kMisalignments[][2] = {{1, 0}, {0, 1}, {1, 1}, {3, 5}, {8, 4}};
  for (const auto& [inp, out] : kMisalignments) {
    const std::string detail = "/offset=" + std::to_string(inp) + "+" + std::to_string(out);
    const auto add_misaligned = [&, inp = inp, out = out](const NamedLayout& view,
                                                          const GridChoice& grid) {
      MapVariant& variant = add(view, grid, detail);
      variant.inp_misalignment = inp;
      variant.out_misalignment = out;
    };
    for (const std::size_t count : {std::size_t{5}, std::size_t{1025}, std::size_t{4099}}) {
      add_misaligned(contiguous(count), own_grid());
    }
    add_misaligned(contiguous(1025), reference_grid());
    add_misaligned(strided_layouts()[3], own_grid());
  }
  for (const GridChoice& grid : {own_grid(), reference_grid()}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{1025}, std::size_t{4099}}) {
      add(contiguous(count), grid, "/in-place").alias = Alias::kSame;
      add(contiguous(count), grid, "/null-inp").alias = Alias::kNullInp;
      MapVariant& unaligned = add(contiguous(count), grid, "/null-inp-offset=1");
      unaligned.alias = Alias::kNullInp;
      unaligned.out_misalignment = 1;
    }
    for (const NamedLayout& view : passed_layouts()) add(view, grid);
  }
  for (const NamedLayout& view : {contiguous(33), strided_layouts()[0]}) {
    add(view, grid_of(2, 64), "/empty").empty = true;
  }
  return list;
}

Case map_case(std::string name, const MapVariant& variant, const MapKernel& kernel,
              const Seed& seed) {
  Random random(seed.own);
  const NamedLayout& view = variant.view;
  const std::size_t count = count_of(view.layout);
  auto inp = std::make_shared<std::vector<std::byte>>(
      variant.values == ValueSet::kAll
          ? all_values(kernel.inp_dtype)
          : mixed_values(kernel.inp_dtype, view.offset + extent_of(view.layout), seed));

  Case made;
  made.name = std::move(name);
  Operand out;
  out.name = "out";
  out.dtype = kernel.out_dtype;
  out.misalignment = variant.out_misalignment;
  out.content = variant.alias == Alias::kNone ? poison(count * size_of(out.dtype), random) : *inp;
  if (variant.empty) {
    out.expected = [before = out.content, dtype = out.dtype](std::size_t i) {
      return Expected::exactly(load(dtype, before.data() + i * size_of(dtype)));
    };
  } else {
    out.expected = [inp, view, dtype = kernel.inp_dtype,
                    reference = kernel.reference](std::size_t i) {
      const std::size_t at = view.offset + offset_of(view.layout, i);
      return reference(load(dtype, inp->data() + at * size_of(dtype)));
    };
  }
  if (variant.alias == Alias::kNone) {
    Operand read;
    read.name = "inp";
    read.dtype = kernel.inp_dtype;
    read.content = *inp;
    read.misalignment = variant.inp_misalignment;
    made.operands.push_back(std::move(read));
  }
  made.operands.push_back(std::move(out));
  made.plan = [variant, plan = kernel.plan, dtype = kernel.inp_dtype](
                  const std::vector<void*>& addresses) -> Result<ops::Launch> {
    const void* inp_address = nullptr;
    if (variant.alias == Alias::kSame) inp_address = addresses[0];
    if (variant.alias == Alias::kNone) {
      inp_address =
          static_cast<const std::byte*>(addresses[0]) + variant.view.offset * size_of(dtype);
    }
    Result<ops::Launch> launch =
        plan(variant.view.layout, inp_address, addresses.back(), variant.grid.geometry);
    if (!launch) return launch;
    variant.grid.apply(*launch);
    if (variant.empty) launch->arguments[0] = ops::Argument::of(std::size_t{0});
    if (variant.view.always_passed) pass_layout(*launch, variant.view.layout);
    return launch;
  };
  return made;
}

}  // namespace kiln::conformance
