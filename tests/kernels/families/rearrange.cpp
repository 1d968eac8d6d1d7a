// arange_<T>, transpose_<T>, slice_<T>: sequences of numbers, and copies that rearrange elements.
//
// Contract: floats are start + i step in f64, rounded once; integers wrap. Copies are exact bit by
// bit.
#include <memory>

#include "kiln/ops/fill.hpp"
#include "kiln/ops/unary.hpp"
#include "tests/kernels/elementwise.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/values.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

Operand output(DType dtype, std::size_t count, Random& random, std::size_t misalignment,
               std::function<std::vector<Expected>()> expected) {
  Operand out;
  out.name = "out";
  out.dtype = dtype;
  out.content = poison(count * size_of(dtype), random);
  out.misalignment = misalignment;
  out.expected = std::move(expected);
  return out;
}

// Returns grids of kiln's own geometry and grids of fixed sizes.
std::vector<GridChoice> own_grids() {
  std::vector<GridChoice> grids;
  for (const GridChoice& grid : all_grids()) {
    if (grid.geometry == ops::Geometry::kOwn) grids.push_back(grid);
  }
  return grids;
}

// ---- arange -----------------------------------------------------------------------------------

struct ArangeCase {
  std::size_t count;
  double start, step;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;

  std::string name(std::string_view kernel) const {
    const auto text = [](double value) { return std::to_string(value).substr(0, 6); };
    std::string joined = std::string(kernel) + "/n=" + std::to_string(count) +
                         "/from=" + text(start) + "/step=" + text(step);
    if (misalignment != 0) joined += "/offset=" + std::to_string(misalignment);
    return joined + "/" + grid.name;
  }
};

ArangeCase random_arange_case(Draw& draw) {
  ArangeCase choice{draw.size(draw.limit()), draw.uniform(-100, 100), draw.uniform(-9, 9)};
  choice.grid = draw.own_grid();
  choice.misalignment = draw.misalignment();
  return choice;
}

std::vector<ArangeCase> arange_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_arange_case(*wanted.draw)};
  std::vector<ArangeCase> list = {
      {1, 3, 1},
      {1000, 0, 1},
      {1025, 250, -3},
      {4097, 7.25, 0.3},
      {333, -1e4, 1e-3},
      {2048, 1, 0},
      {777, 5, 2, grid_of(3, 64)},
      {1031, 1, 1, own_grid(), 1},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t count : contiguous_counts()) list.push_back({count, -3, 0.7});
  for (const GridChoice& grid : own_grids()) list.push_back({4099, 2, 1.5, grid});
  return list;
}

CaseSpec arange_case(std::string_view kernel, DType dtype, const ArangeCase& choice) {
  const std::string name = choice.name(kernel);
  return {name, choice.grid.work(choice.count), [=](const Seed& seed) {
            Random random(seed.own);
            Case made;
            made.name = name;
            const auto start = ops::Scalar::from(dtype, choice.start);
            const auto step = ops::Scalar::from(dtype, choice.step);
            made.operands.push_back(output(dtype, choice.count, random, choice.misalignment, [=] {
              std::vector<Expected> expected;
              for (std::size_t i = 0; i < choice.count; ++i) {
                if (is_float(dtype)) {
                  // The f64 value is rounded once more, to the element type.
                  const Real value =
                      decode(dtype, start.bits) + static_cast<Real>(i) * decode(dtype, step.bits);
                  const Real rounding = 1.01L * rounding_error(DType::kF64);
                  expected.push_back(Expected::within(
                      dtype, value, {0, 0, rounding * (value < 0 ? -value : value)}));
                  continue;
                }
                const Bits all =
                    size_of(dtype) == 8 ? ~Bits{0} : (Bits{1} << 8 * size_of(dtype)) - 1;
                expected.push_back(Expected::exactly((start.bits + i * step.bits) & all));
              }
              return expected;
            }));
            made.plan = [=](const std::vector<void*>& addresses) {
              Result<ops::Launch> launch =
                  plan(ops::Arange{start, step, choice.count, addresses[0]}, choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

// ---- transpose and slice ----------------------------------------------------------------------

// Makes a copy of `inp` in which element `source(i)` becomes element i.
Case copy_case(std::string name, DType dtype, std::size_t inp_count, std::size_t out_count,
               std::size_t misalignment, const Seed& seed,
               std::function<std::size_t(std::size_t)> source) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  auto inp = std::make_shared<std::vector<std::byte>>(mixed_values(dtype, inp_count, seed));
  made.operands.push_back(input("inp", dtype, *inp, misalignment));
  made.operands.push_back(output(dtype, out_count, random, misalignment, [=] {
    std::vector<Expected> expected;
    for (std::size_t i = 0; i < out_count; ++i) {
      expected.push_back(Expected::exactly(load(dtype, &(*inp)[source(i) * size_of(dtype)])));
    }
    return expected;
  }));
  return made;
}

struct TransposeCase {
  std::size_t matrices, rows, columns;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;

  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/" + shape_name({matrices, rows, columns});
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    return text + "/" + grid.name;
  }
};

TransposeCase random_transpose_case(Draw& draw) {
  const ops::Extents dims = draw.dims(3, 3);
  TransposeCase choice{dims[0], dims[1], dims[2]};
  choice.grid = draw.own_grid(256);
  choice.misalignment = draw.misalignment();
  return choice;
}

std::vector<TransposeCase> transpose_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_transpose_case(*wanted.draw)};
  std::vector<TransposeCase> list = {
      {1, 1, 1},
      {2, 33, 65},
      {3, 7, 200},
      // Whole access units on one side, and on neither side.
      {1, 128, 130},
      {1, 130, 131},
      {1, 100, 3},
      {2, 64, 128, grid_of(3, 64)},
      {1, 50, 70, grid_of(1, 16)},
      {1, 64, 64, own_grid(), 1},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t rows : {1, 2, 31, 32, 64, 100, 256}) {
    for (const std::size_t columns : {1, 15, 32, 128, 129}) list.push_back({2, rows, columns});
  }
  for (const GridChoice& grid : own_grids()) {
    if (grid.threads <= 256) list.push_back({3, 96, 132, grid});
  }
  return list;
}

CaseSpec transpose_case(std::string_view kernel, DType dtype, const TransposeCase& choice) {
  const std::string name = choice.name(kernel);
  const std::size_t count = choice.matrices * choice.rows * choice.columns;
  return {name, choice.grid.work(count), [=](const Seed& seed) {
            Case made =
                copy_case(name, dtype, count, count, choice.misalignment, seed, [=](std::size_t i) {
                  const std::size_t r = i % choice.rows, line = i / choice.rows;
                  const std::size_t c = line % choice.columns;
                  return (line / choice.columns * choice.rows + r) * choice.columns + c;
                });
            made.plan = [=](const std::vector<void*>& addresses) {
              Result<ops::Launch> launch =
                  plan(ops::Transpose{dtype, choice.matrices, choice.rows, choice.columns,
                                      addresses[0], addresses[1]},
                       choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

struct SliceCase {
  ops::Extents dims;
  std::size_t dim, start, step, count;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;

  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/" + shape_name(dims) +
                       "/along=" + std::to_string(dim) + "/from=" + std::to_string(start) +
                       "/step=" + std::to_string(step) + "/" + std::to_string(count);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    return text + "/" + grid.name;
  }
};

SliceCase random_slice_case(Draw& draw) {
  SliceCase choice{draw.dims(1, 4), 0, 0, 1, 0};
  choice.dim = draw.below(choice.dims.rank());
  const std::size_t size = choice.dims[choice.dim];
  choice.start = draw.below(size);
  if (draw.one_in(2)) choice.step = draw.size(size);
  choice.count = draw.between(1, (size - choice.start - 1) / choice.step + 1);
  choice.grid = draw.own_grid();
  choice.misalignment = draw.misalignment();
  return choice;
}

std::vector<SliceCase> slice_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_slice_case(*wanted.draw)};
  std::vector<SliceCase> list = {
      {{7}, 0, 6, 1, 1},
      {{5, 48}, 1, 16, 1, 16},
      {{5, 48}, 1, 3, 1, 16},
      {{5, 48}, 1, 1, 5, 9},
      {{4, 9, 32}, 1, 2, 3, 3},
      {{4, 9, 32}, 0, 1, 2, 2, grid_of(3, 64)},
      {{1, 64, 5}, 1, 10, 1, 32, own_grid(), 1},
      {{300, 20}, 0, 16, 4, 70},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t right : {1, 2, 7, 16, 33}) {
    for (const std::size_t step : {1, 2, 3}) {
      list.push_back({{3, 100, right}, 1, 4, step, 32});
      list.push_back({{100, right}, 0, 5, step, 31});
    }
  }
  for (const GridChoice& grid : own_grids()) list.push_back({{3, 40, 64}, 1, 8, 2, 16, grid});
  return list;
}

CaseSpec slice_case(std::string_view kernel, DType dtype, const SliceCase& choice) {
  const std::string name = choice.name(kernel);
  ops::Extents out = choice.dims;
  out[choice.dim] = choice.count;
  const std::size_t inp_count = count_of({choice.dims}), out_count = count_of({out});
  std::size_t right = 1;
  for (std::size_t d = choice.dim + 1; d < out.rank(); ++d) right *= out[d];
  return {name, choice.grid.work(out_count), [=](const Seed& seed) {
            Case made = copy_case(
                name, dtype, inp_count, out_count, choice.misalignment, seed, [=](std::size_t i) {
                  const std::size_t j = i / right % choice.count, l = i / right / choice.count;
                  const std::size_t place = choice.start + j * choice.step;
                  return (l * choice.dims[choice.dim] + place) * right + i % right;
                });
            made.plan = [=](const std::vector<void*>& addresses) {
              Result<ops::Launch> launch =
                  plan(ops::Slice{dtype, choice.dims, choice.dim, choice.start, choice.step,
                                  choice.count, addresses[0], addresses[1]},
                       choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

// The copies of views for which the helpers choose one of these kernels.
ElementwiseKernel view_copy(std::string_view kernel, DType dtype) {
  ElementwiseKernel subject;
  subject.name = kernel;
  subject.inputs = {dtype};
  subject.output = dtype;
  subject.plan = [=](const std::vector<View>& inputs, void* out, ops::Geometry geometry,
                     const ops::Gpu& gpu) {
    ops::Unary call;
    call.dtype = dtype;
    call.layout = inputs[0].layout;
    call.inp = inputs[0].data;
    call.out = out;
    call.geometry = geometry;
    call.rearranged = ops::Rearranged::kAlways;
    return plan(call, gpu);
  };
  subject.reference = [](const Bits* inputs) { return Expected::exactly(inputs[0]); };
  return subject;
}

}  // namespace

bool add_rearrange_cases(std::string_view kernel, const Wanted& wanted,
                         std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const DType dtype = parts->dtype;
  if (parts->root == "arange") {
    for (const ArangeCase& choice : arange_cases(wanted)) {
      cases.push_back(arange_case(kernel, dtype, choice));
    }
  } else if (parts->root == "transpose") {
    for (const TransposeCase& choice : transpose_cases(wanted)) {
      cases.push_back(transpose_case(kernel, dtype, choice));
    }
    add_chosen_cases(view_copy(kernel, dtype), wanted, cases);
  } else if (parts->root == "slice") {
    for (const SliceCase& choice : slice_cases(wanted)) {
      cases.push_back(slice_case(kernel, dtype, choice));
    }
    add_chosen_cases(view_copy(kernel, dtype), wanted, cases);
  } else {
    return false;
  }
  return true;
}

Contracts rearrange_contracts() {
  return {
      {"arange", "start + i step", "floats in f64", "0.5 of f64, then one rounding",
       "integers wrap", "A name of our own."},
      {"transpose", "out[m, c, r] = inp[m, r, c]", "", "exact", "NaN payloads stay",
       "A name of our own."},
      {"slice", "out[l, j, r] = inp[l, start + j step, r]", "", "exact", "NaN payloads stay",
       "A name of our own."},
  };
}

}  // namespace kiln::conformance
