// fill_<T>, const_set_<T> and copy2d_<T>: kernels that move bits and compute nothing.
//
// Contract: the written elements equal the value or the source element bit for bit, including NaN
// payloads and -0. The bytes between them do not change.
#include "kiln/ops/fill.hpp"

#include <memory>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/values.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

// Successive cases set successive values.
Bits value_of(DType dtype, std::size_t turn) {
  const std::vector<Bits>& values = special_values(dtype);
  return values[turn % values.size()];
}
std::size_t first_turn(DType dtype, const Wanted& wanted) {
  return wanted.draw == nullptr ? 0 : wanted.draw->below(special_values(dtype).size());
}

Bits untouched(const std::vector<std::byte>& content, DType dtype, std::size_t i) {
  return load(dtype, content.data() + i * size_of(dtype));
}

// Makes an operand filled with poison, in which the elements selected by `is_written` must become
// the values of `written`.
Operand written_operand(std::string name, DType dtype, std::size_t count, Random& random,
                        std::function<bool(std::size_t)> is_written,
                        std::function<Bits(std::size_t)> written) {
  Operand operand;
  operand.name = std::move(name);
  operand.dtype = dtype;
  operand.content = poison(count * size_of(dtype), random);
  auto before = std::make_shared<std::vector<std::byte>>(operand.content);
  operand.expected = [=] {
    std::vector<Expected> expected = unchanged(dtype, *before);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (is_written(i)) expected[i] = Expected::exactly(written(i));
    }
    return expected;
  };
  return operand;
}

// A launch that must write nothing: argument `index` of the plan, a count, is set to `zero`.
template <typename Count>
CaseSpec empty_case(std::string_view kernel, DType dtype, std::size_t index, Count zero,
                    std::function<Result<ops::Launch>(void*)> plan) {
  const std::string name = std::string(kernel) + "/empty/argument=" + std::to_string(index);
  return {name, 0, [=](const Seed& seed) {
            Random random(seed.own);
            Case made;
            made.name = name;
            made.operands.push_back(written_operand(
                "out", dtype, 64, random, [](std::size_t) { return false; },
                [](std::size_t) { return Bits{0}; }));
            made.plan = [=](const std::vector<void*>& addresses) {
              Result<ops::Launch> launch = plan(addresses[0]);
              if (launch) launch->arguments[index] = ops::Argument::of(zero);
              return launch;
            };
            return made;
          }};
}

void add_fill(std::string_view kernel, DType dtype, const Wanted& wanted,
              std::vector<CaseSpec>& cases) {
  std::size_t turn = first_turn(dtype, wanted);
  const auto add = [&](std::size_t count, std::size_t misalignment, const GridChoice& grid) {
    std::string name = std::string(kernel) + "/contiguous/n=" + std::to_string(count);
    if (misalignment != 0) name += "/offset=" + std::to_string(misalignment);
    name += "/" + grid.name;
    const Bits value = value_of(dtype, turn++);
    cases.push_back({name, grid.work(count), [=](const Seed& seed) {
                       Random random(seed.own);
                       Case made;
                       made.name = name;
                       made.operands.push_back(written_operand(
                           "buf", dtype, count, random, [](std::size_t) { return true; },
                           [value](std::size_t) { return value; }));
                       made.operands[0].misalignment = misalignment;
                       made.plan = [=](const std::vector<void*>& addresses) {
                         ops::Fill call;
                         call.value = ops::Scalar::of_bits(dtype, value);
                         call.count = count;
                         call.buffer = addresses[0];
                         call.geometry = grid.geometry;
                         Result<ops::Launch> launch = plan(call, grid.gpu());
                         if (launch) grid.apply(*launch);
                         return launch;
                       };
                       return made;
                     }});
  };
  if (Draw* const draw = wanted.draw) {
    const std::size_t count = draw->size(draw->limit()), misalignment = draw->misalignment();
    return add(count, misalignment, draw->grid());
  }
  cases.push_back(empty_case(kernel, dtype, 2, std::size_t{0}, [dtype](void* buffer) {
    ops::Fill call;
    call.value.dtype = dtype;
    call.count = 1;
    call.buffer = buffer;
    return plan(call);
  }));
  // Every value that a conversion or a NaN rule could change.
  for (std::size_t i = 0; i < special_values(dtype).size(); ++i) {
    add(64 + i, 0, own_grid());
  }
  // Blocks with threads along y.
  for (const std::size_t misalignment : {std::size_t{0}, std::size_t{3}}) {
    add((std::size_t{1} << 18) + 77, misalignment, own_grid());
  }
  if (wanted.breadth == Breadth::kHandful) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{8193}}) add(count, 0, own_grid());
    add(1025, 0, reference_grid());
    add(1031, 1, grid_of(3, 64));
    add(4099, 3, own_grid());
    return;
  }
  for (const std::size_t count : contiguous_counts()) {
    for (const GridChoice& grid : {own_grid(), reference_grid()}) add(count, 0, grid);
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks == 0) continue;
    add(4097, 0, grid);
    add(1031, 1, grid);
  }
  for (const std::size_t misalignment : {std::size_t{1}, std::size_t{3}, std::size_t{8}}) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{1025}, std::size_t{4099}})
      add(count, misalignment, own_grid());
  }
}

void add_const_set(std::string_view kernel, DType dtype, const Wanted& wanted,
                   std::vector<CaseSpec>& cases) {
  std::size_t turn = first_turn(dtype, wanted);
  const auto add = [&](const NamedLayout& view, std::size_t misalignment, const GridChoice& grid) {
    std::string name = std::string(kernel) + "/" + view.name;
    if (misalignment != 0) name += "/offset=" + std::to_string(misalignment);
    name += "/" + grid.name;
    const Bits value = value_of(dtype, turn++);
    cases.push_back({name, grid.work(count_of(view.layout)), [=](const Seed& seed) {
                       Random random(seed.own);
                       // Memory after the view: its last row is narrower than that of the tensor
                       // that it views.
                       const std::size_t extent = view.offset + extent_of(view.layout) + 16;
                       auto in_view = std::make_shared<std::vector<bool>>(extent);
                       for (const std::size_t offset : offsets_of(view.layout)) {
                         (*in_view)[view.offset + offset] = true;
                       }
                       Case made;
                       made.name = name;
                       made.operands.push_back(written_operand(
                           "out", dtype, extent, random,
                           [in_view](std::size_t i) { return static_cast<bool>((*in_view)[i]); },
                           [value](std::size_t) { return value; }));
                       made.operands[0].misalignment = misalignment;
                       made.plan = [=](const std::vector<void*>& addresses) {
                         ops::ConstSet call;
                         call.value = ops::Scalar::of_bits(dtype, value);
                         call.layout = view.layout;
                         call.out =
                             static_cast<std::byte*>(addresses[0]) + view.offset * size_of(dtype);
                         call.geometry = grid.geometry;
                         Result<ops::Launch> launch = plan(call, grid.gpu());
                         if (!launch) return launch;
                         grid.apply(*launch);
                         if (view.always_passed) pass_layout(*launch, {view.layout});
                         return launch;
                       };
                       return made;
                     }});
  };
  if (Draw* const draw = wanted.draw) {
    const NamedLayout view = draw->view(draw->dims(1, 6));
    const std::size_t misalignment = draw->misalignment();
    return add(view, misalignment, draw->grid());
  }
  cases.push_back(empty_case(kernel, dtype, 0, std::size_t{0}, [dtype](void* out) {
    ops::ConstSet call;
    call.value.dtype = dtype;
    call.layout = {{1}};
    call.out = out;
    return plan(call);
  }));
  const NamedLayout& transposed = strided_layout("transposed/33x65");
  const NamedLayout& narrowed = strided_layout("narrowed-columns/33x48");
  add(contiguous((std::size_t{1} << 18) + 77), 0, own_grid());  // blocks with threads along y
  if (wanted.breadth == Breadth::kHandful) {
    // Each strided view uses another value, so that the special values are covered as well.
    for (const NamedLayout& view : strided_layouts()) {
      if (count_of(view.layout) < 10000) add(view, 0, own_grid());
    }
    for (const NamedLayout& view : {contiguous(1), contiguous(8193), passed_layouts()[0]}) {
      add(view, 0, own_grid());
    }
    add(contiguous(1025), 0, reference_grid());
    add(transposed, 0, reference_grid());
    add(contiguous(1031), 1, grid_of(3, 64));
    add(narrowed, 3, grid_of(5, 100));
    return;
  }
  for (const GridChoice& grid : {own_grid(), reference_grid()}) {
    for (const std::size_t count : contiguous_counts()) add(contiguous(count), 0, grid);
    for (const NamedLayout& view : strided_layouts()) add(view, 0, grid);
    for (const NamedLayout& view : passed_layouts()) add(view, 0, grid);
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks == 0) continue;
    add(contiguous(4097), 0, grid);
    add(contiguous(1031), 1, grid);
    for (const NamedLayout& view : {transposed, narrowed}) add(view, 0, grid);
  }
  for (const std::size_t misalignment : {std::size_t{1}, std::size_t{3}, std::size_t{8}}) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{1025}, std::size_t{4099}}) {
      add(contiguous(count), misalignment, own_grid());
    }
    add(strided_layout("transposed/33x65"), misalignment, own_grid());
  }
}

struct Rows {
  std::uint32_t rows, columns, inp_stride, out_stride;
  std::size_t inp_misalignment = 0, out_misalignment = 0;
};

Rows random_rows(Draw& draw) {
  const ops::Extents dims = draw.dims(2, 2);
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  Rows rows{number(dims[0]), number(dims[1]), number(dims[1]), number(dims[1] + draw.gap())};
  rows.inp_stride += number(draw.gap());
  // The rows of the source may overlap or be the same.
  if (draw.one_in(6)) rows.inp_stride = number(draw.below(dims[1] + 1));
  rows.inp_misalignment = draw.misalignment();
  rows.out_misalignment = draw.misalignment();
  return rows;
}

// Equal and different strides; a stride of 0 repeats the source row; the strides of a single row
// are not used.
constexpr Rows kRows[] = {
    {1, 1, 1, 1},
    {1, 1025, 0, 0},
    {1025, 1, 1, 1},
    {1025, 1, 3, 2},
    {3, 5, 5, 5},
    {7, 33, 40, 64},
    {7, 33, 33, 33},
    {33, 31, 31, 45},
    {64, 64, 64, 64},
    {64, 128, 128, 256},
    {64, 128, 256, 128},
    {5, 1000, 1003, 1001},
    {17, 257, 0, 300},
    {128, 513, 520, 1024},
    {300, 333, 333, 333},
    {2, 50001, 50001, 50003},
    {9, 100, 100, 200, 1},
    {9, 100, 100, 200, 0, 1},
    {9, 100, 101, 203, 3, 5},
    {4, 2048, 2048, 4096, 0, 2048},
};

void add_copy2d(std::string_view kernel, DType dtype, const Wanted& wanted,
                std::vector<CaseSpec>& cases) {
  const auto add = [&](const Rows& size, const GridChoice& grid) {
    std::string name = std::string(kernel) + "/rows/" + std::to_string(size.rows) + "x" +
                       std::to_string(size.columns) +
                       "/strides=" + std::to_string(size.inp_stride) + "," +
                       std::to_string(size.out_stride);
    if (size.inp_misalignment + size.out_misalignment != 0) {
      name += "/offset=" + std::to_string(size.inp_misalignment) + "+" +
              std::to_string(size.out_misalignment);
    }
    name += "/" + grid.name;
    const std::size_t elements = std::size_t{size.rows} * size.columns;
    cases.push_back(
        {name, grid.work(elements), [=](const Seed& seed) {
           Random random(seed.own);
           const auto extent = [&](std::size_t stride) {
             return (size.rows - 1) * stride + size.columns;
           };
           Case made;
           made.name = name;
           Operand inp;
           inp.name = "src";
           inp.dtype = dtype;
           inp.content = mixed_values(dtype, extent(size.inp_stride), seed);
           inp.misalignment = size.inp_misalignment;
           auto source = std::make_shared<std::vector<std::byte>>(inp.content);
           made.operands.push_back(std::move(inp));
           // Includes the gap after the last row, which lies past the last element.
           const std::size_t row = size.rows == 1 ? size.columns : size.out_stride;
           const std::size_t out_count = extent(size.out_stride) + 16;
           made.operands.push_back(written_operand(
               "dst", dtype, out_count, random,
               [=](std::size_t i) { return i / row < size.rows && i % row < size.columns; },
               [=](std::size_t i) {
                 return untouched(*source, dtype, i / row * size.inp_stride + i % row);
               }));
           made.operands[1].misalignment = size.out_misalignment;
           made.plan = [=](const std::vector<void*>& addresses) {
             ops::Copy2d call;
             call.dtype = dtype;
             call.rows = size.rows;
             call.columns = size.columns;
             call.inp_stride = size.inp_stride;
             call.out_stride = size.out_stride;
             call.inp = addresses[0];
             call.out = addresses[1];
             call.geometry = grid.geometry;
             Result<ops::Launch> launch = plan(call, grid.gpu());
             if (launch) grid.apply(*launch);
             return launch;
           };
           return made;
         }});
  };
  if (Draw* const draw = wanted.draw) {
    const Rows size = random_rows(*draw);
    return add(size, draw->grid());
  }
  for (const std::size_t index : {std::size_t{2}, std::size_t{3}}) {  // no rows, no columns
    cases.push_back(empty_case(kernel, dtype, index, std::uint32_t{0}, [dtype](void* out) {
      ops::Copy2d call;
      call.dtype = dtype;
      call.rows = call.columns = call.inp_stride = call.out_stride = 4;
      call.inp = call.out = out;
      return plan(call);
    }));
  }
  if (wanted.breadth == Breadth::kHandful) {
    for (const std::size_t row : {0, 4, 5, 7, 10, 18}) add(kRows[row], own_grid());
    for (const std::size_t row : {5, 12}) add(kRows[row], reference_grid());
    add(kRows[5], grid_of(3, 64));
    return;
  }
  for (const Rows& size : kRows) {
    add(size, own_grid());
    add(size, reference_grid());
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks != 0) add(kRows[5], grid);
    if (grid.blocks != 0) add(kRows[9], grid);
  }
  // More blocks than are resident on the largest GPU of an architecture, though a device may hold
  // more.
  add({1050, 1024, 1024, 1024}, reference_grid());
}

}  // namespace

bool add_fill_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const DType dtype = parts->dtype;
  if (parts->root == "fill") {
    add_fill(kernel, dtype, wanted, cases);
  } else if (parts->root == "const_set") {
    add_const_set(kernel, dtype, wanted, cases);
  } else if (parts->root == "copy2d") {
    add_copy2d(kernel, dtype, wanted, cases);
  } else {
    return false;
  }
  return true;
}

Contracts fill_contracts() {
  return {{"fill", "buf[i] = value", "", "exact", "NaN payloads stay", ""},
          {"const_set", "every element of a view = value", "", "exact", "NaN payloads stay",
           "What lies between the elements of the view is not written."},
          {"copy2d", "dst[r dst_s + c] = src[r src_s + c]", "", "exact", "NaN payloads stay",
           "Kept: elements are counted in 32 bits. Mended: right for any grid, where the original "
           "needs a thread an element."}};
}

}  // namespace kiln::conformance
