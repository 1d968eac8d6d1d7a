#include "elementwise.hpp"

#include <algorithm>
#include <memory>

#include "values.hpp"

namespace kiln::conformance {
namespace {

// Sizes from here on count as large. They give each thread more work, in kiln's own geometry.
constexpr std::size_t kLarge = 10000;

class VariantList {
 public:
  explicit VariantList(const ElementwiseKernel& kernel) : inputs_(kernel.inputs.size()) {}

  // Adds the same view for every input.
  Variant& add(const NamedLayout& view, const GridChoice& grid, const std::string& detail = "") {
    return add_tuple(view.name, std::vector<NamedLayout>(inputs_, view), grid, detail);
  }
  Variant& add_tuple(const std::string& name, std::vector<NamedLayout> views,
                     const GridChoice& grid, const std::string& detail = "") {
    Variant variant;
    variant.name = name + detail + "/" + grid.name;
    variant.views = std::move(views);
    variant.grid = grid;
    list.push_back(std::move(variant));
    return list.back();
  }
  // Places input i `inputs` + i elements past an aligned address.
  void add_misaligned(const NamedLayout& view, const GridChoice& grid, std::size_t inputs,
                      std::size_t out) {
    add(view, grid, "/offset=" + std::to_string(inputs) + "+" + std::to_string(out)).misalignments =
        offsets(inputs, out);
  }
  std::vector<std::size_t> offsets(std::size_t inputs, std::size_t out) const {
    std::vector<std::size_t> each(inputs_, inputs);
    for (std::size_t i = 0; i < inputs_; ++i) each[i] += i;
    each.push_back(out);
    return each;
  }

  std::vector<Variant> list;

 private:
  std::size_t inputs_;
};

// The views of 33 rows and 65 columns that are combined for several inputs.
const std::vector<NamedLayout>& combined_views() {
  static const std::vector<NamedLayout> views = [] {
    const auto view = [](const char* name, ops::Extents strides, std::size_t offset = 0) {
      NamedLayout made;
      made.name = name;
      made.layout = {{33, 65}, strides};
      made.offset = offset;
      return made;
    };
    return std::vector<NamedLayout>{view("contiguous", {65, 1}), view("transposed", {1, 33}),
                                    view("row", {0, 1}),         view("column", {1, 0}),
                                    view("scalar", {0, 0}),      view("narrowed", {100, 1}, 3)};
  }();
  return views;
}

// Adds each pair of views for the first two inputs. A third input takes the views in turn.
void add_combined(const ElementwiseKernel& kernel, Breadth breadth, VariantList& variants) {
  const std::vector<NamedLayout>& views = combined_views();
  // The pairs for a handful: each view once on each side, and a row with a column.
  static constexpr std::size_t kFew[][2] = {{0, 2}, {2, 3}, {1, 0}, {5, 1}, {4, 5}, {3, 4}, {1, 1}};
  const auto add = [&](std::size_t a, std::size_t b, const GridChoice& grid) {
    std::vector<NamedLayout> tuple = {views[a], views[b]};
    if (kernel.inputs.size() > 2) tuple.push_back(views[(a + b + 1) % views.size()]);
    std::string name = tuple[0].name;
    for (std::size_t i = 1; i < tuple.size(); ++i) name += "+" + tuple[i].name;
    variants.add_tuple(name + "/33x65", tuple, grid);
  };
  if (breadth == Breadth::kHandful) {
    for (const auto& [a, b] : kFew) add(a, b, own_grid());
    add(1, 2, reference_grid());
    return;
  }
  for (std::size_t a = 0; a < views.size(); ++a) {
    for (std::size_t b = 0; b < views.size(); ++b) {
      if (a == 0 && b == 0 && kernel.inputs.size() == 2) continue;  // contiguous, covered elsewhere
      add(a, b, own_grid());
      add(a, b, reference_grid());
    }
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks != 0) add(1, 2, grid);
    if (grid.blocks != 0) add(0, 4, grid);
  }
}

void add_all_values(const ElementwiseKernel& kernel, VariantList& variants) {
  const std::size_t bytes = size_of(kernel.inputs[0]);
  if (bytes > 2) return;
  const bool pairs = bytes == 1 && kernel.inputs.size() > 1 && size_of(kernel.inputs[1]) == 1;
  NamedLayout all = contiguous(pairs ? 65536 : std::size_t{1} << (8 * bytes));
  all.name = "all-values";
  variants.add(all, own_grid()).values = ValueSet::kAll;
  // One element a thread, without wide accesses: all values also go through this path.
  Variant& narrow = variants.add(all, reference_grid());
  narrow.values = ValueSet::kAll;
  narrow.misalignments = variants.offsets(1, 0);
}

void add_empty(const NamedLayout& view, VariantList& variants) {
  variants.add(view, grid_of(2, 64), "/empty").empty = true;
}

void add_in_place(std::size_t count, const GridChoice& grid, VariantList& variants) {
  variants.add(contiguous(count), grid, "/in-place").alias = Alias::kSame;
  variants.add(contiguous(count), grid, "/null-inp").alias = Alias::kNullInp;
  Variant& unaligned = variants.add(contiguous(count), grid, "/null-inp-offset=1");
  unaligned.alias = Alias::kNullInp;
  unaligned.misalignments = {0, 1};
}

// Adds rows of blocks, as large launches of the helpers have. In place, an element that two threads
// compute is wrong.
void add_rows_of_blocks(const ElementwiseKernel& kernel, VariantList& variants) {
  if (!kernel.takes_rows_of_blocks) return;
  variants.add(contiguous(5003), grid_of(3, 64, 5));
  variants.add(contiguous(5003), grid_of(3, 64, 5), "/in-place").alias = Alias::kSame;
}

// Adds launches with a thread for each chunk, as medium ones of the helpers have, with and without
// elements behind the last chunk.
void add_chunk_each(const ElementwiseKernel& kernel, VariantList& variants) {
  constexpr std::uint32_t kThreads = 64;
  std::size_t widest = size_of(kernel.output);
  for (const DType input : kernel.inputs) widest = std::max(widest, size_of(input));
  const std::size_t per_chunk = 16 / widest, whole = 5 * kThreads * per_chunk, count = whole + 1;
  const GridChoice grid = grid_of(6, kThreads);
  variants.add(contiguous(whole - per_chunk), grid);
  variants.add(contiguous(count), grid);
  variants.add_misaligned(contiguous(count), grid, 1, 0);
  if (kernel.in_place) {
    variants.add(contiguous(count), grid, "/in-place").alias = Alias::kSame;
    if (!kernel.takes_rows_of_blocks) return;
    variants.add(contiguous(count), grid_of(6, kThreads, 2), "/in-place").alias = Alias::kSame;
  }
}

void add_handful(const ElementwiseKernel& kernel, VariantList& variants) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{8193}}) {
    variants.add(contiguous(count), own_grid());
  }
  variants.add(contiguous(1025), reference_grid());
  for (const char* const view :
       {"transposed/257x129", "transposed/160x320", "permuted/3x4x33x64", "broadcast-rows/33x65",
        "narrowed-columns/33x48", "ones/1x65x1x33x1"}) {
    variants.add(strided_layout(view), own_grid());
  }
  for (const char* const view : {"transposed/33x65", "transposed/257x129"}) {
    variants.add(strided_layout(view), reference_grid());
  }
  variants.add(contiguous(1031), grid_of(3, 64), "/unaligned").misalignments =
      variants.offsets(1, 1);
  variants.add(strided_layout("stepped/64x80"), grid_of(3, 64));
  variants.add_misaligned(contiguous(1025), own_grid(), 3, 5);
  variants.add(passed_layouts()[0], own_grid());
  add_rows_of_blocks(kernel, variants);
  add_chunk_each(kernel, variants);
  if (kernel.in_place) {
    variants.add(contiguous(1025), own_grid(), "/in-place").alias = Alias::kSame;
    variants.add(contiguous(1025), own_grid(), "/null-inp").alias = Alias::kNullInp;
  }
  add_empty(contiguous(33), variants);
}

void add_full(const ElementwiseKernel& kernel, bool everything, VariantList& variants) {
  for (const std::size_t count : contiguous_counts()) {
    variants.add(contiguous(count), own_grid());
    if (count < kLarge) variants.add(contiguous(count), reference_grid());
  }
  for (const NamedLayout& view : strided_layouts()) {
    const bool is_huge = count_of(view.layout) > 10 * kLarge;
    if (is_huge && kernel.inputs.size() != 1) continue;
    if (!is_huge || everything) variants.add(view, own_grid());
    // For some large views, a thread takes one element in the reference geometry.
    const bool is_large = count_of(view.layout) >= kLarge;
    if (!is_large || kernel.inputs.size() == 1) variants.add(view, reference_grid());
  }
  // More tiles than blocks.
  for (const char* const view : {"transposed/404x300", "transposed/160x320"}) {
    variants.add(strided_layout(view), own_grid_of(4));
  }
  // A few threads, each of which takes several elements of a view.
  for (const char* const view : {"stepped/64x80", "broadcast-columns/64x80"}) {
    variants.add(strided_layout(view), grid_of(3, 64));
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks == 0) continue;
    variants.add(contiguous(4097), grid);
    variants.add(contiguous(1031), grid, "/unaligned").misalignments = variants.offsets(1, 1);
    for (const char* const view :
         {"transposed/33x65", "permuted/7x5x3x2", "narrowed-columns/33x48"}) {
      variants.add(strided_layout(view), grid);
    }
  }
  static constexpr std::size_t kMisalignments[][2] = {{1, 0}, {0, 1}, {1, 1}, {3, 5}, {8, 4}};
  for (const auto& [inputs, out] : kMisalignments) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{1025}, std::size_t{4099}}) {
      variants.add_misaligned(contiguous(count), own_grid(), inputs, out);
    }
    variants.add_misaligned(contiguous(1025), reference_grid(), inputs, out);
    variants.add_misaligned(strided_layout("transposed/33x65"), own_grid(), inputs, out);
  }
  for (const GridChoice& grid : {own_grid(), reference_grid()}) {
    if (kernel.in_place) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{1025}, std::size_t{4099}}) {
        add_in_place(count, grid, variants);
      }
    }
    for (const NamedLayout& view : passed_layouts()) variants.add(view, grid);
  }
  add_rows_of_blocks(kernel, variants);
  add_chunk_each(kernel, variants);
  for (const NamedLayout& view : {contiguous(33), strided_layout("transposed/3x7")}) {
    add_empty(view, variants);
  }
}

// Makes some elements of the inputs equal, and a condition true for half of the elements.
void mix_inputs(const ElementwiseKernel& kernel, std::vector<std::vector<std::byte>>& contents,
                Random& random) {
  const std::vector<std::byte>& first = contents[0];
  for (std::size_t i = 1; i < contents.size(); ++i) {
    if (kernel.inputs[i] != kernel.inputs[0] || contents[i].size() != first.size()) continue;
    const std::size_t width = size_of(kernel.inputs[i]);
    for (std::size_t at = 0; at < first.size(); at += 5 * width) {
      std::copy_n(&first[at], width, &contents[i][at]);
    }
  }
  if (!kernel.first_is_condition) return;
  for (std::size_t e = 0; e < first.size() / size_of(kernel.inputs[0]); ++e) {
    if (random.below(2) == 0) {
      store(kernel.inputs[0], 0, contents[0].data() + e * size_of(kernel.inputs[0]));
    }
  }
}

// Returns the contents of the inputs of a case.
std::vector<std::vector<std::byte>> contents_of(const ElementwiseKernel& kernel,
                                                const Variant& variant, const Seed& seed) {
  std::vector<std::vector<std::byte>> contents;
  const std::size_t count = count_of(variant.views[0].layout);
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
    const DType dtype = kernel.inputs[i];
    const bool all =
        variant.values == ValueSet::kAll && (i == 0 || (i == 1 && size_of(dtype) == 1));
    if (all) {
      // The second input changes its value after the first has had all of its values.
      contents.push_back(counted_values(dtype, count, i == 0 ? 1 : 256));
    } else {
      const NamedLayout& view = variant.views[i];
      const Seed own{seed.run, seed.own + i};
      contents.push_back(mixed_values(dtype, view.offset + extent_of(view.layout), own));
    }
  }
  if (variant.values == ValueSet::kMixed) {
    Random random(seed.own);
    mix_inputs(kernel, contents, random);
  }
  return contents;
}

std::vector<Expected> expected_of(const ElementwiseKernel& kernel, const Variant& variant,
                                  const std::vector<std::vector<std::byte>>& contents) {
  const std::size_t count = count_of(variant.views[0].layout), inputs = kernel.inputs.size();
  std::vector<std::vector<std::size_t>> offsets;
  for (const NamedLayout& view : variant.views) offsets.push_back(offsets_of(view.layout));
  std::vector<Expected> expected;
  expected.reserve(count);
  std::vector<Bits> values(inputs);
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::size_t at = variant.views[i].offset + offsets[i][e];
      values[i] = load(kernel.inputs[i], contents[i].data() + at * size_of(kernel.inputs[i]));
    }
    expected.push_back(kernel.reference(values.data()));
  }
  return expected;
}

Case build(const ElementwiseKernel& kernel, const Variant& variant, std::string name,
           const Seed& seed) {
  Random random(seed.own);
  const std::size_t inputs = kernel.inputs.size();
  const auto misalignment = [&](std::size_t i) {
    return variant.misalignments.empty() ? 0 : variant.misalignments[i];
  };
  auto contents =
      std::make_shared<std::vector<std::vector<std::byte>>>(contents_of(kernel, variant, seed));

  Case made;
  made.name = std::move(name);
  for (std::size_t i = 0; i < inputs && variant.alias == Alias::kNone; ++i) {
    Operand read;
    read.name = kernel.input_names[i];
    read.dtype = kernel.inputs[i];
    read.content = (*contents)[i];
    read.misalignment = misalignment(i);
    made.operands.push_back(std::move(read));
  }
  Operand out;
  out.name = "out";
  out.dtype = kernel.output;
  out.misalignment = misalignment(inputs);
  const std::size_t bytes = count_of(variant.views[0].layout) * size_of(out.dtype);
  out.content = variant.alias == Alias::kNone ? poison(bytes, random) : (*contents)[0];
  if (variant.empty) {
    out.expected = [before = out.content, dtype = out.dtype] { return unchanged(dtype, before); };
  } else {
    out.expected = [kernel, variant, contents] { return expected_of(kernel, variant, *contents); };
  }
  made.operands.push_back(std::move(out));

  made.plan_for = [kernel, variant](const std::vector<void*>& addresses,
                                    const ops::Gpu& gpu) -> Result<ops::Launch> {
    std::vector<View> views;
    std::vector<ops::Layout> layouts;
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
      const NamedLayout& view = variant.views[i];
      const void* data = nullptr;
      if (variant.alias == Alias::kSame) data = addresses[0];
      if (variant.alias == Alias::kNone) {
        data =
            static_cast<const std::byte*>(addresses[i]) + view.offset * size_of(kernel.inputs[i]);
      }
      views.push_back({view.layout, data});
      layouts.push_back(view.layout);
    }
    const auto plan_on = [&](const ops::Gpu& device) {
      return kernel.plan(views, addresses.back(), variant.grid.geometry, variant.grid.gpu(device));
    };
    Result<ops::Launch> launch = plan_on(gpu);
    // The helper may choose another kernel on this device. The case is of this one.
    if (launch && launch->kernel.text() != kernel.name) launch = plan_on({});
    if (!launch) return launch;
    variant.grid.apply(*launch);
    if (variant.empty) launch->arguments[0] = ops::Argument::of(std::size_t{0});
    if (variant.views[0].always_passed) pass_layout(*launch, layouts);
    return launch;
  };
  return made;
}

Variant random_variant(const ElementwiseKernel& kernel, Draw& draw) {
  const std::size_t inputs = kernel.inputs.size();
  const ops::Extents dims = draw.one_in(20) ? ops::Extents() : draw.dims(1, 6);
  const bool is_dense = draw.one_in(4);
  Variant variant;
  for (std::size_t i = 0; i < inputs; ++i) {
    variant.views.push_back(is_dense ? draw.dense(dims) : draw.view(dims));
    variant.name += (i == 0 ? "" : "+") + variant.views.back().name;
    variant.misalignments.push_back(draw.misalignment());
  }
  variant.misalignments.push_back(draw.misalignment());
  if (is_dense && draw.one_in(3)) {
    variant.views[0].always_passed = true;
    variant.name += "/passed-layout";
  } else if (is_dense && kernel.in_place && draw.one_in(2)) {
    variant.alias = draw.one_in(2) ? Alias::kSame : Alias::kNullInp;
    variant.name += variant.alias == Alias::kSame ? "/in-place" : "/null-inp";
  }
  std::string offsets;
  for (const std::size_t each : variant.misalignments) {
    offsets += (offsets.empty() ? "" : "+") + std::to_string(each);
  }
  variant.grid = draw.grid();
  // Only launches over contiguous arrays with more chunks than threads have rows of blocks.
  const std::uint32_t threads = variant.grid.threads, of_row = variant.grid.blocks * threads;
  const bool is_large = of_row != 0 && of_row < count_of({dims}) / 16 && threads < 1024;
  if (is_large && is_dense && kernel.takes_rows_of_blocks && draw.one_in(2)) {
    const auto rows = static_cast<std::uint32_t>(draw.between(2, 9));
    variant.grid = grid_of(variant.grid.blocks, threads, rows);
  }
  variant.name += "/offset=" + offsets + "/" + variant.grid.name;
  return variant;
}

// True if the helpers choose the kernel for the variant in kiln's own geometry.
bool is_chosen(const ElementwiseKernel& kernel, const Variant& variant) {
  if (!variant.grid.is_own() || variant.empty) return false;
  std::vector<View> inputs;
  for (const NamedLayout& view : variant.views) inputs.push_back({view.layout, nullptr});
  const auto launch = kernel.plan(inputs, nullptr, ops::Geometry::kOwn, variant.grid.gpu());
  return launch && launch->kernel.text() == kernel.name;
}

}  // namespace

std::vector<Variant> variants_of(const ElementwiseKernel& kernel, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_variant(kernel, *wanted.draw)};
  VariantList variants(kernel);
  add_all_values(kernel, variants);
  if (wanted.breadth == Breadth::kHandful) {
    add_handful(kernel, variants);
  } else {
    add_full(kernel, wanted.everything, variants);
  }
  if (kernel.inputs.size() > 1) add_combined(kernel, wanted.breadth, variants);
  return std::move(variants.list);
}

CaseSpec elementwise_case(const ElementwiseKernel& kernel, const Variant& variant,
                          const std::string& suffix) {
  const std::string name = kernel.name + "/" + variant.name + suffix;
  return {name, variant.work(),
          [kernel, variant, name](const Seed& seed) { return build(kernel, variant, name, seed); }};
}

void add_elementwise_cases(const ElementwiseKernel& kernel, const Wanted& wanted,
                           std::vector<CaseSpec>& cases) {
  for (const Variant& variant : variants_of(kernel, wanted)) {
    cases.push_back(elementwise_case(kernel, variant));
  }
}

void add_chosen_cases(const ElementwiseKernel& kernel, const Wanted& wanted,
                      std::vector<CaseSpec>& cases) {
  const std::size_t before = cases.size(), rounds = wanted.draw == nullptr ? 1 : kMaxDraws;
  for (std::size_t i = 0; i < rounds && cases.size() == before; ++i) {
    for (const Variant& variant : variants_of(kernel, wanted)) {
      if (is_chosen(kernel, variant)) cases.push_back(elementwise_case(kernel, variant));
    }
  }
}

}  // namespace kiln::conformance
