// is_<I>_<T>, gather_<I>_<T>, ia_<I>_<T>, s_<I>_<T>, sa_<I>_<T>: elements that are read from or
// written to places that ids select along a dim; s_any, ia_any, sa_any, ia_sorted: in other orders.
//
// Contract: exact bit by bit, except for sums. Sums are taken in the order of the ids; each
// addition is computed in f32 (f64 for f64) and rounded to the element type. Sums by sorted ids are
// rounded to it only at the end. The other sums may be in any order. An id that is the largest of
// its type, negative, or beyond the dim names no place: reads give 0, and nothing is written.
#include "kiln/ops/indexing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

enum class Kind { kSelect, kGather, kIndexAdd, kScatter, kScatterAdd };
using ops::SumOrder;

constexpr bool reads(Kind kind) { return kind == Kind::kSelect || kind == Kind::kGather; }
constexpr bool adds(Kind kind) { return kind == Kind::kIndexAdd || kind == Kind::kScatterAdd; }
// True if each element has its own id, and false if each place along the dim has one.
constexpr bool has_own_ids(Kind kind) { return kind != Kind::kSelect && kind != Kind::kIndexAdd; }

// The kinds of ids.
enum class Ids { kMixed, kOne, kRising, kNone };
constexpr const char* kIdsNames[] = {"mixed", "one", "rising", "none"};

struct IndexCase {
  ops::Extents dims;  // of the operand that ids index
  std::size_t dim;
  std::size_t count;  // number of ids along the dim
  Ids ids = Ids::kMixed;
  GridChoice grid = own_grid();
  std::size_t misalignment = 0;
  std::size_t stride = 1;  // of the ids of select

  ops::Extents dims_of_ids() const {
    ops::Extents other = dims;
    other[dim] = count;
    return other;
  }
  std::size_t right() const {
    std::size_t product = 1;
    for (std::size_t d = dim + 1; d < dims.rank(); ++d) product *= dims[d];
    return product;
  }
  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/" + shape_name(dims) +
                       "/along=" + std::to_string(dim) + "/" + std::to_string(count) + "-ids/" +
                       kIdsNames[static_cast<std::size_t>(ids)];
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    if (stride != 1) text += "/stride=" + std::to_string(stride);
    return text + "/" + grid.name;
  }
};

IndexCase random_index_case(Kind kind, SumOrder order, Draw& draw) {
  IndexCase choice{draw.dims(1, 4), 0, 0};
  choice.dim = draw.below(choice.dims.rank());
  const std::size_t beside = count_of({choice.dims}) / choice.dims[choice.dim];
  choice.count = draw.size(draw.limit() / beside);
  constexpr Ids kIds[] = {Ids::kMixed, Ids::kMixed, Ids::kMixed, Ids::kOne, Ids::kRising};
  choice.ids = draw.one_of(kIds);
  choice.grid = order == SumOrder::kKept ? draw.grid() : draw.own_grid();
  choice.misalignment = draw.misalignment();
  if (kind == Kind::kSelect && draw.one_in(2)) choice.stride = draw.below(9);
  return choice;
}

std::vector<IndexCase> index_cases(Kind kind, SumOrder order, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_index_case(kind, order, *wanted.draw)};
  std::vector<IndexCase> list = {
      {{2, 5, 3}, 1, 7},
      {{2, 6, 16}, 1, 8},
      {{300}, 0, 40},
      {{6, 33}, 1, 35},
      {{9, 64}, 0, 21},
      {{9, 64}, 0, 21, Ids::kOne},
      {{9, 64}, 0, 9, Ids::kRising, reference_grid()},
      {{5, 7}, 0, 12, Ids::kNone},
      {{3, 11, 48}, 1, 37, Ids::kMixed, reference_grid()},
      {{3, 11, 48}, 1, 37, Ids::kMixed, own_grid(), 1},
      {{2, 9, 40}, 1, 19, Ids::kMixed, grid_of(3, 64)},
      {{2, 9, 40}, 1, 19, Ids::kMixed, grid_of(1, 1)},
      {{40, 300, 2}, 1, 33, Ids::kMixed, grid_of(5, 100)},
  };
  if (kind == Kind::kSelect) list.push_back({{4, 9, 16}, 1, 12, Ids::kMixed, own_grid(), 0, 3});
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const GridChoice& grid : all_grids()) {
    list.push_back({{3, 10, 80}, 1, 31, Ids::kMixed, grid});
    list.push_back({{33, 70}, 1, 31, Ids::kMixed, grid});
    list.push_back({{70, 33}, 0, 31, Ids::kMixed, grid, 1});
  }
  for (const std::size_t right : {1, 2, 4, 7, 8, 16, 31, 32, 33, 256}) {
    for (const Ids ids : {Ids::kMixed, Ids::kOne}) {
      list.push_back({{2, 12, right}, 1, 30, ids});
      list.push_back({{2, 12, right}, 1, 30, ids, reference_grid()});
    }
  }
  list.push_back({{2, 12, 1000}, 1, 30});
  list.push_back({{2, 12, 1000}, 1, 30, Ids::kOne, reference_grid()});
  // More elements than resident threads, at one thread an element.
  if (reads(kind)) {
    list.push_back({{4, 1000, 64}, 1, 1100});
    list.push_back({{300, 1024}, 1, 1000, Ids::kMixed, reference_grid()});
  }
  list.push_back({{3, 400}, 1, 2000});
  list.push_back({{1, 1}, 0, 1});
  return list;
}

Bits id_bits(DType dtype, std::int64_t id) {
  return static_cast<Bits>(id) &
         (size_of(dtype) == 8 ? ~Bits{0} : (Bits{1} << (8 * size_of(dtype))) - 1);
}
bool is_signed(DType dtype) { return ops::info(dtype).kind == ops::NumberKind::kSigned; }
std::uint64_t greatest_id(DType dtype) {
  const std::size_t bits = 8 * size_of(dtype) - (is_signed(dtype) ? 1 : 0);
  return ~std::uint64_t{0} >> (64 - bits);
}
// Returns the place that an id names, or nothing.
std::optional<std::size_t> place_of(DType dtype, Bits bits, std::size_t size) {
  if (bits >= greatest_id(dtype) || bits >= size) return std::nullopt;
  return bits;
}

Bits random_id(DType dtype, Ids kind, std::size_t i, std::size_t size, Random& random) {
  const auto beyond = static_cast<std::int64_t>(size);
  if (kind == Ids::kRising) return id_bits(dtype, static_cast<std::int64_t>(i % size));
  if (kind == Ids::kOne) return id_bits(dtype, static_cast<std::int64_t>(size / 2));
  if (kind == Ids::kMixed && random.below(8) != 0) {
    return id_bits(dtype, static_cast<std::int64_t>(random.below(size)));
  }
  switch (random.below(5)) {
    case 0: return greatest_id(dtype);
    case 1: return id_bits(dtype, beyond);
    case 2: return id_bits(dtype, beyond + 7);
    case 3: return id_bits(dtype, -1);
    default: return id_bits(dtype, std::numeric_limits<std::int64_t>::min() >> 1 | beyond);
  }
}

// Returns a + b in the computing type of `dtype`, rounded to `dtype`.
Bits sum_of_two(DType dtype, Bits a, Bits b) {
  if (!is_float(dtype)) return id_bits(dtype, static_cast<std::int64_t>(a + b));
  const Real x = decode(dtype, a), y = decode(dtype, b);
  if (compute_dtype(dtype) == DType::kF64) {
    return encode(dtype, static_cast<double>(x) + static_cast<double>(y));
  }
  return encode(dtype, static_cast<Real>(static_cast<float>(x) + static_cast<float>(y)));
}

// A sum of terms, the first of which is the previous value, in any order, rounded after each
// addition.
Expected sum_in_any_order(DType dtype, const std::vector<Bits>& terms) {
  Real magnitude = 0;
  std::vector<Real> values;
  for (const Bits bits : terms) {
    values.push_back(decode(dtype, bits));
    magnitude += std::fabs(values.back());
  }
  const Real sum = sum_of(DType::kF64, values).value;
  if (!std::isfinite(sum)) return Expected::within(dtype, sum);
  const Real step = unit_in_last_place(dtype, magnitude) / 2;
  return Expected::within(dtype, sum, {0, 0, static_cast<Real>(values.size()) * step});
}

// A sum in the order of the terms, in the computing type, rounded to the element type at the end.
Expected sum_rounded_once(DType dtype, const std::vector<Bits>& terms) {
  Real sum = decode(dtype, terms[0]);
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const Real term = decode(dtype, terms[i]);
    sum = compute_dtype(dtype) == DType::kF64
              ? static_cast<Real>(static_cast<double>(sum) + static_cast<double>(term))
              : static_cast<Real>(static_cast<float>(sum) + static_cast<float>(term));
  }
  return Expected::within(dtype, sum);
}

using Bytes = std::shared_ptr<std::vector<std::byte>>;

// Returns the permitted content of `out`, which held `before`.
std::vector<Expected> index_reference(Kind kind, SumOrder order, DType ids_dtype, DType dtype,
                                      const IndexCase& choice, const std::vector<std::byte>& ids,
                                      const std::vector<std::byte>& inp,
                                      const std::vector<std::byte>& before) {
  const std::size_t size = choice.dims[choice.dim], right = choice.right();
  const std::size_t all = count_of({choice.dims_of_ids()});
  const std::size_t width = size_of(dtype);
  std::vector<Bits> out;
  for (std::size_t i = 0; i < before.size() / width; ++i) {
    out.push_back(load(dtype, &before[i * width]));
  }
  std::vector<bool> is_sum(out.size());
  std::vector<std::vector<Bits>> terms(order == SumOrder::kKept ? 0 : out.size());
  // For each place, the order of all elements is the order of j.
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t l = i / right / choice.count, j = i / right % choice.count, r = i % right;
    const std::size_t at = has_own_ids(kind) ? i : j * choice.stride;
    const auto place = place_of(ids_dtype, load(ids_dtype, &ids[at * size_of(ids_dtype)]), size);
    const std::size_t named = place ? (l * size + *place) * right + r : 0;
    if (reads(kind)) {
      out[i] = place ? load(dtype, &inp[named * width]) : 0;
    } else if (place) {
      const Bits x = load(dtype, &inp[i * width]);
      if (!terms.empty()) {
        if (terms[named].empty()) terms[named].push_back(out[named]);
        terms[named].push_back(x);
      }
      out[named] = adds(kind) ? sum_of_two(dtype, out[named], x) : x;
      is_sum[named] = adds(kind) && is_float(dtype);
    }
  }
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_sum[i] && order != SumOrder::kKept) {
      expected.push_back(order == SumOrder::kAny ? sum_in_any_order(dtype, terms[i])
                                                 : sum_rounded_once(dtype, terms[i]));
      continue;
    }
    expected.push_back(is_sum[i] ? Expected::within(dtype, decode(dtype, out[i]))
                                 : Expected::exactly(out[i]));
  }
  return expected;
}

Result<ops::Launch> plan_indexing(Kind kind, SumOrder order, DType ids_dtype, DType dtype,
                                  const IndexCase& choice, const std::vector<void*>& addresses) {
  const auto fill = [&](auto call) {
    call.ids_dtype = ids_dtype;
    call.dtype = dtype;
    call.dim = choice.dim;
    call.ids = addresses[0];
    call.inp = addresses[1];
    call.out = addresses.back();
    call.geometry = choice.grid.geometry;
    return call;
  };
  const auto brought = [&](auto call) {
    call.dims = choice.dims_of_ids();
    call.size = choice.dims[choice.dim];
    return plan(call, choice.grid.gpu());
  };
  if (kind == Kind::kSelect) {
    ops::IndexSelect call = fill(ops::IndexSelect{});
    call.dims = choice.dims;
    call.ids_layout = {{choice.count}, {choice.stride}};
    return plan(call, choice.grid.gpu());
  }
  if (kind == Kind::kGather) {
    ops::Gather call = fill(ops::Gather{});
    call.dims = choice.dims;
    call.count = choice.count;
    return plan(call, choice.grid.gpu());
  }
  if (kind == Kind::kIndexAdd) {
    ops::IndexAdd call = fill(ops::IndexAdd{});
    call.order = order;
    if (order == SumOrder::kSorted) call.sorted = addresses[2];
    return brought(call);
  }
  ops::Scatter call = fill(ops::Scatter{});
  call.op = adds(kind) ? ops::ScatterOp::kAdd : ops::ScatterOp::kAssign;
  call.order = order;
  return brought(call);
}

// Gives all elements for one place the same value, that of `values` at the place: any of them may
// stay.
void equal_for_each_place(DType ids_dtype, DType dtype, const IndexCase& choice,
                          const std::vector<std::byte>& ids, std::vector<std::byte>& inp,
                          const std::vector<std::byte>& values) {
  const std::size_t size = choice.dims[choice.dim], right = choice.right();
  const std::size_t width = size_of(dtype);
  for (std::size_t i = 0; i < inp.size() / width; ++i) {
    const auto place = place_of(ids_dtype, load(ids_dtype, &ids[i * size_of(ids_dtype)]), size);
    if (!place) continue;
    const std::size_t named = (i / right / choice.count * size + *place) * right + i % right;
    std::copy_n(&values[named * width], width, &inp[i * width]);
  }
}

// Returns the numbers of the ids sorted stably by id.
std::vector<std::byte> sorted_numbers(DType dtype, const std::vector<std::byte>& ids) {
  const auto value = [&](std::uint32_t i) {
    const Bits bits = load(dtype, &ids[i * size_of(dtype)]);
    return is_signed(dtype) ? bits ^ (Bits{1} << (8 * size_of(dtype) - 1)) : bits;
  };
  std::vector<std::uint32_t> numbers(ids.size() / size_of(dtype));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](auto a, auto b) { return value(a) < value(b); });
  std::vector<std::byte> bytes(numbers.size() * 4);
  for (std::size_t i = 0; i < numbers.size(); ++i) store(DType::kU32, numbers[i], &bytes[i * 4]);
  return bytes;
}

Case build(std::string name, Kind kind, SumOrder order, DType ids_dtype, DType dtype,
           const IndexCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const std::size_t size = choice.dims[choice.dim];
  const std::size_t named = count_of({choice.dims}), each = count_of({choice.dims_of_ids()});
  const std::size_t ids_count = has_own_ids(kind) ? each : (choice.count - 1) * choice.stride + 1;
  auto ids = std::make_shared<std::vector<std::byte>>(ids_count * size_of(ids_dtype));
  for (std::size_t i = 0; i < ids_count; ++i) {
    const std::size_t j = has_own_ids(kind) ? i / choice.right() : i;
    store(ids_dtype, random_id(ids_dtype, choice.ids, j, size, random),
          &(*ids)[i * size_of(ids_dtype)]);
  }
  // For sums, short rows of all kinds, normal ones first, so that a NaN does not reach every sum.
  const auto values = [&](std::size_t count) {
    if (!adds(kind)) return mixed_values(dtype, count, seed);
    constexpr std::size_t kColumns = 16;
    auto content = rows_of(dtype, (count + kColumns - 1) / kColumns, kColumns, random,
                           static_cast<std::size_t>(RowKind::kNormal));
    content.resize(count * size_of(dtype));
    return content;
  };
  const auto inp = std::make_shared<std::vector<std::byte>>(values(reads(kind) ? named : each));
  if (kind == Kind::kScatter && order == SumOrder::kAny) {
    equal_for_each_place(ids_dtype, dtype, choice, *ids, *inp, mixed_values(dtype, named, seed));
  }
  made.operands.push_back(input("ids", ids_dtype, *ids, choice.misalignment));
  made.operands.push_back(input("inp", dtype, *inp, choice.misalignment));
  if (order == SumOrder::kSorted) {
    made.operands.push_back(input("order", DType::kU32, sorted_numbers(ids_dtype, *ids)));
  }
  Operand out;
  out.name = "out";
  out.dtype = dtype;
  out.misalignment = choice.misalignment;
  out.content =
      adds(kind) ? values(named) : poison((reads(kind) ? each : named) * size_of(dtype), random);
  out.expected = [=, before = out.content] {
    return index_reference(kind, order, ids_dtype, dtype, choice, *ids, *inp, before);
  };
  made.operands.push_back(std::move(out));
  made.plan = [=](const std::vector<void*>& addresses) {
    Result<ops::Launch> launch = plan_indexing(kind, order, ids_dtype, dtype, choice, addresses);
    if (launch) choice.grid.apply(*launch);
    return launch;
  };
  return made;
}

}  // namespace

bool add_indexing_cases(std::string_view kernel, const Wanted& wanted,
                        std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> value = split_dtype(kernel);
  if (!value) return false;
  const std::optional<RootAndDType> ids = split_dtype(value->root);
  if (!ids) return false;
  struct Root {
    std::string_view name;
    Kind kind;
    SumOrder order = SumOrder::kKept;
  };
  static constexpr Root kRoots[] = {{"is", Kind::kSelect},
                                    {"gather", Kind::kGather},
                                    {"ia", Kind::kIndexAdd},
                                    {"s", Kind::kScatter},
                                    {"sa", Kind::kScatterAdd},
                                    {"ia_any", Kind::kIndexAdd, SumOrder::kAny},
                                    {"s_any", Kind::kScatter, SumOrder::kAny},
                                    {"sa_any", Kind::kScatterAdd, SumOrder::kAny},
                                    {"ia_sorted", Kind::kIndexAdd, SumOrder::kSorted}};
  const Root* const root = std::find_if(std::begin(kRoots), std::end(kRoots),
                                        [&](const Root& each) { return each.name == ids->root; });
  if (root == std::end(kRoots)) return false;
  for (const IndexCase& choice : index_cases(root->kind, root->order, wanted)) {
    const bool is_ours = root->order != SumOrder::kKept;
    if (is_ours && choice.grid.geometry == ops::Geometry::kReference) continue;
    const std::string name = choice.name(kernel);
    const std::size_t work = std::max(count_of({choice.dims}), count_of({choice.dims_of_ids()}));
    cases.push_back({name, choice.grid.work(work),
                     [=, ids_dtype = ids->dtype, dtype = value->dtype](const Seed& seed) {
                       return build(name, root->kind, root->order, ids_dtype, dtype, choice, seed);
                     }});
  }
  return true;
}

Contracts indexing_contracts() {
  const char* const kept =
      "Kept: the greatest id of a type names no place (255 of u8). Mended: so does one that is "
      "negative or beyond the dim, where the original ends the context";
  return {
      {"is", "out[l, j, r] = inp[l, ids[j], r]", "", "exact", "0 where the id names no place",
       std::string(kept) + "; ids may have strides, which the original takes for the source's."},
      {"gather", "out[l, j, r] = inp[l, ids[l, j, r], r]", "", "exact",
       "0 where the id names no place", "Ids as is's."},
      {"ia", "out[l, ids[j], r] += inp[l, j, r]", kFloatsIn, "0.5 at each step",
       "integers wrap; nothing is written where the id names no place",
       "Ids as is's, of f8, too, which the original does not check. Kept: the order of j, and the "
       "rounding to the element at each step."},
      {"s", "out[l, ids[l, j, r], r] = inp[l, j, r]", "", "exact",
       "nothing is written where the id names no place", "Ids as is's. Kept: the last j stays."},
      {"sa", "out[l, ids[l, j, r], r] += inp[l, j, r]", kFloatsIn, "0.5 at each step",
       "integers wrap; nothing is written where the id names no place", "As ia."},
      {"ia_any", "as ia, in any order", "the element type, atomically",
       "half a step of Σ abs x for each term; the order is not kept",
       "integers wrap; nothing is written where the id names no place",
       "A name of our own. Ids as is's."},
      {"s_any", "as s, in any order", "", "exact; any of the elements for a place",
       "nothing is written where the id names no place", "A name of our own. Ids as is's."},
      {"sa_any", "as sa, in any order", "the element type, atomically",
       "half a step of Σ abs x for each term; the order is not kept",
       "integers wrap; nothing is written where the id names no place",
       "A name of our own. Ids as is's."},
      {"ia_sorted", "as ia", kFloatsIn, "0.5 of the computing type at each step, then one rounding",
       "integers wrap; nothing is written where the id names no place",
       "A name of our own: by the ids' numbers in asort_asc's order. The same bits in each run."},
  };
}

}  // namespace kiln::conformance
