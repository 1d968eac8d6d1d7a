// fast_<op>_<T>, split_<...>_<T>: one value for all elements along some dims; sum_<T>: sums that
// are added to the previous values.
//
// Contract: integer sums wrap. Float sums may be off by the roundings of their additions, which are
// in f32 for f16 and bf16; they must be exact if every order is. min and max start from the
// infinity of the other side. f64 and f32 ignore NaN, f16 and bf16 propagate it, and either zero is
// right. argmin and argmax return the smallest index of the extreme; they skip NaN, and return 0 if
// all elements are NaN.
#include "kiln/ops/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

using ops::ReduceOp;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

Bits integer_mask(DType dtype) {
  return size_of(dtype) == 8 ? ~Bits{0} : (Bits{1} << (8 * size_of(dtype))) - 1;
}

// `threads` share the row.
Expected sum_reference(DType dtype, const std::vector<Bits>& row, std::uint32_t threads) {
  if (!is_float(dtype)) {
    Bits sum = 0;
    for (const Bits bits : row) sum += bits;
    return Expected::exactly(sum & integer_mask(dtype));
  }
  std::vector<Real> terms;
  for (const Bits bits : row) terms.push_back(decode(dtype, bits));
  const Sum sum = sum_of(dtype, terms, threads);
  return Expected::within(dtype, sum.value, {0, 0, sum.error});
}

// Returns a value for comparison: floats and integers by value. A Real represents every i64.
Real number_of(DType dtype, Bits bits) {
  if (is_float(dtype)) return decode(dtype, bits);
  return dtype == DType::kI64 ? static_cast<Real>(static_cast<std::int64_t>(bits))
                              : static_cast<Real>(bits);
}

Expected extreme_reference(ReduceOp op, DType dtype, const std::vector<Bits>& row) {
  const bool largest = op == ReduceOp::kMax;
  Real extreme = largest ? -kInfinity : kInfinity;
  Bits bits = 0;
  bool has_nan = false;
  for (const Bits each : row) {
    const Real value = number_of(dtype, each);
    has_nan = has_nan || std::isnan(value);
    // Every integer lies beyond the initial infinity, so at least one of them sets `bits`.
    if (largest ? value > extreme : value < extreme) extreme = value, bits = each;
  }
  if (!is_float(dtype)) return Expected::exactly(bits);
  const bool keeps_nan = dtype == DType::kF16 || dtype == DType::kBF16;
  return Expected::within(dtype,
                          has_nan && keeps_nan ? std::numeric_limits<Real>::quiet_NaN() : extreme);
}

Expected index_reference(ReduceOp op, DType dtype, const std::vector<Bits>& row) {
  std::size_t best = 0;
  bool found = false;
  Real extreme = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Real value = number_of(dtype, row[i]);
    if (std::isnan(value)) continue;
    if (!found || (op == ReduceOp::kArgMax ? value > extreme : value < extreme)) {
      best = i, extreme = value, found = true;
    }
  }
  return Expected::exactly(best);
}

Expected reduce_reference(ReduceOp op, DType dtype, const std::vector<Bits>& row,
                          std::uint32_t threads) {
  switch (op) {
    case ReduceOp::kSum: return sum_reference(dtype, row, threads);
    case ReduceOp::kMin:
    case ReduceOp::kMax: return extreme_reference(op, dtype, row);
    case ReduceOp::kArgMin:
    case ReduceOp::kArgMax: return index_reference(op, dtype, row);
  }
  return {};
}

// The operand of a reduction: a view, and the positions of the reduced dims.
struct Shape {
  std::string name;
  ops::Layout layout;
  ops::Extents over;
  std::size_t offset = 0;  // elements from the start of the operand to the view
};

// Returns the view with the remaining dims first and those of `over` last, so that the elements of
// a result are adjacent.
ops::Layout reduced_last(const Shape& shape) {
  const ops::Extents strides = ops::strides_of(shape.layout);
  ops::Layout view{shape.layout.dims, strides};
  std::size_t at = 0;
  const auto take = [&](std::size_t d) {
    view.dims[at] = shape.layout.dims[d];
    view.strides[at++] = strides[d];
  };
  for (std::size_t d = 0; d < view.dims.rank(); ++d) {
    if (std::find(shape.over.begin(), shape.over.end(), d) == shape.over.end()) take(d);
  }
  for (const std::size_t d : shape.over) take(d);
  return view;
}

std::size_t elements_of_one(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t d : shape.over) count *= shape.layout.dims[d];
  return count;
}

std::vector<Shape> shapes_of(Breadth breadth, bool several_dims) {
  std::vector<Shape> shapes;
  const auto add = [&](const char* kind, const ops::Layout& layout, const ops::Extents& over,
                       std::size_t offset = 0) {
    if (over.rank() > 1 && !several_dims) return;
    std::string name = std::string(kind) + "/" + shape_name(layout.dims) + "/over=";
    for (const std::size_t& d : over) name += (&d == over.begin() ? "" : ",") + std::to_string(d);
    shapes.push_back({name, layout, over, offset});
  };
  // Rows of every kind, twice, and a few long rows.
  for (const ops::Extents& dims : {ops::Extents{24, 1}, {24, 33}, {24, 1000}, {3, 4097}}) {
    add("rows", {dims}, {1});
  }
  add("columns", {{65, 24}}, {0});
  add("middle", {{4, 33, 6}}, {1});
  add("transposed", {{24, 33}, {1, 24}}, {1});
  add("several", {{3, 5, 7, 9}}, {1, 3});
  add("narrowed", {{24, 48}, {100, 1}}, {1}, 3);
  add("stepped", {{24, 65}, {200, 3}}, {1}, 5);
  if (breadth == Breadth::kHandful) return shapes;
  for (const ops::Extents& dims : {ops::Extents{1, 1},
                                   {24, 2},
                                   {24, 7},
                                   {24, 31},
                                   {24, 32},
                                   {24, 63},
                                   {24, 64},
                                   {24, 65},
                                   {12, 255},
                                   {12, 256},
                                   {13, 257},
                                   {12, 1023},
                                   {12, 1024},
                                   {12, 1025},
                                   {12, 2048},
                                   {2, 10000},
                                   {1, 100003},
                                   {1000, 3},
                                   {1000, 17}}) {
    add("rows", {dims}, {1});
  }
  // The last ones are read across rows, by blocks of 1024, 128 and 64 threads (tuning::kAcross).
  for (const ops::Extents& dims : {ops::Extents{1, 24},
                                   {7, 24},
                                   {33, 130},
                                   {1025, 24},
                                   {301, 400},
                                   {555, 301},
                                   {70, 2100},
                                   {40, 5001}}) {
    add("columns", {dims}, {0});
  }
  add("middle", {{1, 1025, 5}}, {1});
  add("middle", {{5, 3, 64}}, {1});
  add("several", {{3, 5, 7, 9}}, {3, 1});
  add("several", {{3, 5, 7, 9}}, {0, 1, 2, 3});
  add("several", {{33, 65}}, {0, 1});
  // With blocks of 1024 threads, between half and all of the resident threads of a device: of the
  // host, of the smallest GPU in tuning::kMachines, and of an H200.
  add("several", {{44, 8, 25}}, {0, 2});
  add("several", {{44, 60, 25}}, {0, 2});
  add("several", {{4, 200, 256}}, {0, 2});
  // With blocks of 128 or 64 threads, between one and two times the resident threads.
  add("rows", {{100, 100}}, {1});
  add("permuted", {{30, 30, 100}, {100, 3000, 1}}, {2});
  add("rows", {{4500, 64}}, {1});
  add("permuted", {{4, 3, 33, 8}, {792, 8, 24, 1}}, {2});
  add("broadcast-rows", {{24, 65}, {0, 1}}, {1});
  add("broadcast-columns", {{24, 65}, {1, 0}}, {1});
  add("ones", {{1, 24, 1, 65}, {7, 65, 9, 1}}, {3});
  add("ones", {{1, 24, 1, 65}, {7, 65, 9, 1}}, {2});
  return shapes;
}

Shape random_shape(Draw& draw, bool several_dims) {
  const ops::Extents dims = draw.dims(1, 5);
  const NamedLayout view = draw.view(dims);
  Shape shape{view.name + "/over=", view.layout, {}, view.offset};
  std::size_t over[ops::kMaxRank], left = dims.rank();
  for (std::size_t d = 0; d < left; ++d) over[d] = d;
  const std::size_t count = several_dims ? draw.between(1, dims.rank()) : 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(over[i], over[draw.between(i, dims.rank() - 1)]);
    shape.name += (i == 0 ? "" : ",") + std::to_string(over[i]);
  }
  shape.over = {over, count};
  return shape;
}

// Returns the source of a case: the elements of each result form a row of some kind.
std::vector<std::byte> source_of(const Shape& shape, DType dtype, Random& random) {
  const ops::Layout view = reduced_last(shape);
  const std::size_t columns = elements_of_one(shape);
  const std::vector<std::byte> rows =
      rows_of(dtype, count_of(view) / columns, columns, random, random.below(kRowKinds));
  std::vector<std::byte> content =
      poison((shape.offset + extent_of(view)) * size_of(dtype), random);
  const std::vector<std::size_t> offsets = offsets_of(view);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    store(dtype, load(dtype, &rows[i * size_of(dtype)]),
          &content[(shape.offset + offsets[i]) * size_of(dtype)]);
  }
  return content;
}

// Returns the elements of each result, in order.
std::vector<std::vector<Bits>> rows_in(const Shape& shape, DType dtype,
                                       const std::vector<std::byte>& content) {
  const std::size_t columns = elements_of_one(shape);
  std::vector<std::vector<Bits>> rows;
  std::size_t i = 0;
  for (const std::size_t offset : offsets_of(reduced_last(shape))) {
    if (i++ % columns == 0) rows.emplace_back();
    rows.back().push_back(load(dtype, &content[(shape.offset + offset) * size_of(dtype)]));
  }
  return rows;
}

struct ReduceCase {
  Shape shape;
  GridChoice grid = own_grid();
  std::size_t src_misalignment = 0, dst_misalignment = 0;
  std::uint32_t parts = 0;  // of a row, for split_<...>; 0: the plan chooses
  std::uint32_t lanes = 0;  // of a row, if the plan gives a block several rows
  bool least = false;       // for split_<...>, which also finds the largest element

  // Number of threads that share a row, for the permitted error of its sum.
  std::uint32_t sharing(bool apart) const {
    if (lanes != 0) return lanes;
    if (grid.threads == 0) return 32;
    if (!apart) return grid.threads;
    // A wave of up to 64 lanes takes as many rows, and each thread joins eight elements pairwise.
    return grid.threads % 64 == 0 ? grid.threads / 8 : 1;
  }

  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/" + shape.name;
    if (least) text += "/least";
    if (src_misalignment + dst_misalignment != 0) {
      text +=
          "/offset=" + std::to_string(src_misalignment) + "+" + std::to_string(dst_misalignment);
    }
    if (parts != 0) text += "/parts=" + std::to_string(parts);
    return text + "/" + grid.name;
  }
};

ReduceCase random_reduce_case(Draw& draw, bool several_dims) {
  ReduceCase choice{random_shape(draw, several_dims), draw.grid()};
  choice.src_misalignment = draw.misalignment();
  choice.dst_misalignment = draw.misalignment();
  return choice;
}

std::vector<ReduceCase> reduce_cases(const Wanted& wanted, bool several_dims) {
  if (wanted.draw != nullptr) return {random_reduce_case(*wanted.draw, several_dims)};
  const Breadth breadth = wanted.breadth;
  std::vector<ReduceCase> list;
  const std::vector<Shape> shapes = shapes_of(breadth, several_dims);
  for (const Shape& shape : shapes) {
    list.push_back({shape});
    if (breadth == Breadth::kFull) list.push_back({shape, reference_grid()});
  }
  for (const GridChoice& grid : all_grids()) {
    if (grid.blocks == 0 || (breadth == Breadth::kHandful && grid.blocks != 3)) continue;
    list.push_back({shapes[1], grid});
    if (breadth == Breadth::kFull) list.push_back({shapes[4], grid});
  }
  list.push_back({shapes[1], reference_grid(), 1, 1});
  list.push_back({shapes[2], own_grid(), 3, 1});
  return list;
}

ops::Reduce call_of(ReduceOp op, DType dtype, const ReduceCase& choice) {
  ops::Reduce call;
  call.op = op;
  call.dtype = dtype;
  call.layout = choice.shape.layout;
  call.over = choice.shape.over;
  call.geometry = choice.grid.geometry;
  call.parts = choice.parts;
  return call;
}

// Cases for shapes whose elements have a constant distance, adjacent or not, in blocks of up to 256
// threads, the limit of these kernels.
std::vector<ReduceCase> split_cases(const Wanted& wanted, bool several_dims, bool apart) {
  std::vector<ReduceCase> list;
  const auto add = [&](const ReduceCase& choice) {
    const Result<ops::Launch> launch =
        plan(call_of(ReduceOp::kSum, DType::kF32, choice), choice.grid.gpu());
    const std::string_view kernel = apart ? "split_apart_sum_f32" : "split_sum_f32";
    if (launch && launch->kernel == kernel) list.push_back(choice);
  };
  if (wanted.draw != nullptr) {
    for (std::size_t i = 0; i < kMaxDraws && list.empty(); ++i) {
      ReduceCase choice = random_reduce_case(*wanted.draw, several_dims);
      choice.grid = wanted.draw->own_grid(256);
      choice.parts = static_cast<std::uint32_t>(wanted.draw->size(64));
      if (choice.grid.threads == 0 && wanted.draw->one_in(3)) choice.parts = 0;
      add(choice);
    }
    return list;
  }
  const Breadth breadth = wanted.breadth;
  std::uint32_t turn = 0;
  for (ReduceCase choice : reduce_cases(wanted, several_dims)) {
    if (choice.grid.geometry == ops::Geometry::kReference) continue;
    if (choice.grid.threads > 256 || choice.grid.blocks > 100) continue;
    constexpr std::uint32_t kParts[] = {3, 1, 2, 8};
    choice.parts = kParts[turn++ % 4];
    add(choice);
  }
  // Several rows to a block, with different numbers of lanes for each. The last block has fewer.
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{3001, 3},
                                      {1013, 33},
                                      {301, 65},
                                      {77, 260},
                                      {9, 2000},
                                      {5001, 8}}) {
    ReduceCase choice;
    choice.shape.name = "rows/" + std::to_string(rows) + "x" + std::to_string(columns) + "/over=1";
    choice.shape.layout = {{rows, columns}};
    choice.shape.over = {1};
    add(choice);
    if (breadth == Breadth::kHandful && columns == 65) break;
  }
  // Longer than the whole cache lines of a part.
  struct Long {
    const char* name;
    ops::Layout layout;
    std::size_t over;
  };
  for (const Long& each : {Long{"rows/12x5000/over=1", {{12, 5000}}, 1},
                           Long{"columns/1500x40/over=0", {{1500, 40}}, 0}}) {
    ReduceCase choice;
    choice.shape.name = each.name;
    choice.shape.layout = each.layout;
    choice.shape.over = {each.over};
    for (const std::uint32_t parts : {5, 2, 40}) {
      choice.parts = parts;
      add(choice);
      if (breadth == Breadth::kHandful) break;
    }
  }
  return list;
}

CaseSpec fast_case(std::string_view kernel, ReduceOp op, DType dtype, const ReduceCase& choice) {
  const std::string name = choice.name(kernel);
  const std::uint32_t threads = choice.sharing(kernel.rfind("split_apart", 0) == 0);
  return {name, choice.grid.work(count_of(choice.shape.layout)), [=](const Seed& seed) {
            Random random(seed.own);
            const Shape& shape = choice.shape;
            Case made;
            made.name = name;
            auto source = std::make_shared<std::vector<std::byte>>(source_of(shape, dtype, random));
            made.operands.push_back(input("src", dtype, *source, choice.src_misalignment));
            Operand dst;
            dst.name = "dst";
            dst.dtype = output_dtype(op, dtype);
            dst.misalignment = choice.dst_misalignment;
            const std::size_t results = count_of(shape.layout) / elements_of_one(shape);
            dst.content = poison(results * size_of(dst.dtype), random);
            dst.expected = [=] {
              std::vector<Expected> expected;
              for (const std::vector<Bits>& row : rows_in(shape, dtype, *source)) {
                expected.push_back(reduce_reference(op, dtype, row, threads));
              }
              return expected;
            };
            made.operands.push_back(std::move(dst));
            made.plan = [=](const std::vector<void*>& addresses) {
              ops::Reduce call = call_of(op, dtype, choice);
              call.src = static_cast<const std::byte*>(addresses[0]) +
                         choice.shape.offset * size_of(dtype);
              call.dst = addresses[1];
              Result<ops::Launch> launch = plan(call, choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

// A sum that starts from `first` and is rounded to its own type after each addition, in any order.
Expected sum_into_reference(DType dtype, Bits first, std::vector<Bits> row) {
  row.push_back(first);
  if (!is_float(dtype)) return sum_reference(dtype, row, 1);
  Real magnitude = 0;
  std::vector<Real> terms;
  for (const Bits bits : row) {
    terms.push_back(decode(dtype, bits));
    magnitude += std::fabs(terms.back());
  }
  const Real sum = sum_of(DType::kF64, terms).value;
  if (!std::isfinite(sum)) return Expected::within(dtype, sum);
  const Real step = unit_in_last_place(dtype, magnitude) / 2;
  return Expected::within(dtype, sum, {0, 0, static_cast<Real>(terms.size()) * step});
}

CaseSpec sum_into_case(std::string_view kernel, DType dtype, const ReduceCase& choice) {
  const std::string name = choice.name(kernel);
  return {name, choice.grid.work(count_of(choice.shape.layout)), [=](const Seed& seed) {
            Random random(seed.own);
            const Shape& shape = choice.shape;
            Case made;
            made.name = name;
            auto source = std::make_shared<std::vector<std::byte>>(source_of(shape, dtype, random));
            made.operands.push_back(input("inp", dtype, *source, choice.src_misalignment));
            Operand out;
            out.name = "out";
            out.dtype = dtype;
            out.misalignment = choice.dst_misalignment;
            // In the sums, the remaining dims are in the same order as in `shape`.
            const std::size_t results = count_of(shape.layout) / elements_of_one(shape);
            out.content = rows_of(dtype, 1, results, random, 1);
            out.expected = [=, before = out.content] {
              std::vector<Expected> expected;
              for (std::vector<Bits>& row : rows_in(shape, dtype, *source)) {
                const Bits first = load(dtype, &before[expected.size() * size_of(dtype)]);
                expected.push_back(sum_into_reference(dtype, first, std::move(row)));
              }
              return expected;
            };
            made.operands.push_back(std::move(out));
            made.plan = [=](const std::vector<void*>& addresses) {
              ops::SumInto call;
              call.dtype = dtype;
              call.layout = choice.shape.layout;
              call.over = choice.shape.over;
              call.inp = static_cast<const std::byte*>(addresses[0]) +
                         choice.shape.offset * size_of(dtype);
              call.out = addresses[1];
              call.geometry = choice.grid.geometry;
              Result<ops::Launch> launch = plan(call, choice.grid.gpu());
              if (launch) choice.grid.apply(*launch);
              return launch;
            };
            return made;
          }};
}

}  // namespace

bool add_reduce_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const DType dtype = parts->dtype;
  if (parts->root == "sum") {
    for (const ReduceCase& choice : reduce_cases(wanted, true)) {
      cases.push_back(sum_into_case(kernel, dtype, choice));
    }
    return true;
  }
  bool found = false;
  for (const ops::ReduceOpInfo& each : ops::kReduceOps) {
    const bool apart = parts->root == each.split_apart,
               is_split = apart || parts->root == each.split;
    if (each.root != parts->root && !is_split) continue;
    const bool several = !gives_index(each.op);
    // A split kernel gets the order as a parameter, which changes no access.
    const bool least = is_split && each.order == ops::ReduceOrder::kReversed;
    Wanted some = wanted;
    if (least && !wanted.everything) some.breadth = Breadth::kHandful;
    for (ReduceCase choice :
         is_split ? split_cases(some, several, apart) : reduce_cases(some, several)) {
      choice.least = least;
      // In its own geometry, kiln may choose another kernel for the shape.
      const auto launch = plan(call_of(each.op, dtype, choice), choice.grid.gpu());
      if (launch && launch->kernel.text() != kernel) {
        if (is_split) continue;
        choice.grid = reference_grid();
      } else if (launch && launch->block.y != 1) {
        choice.lanes = launch->block.x;
      }
      CaseSpec spec = fast_case(kernel, each.op, dtype, choice);
      const auto is_same = [&](const CaseSpec& other) { return other.name == spec.name; };
      if (std::none_of(cases.begin(), cases.end(), is_same)) cases.push_back(std::move(spec));
    }
    found = true;
  }
  return found;
}

Contracts reduce_contracts() {
  const std::string extreme =
      "f64 f32 ignore a NaN, f16 bf16 keep it; of nothing but NaN the infinity of the other side";
  const std::string index = "NaN is skipped; of nothing but NaN the index is 0";
  return {
      {"fast_sum", "Σ x over the reduced dims", "f64 in f64, other floats in f32",
       "(n / t + 8) half units of Σ abs x, t: the largest power of two up to 32 that divides the "
       "number of threads that share the row; exact where every order is",
       "integers wrap", "Mended: the original rounds to f16 and bf16 at each step."},
      {"fast_max", "max x", "", "exact", extreme, "Kept: the rule for NaN by type."},
      {"fast_min", "min x", "", "exact", extreme, ""},
      {"fast_argmax", "the index of max x along the last dim", "", "exact", index,
       "Mended: the smallest index of equal ones, where the original's choice depends on the "
       "block; "
       "a leading NaN does not win."},
      {"fast_argmin", "the index of min x along the last dim", "", "exact", index,
       "As fast_argmax."},
      {"split_sum", "as fast_sum, without a layout", "f64 in f64, other floats in f32",
       "as fast_sum", "integers wrap",
       "A name of our own; so are the next five. The same bits in each run."},
      {"split_extreme", "as fast_max, or as fast_min", "", "exact", extreme, ""},
      {"split_argextreme", "as fast_argmax, or as fast_argmin", "", "exact", index, ""},
      {"split_apart_sum", "as split_sum, of elements that do not lie side by side",
       "f64 in f64, other floats in f32", "as fast_sum, of an eighth of the block's threads",
       "integers wrap", ""},
      {"split_apart_extreme", "as split_extreme", "", "exact", extreme, ""},
      {"split_apart_argextreme", "as split_argextreme", "", "exact", index, ""},
      {"sum", "out += Σ x over the summed dims", "the element type, atomically",
       "half a step of Σ abs x for each term; the order is not kept", "integers wrap",
       "Kept: `out` is added to."},
  };
}

}  // namespace kiln::conformance
