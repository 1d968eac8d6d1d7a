// asort_{asc,desc}_<T>: the column numbers of each row, sorted by their elements;
// sort_{asc,desc}_<T>: the sorted elements; sort_long_<T>: either, with several blocks for each
// row.
//
// Contract: equal elements, which include zeros of both signs, keep the order of their columns. NaN
// comes last in both orders. Any number of columns is allowed, whatever fits in the block and its
// shared memory.
#include "kiln/ops/sort.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

using ops::SortOrder;

enum class Gives { kColumns, kElements };

struct SortCase {
  std::size_t rows, columns;
  ops::Geometry geometry = ops::Geometry::kOwn;
  std::size_t misalignment = 0;
  std::uint32_t threads = 0;  // instead of the geometry's
  // Columns that fit in shared memory, instead of the geometry's; for long rows, the number of rows
  // that are sorted at once.
  std::int32_t at_once = 0;
  std::uint32_t parts = 0;            // blocks for a long row
  std::uint32_t multiprocessors = 0;  // to plan for; 0: the default's

  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/rows/" + shape_name({rows, columns});
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    if (threads != 0) text += "/threads=" + std::to_string(threads);
    if (at_once != 0) text += "/at-once=" + std::to_string(at_once);
    if (parts != 0) text += "/parts=" + std::to_string(parts);
    text += geometry == ops::Geometry::kOwn ? "/own" : "/reference";
    return multiprocessors == 0 ? text : text + "-of-" + std::to_string(multiprocessors);
  }
};

SortCase random_sort_case(Gives gives, Draw& draw) {
  const ops::Extents dims = draw.dims(2, 2, draw.limit() / 2);
  SortCase choice{dims[0], dims[1]};
  choice.misalignment = draw.misalignment();
  choice.multiprocessors = draw.multiprocessors();
  if (choice.columns > 8192) return choice;  // beyond one block, whose launch this family varies
  if (gives == Gives::kColumns && draw.one_in(3)) choice.geometry = ops::Geometry::kReference;
  // A thread has at most 128 columns: one that sorts 4096 alone exceeds the emulator's limit.
  if (draw.one_in(3)) {
    choice.threads = std::max(draw.threads(1024), static_cast<std::uint32_t>(choice.columns / 128));
  }
  // Slices that are not too many.
  if (draw.one_in(3)) {
    choice.at_once = static_cast<std::int32_t>(draw.between(choice.columns / 50 + 1, 8192));
  }
  return choice;
}

std::vector<SortCase> sort_cases(Gives gives, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_sort_case(gives, *wanted.draw)};
  constexpr auto kOwn = ops::Geometry::kOwn;
  constexpr auto kReference = ops::Geometry::kReference;
  std::vector<SortCase> list = {
      // Rows of every kind, with column counts around the sizes of a lane, a wave and a block.
      {kRowKinds, 1},
      {kRowKinds, 24},
      {kRowKinds, 65, kReference},
      {kRowKinds, 250, kOwn, 1},
      {kRowKinds, 300},
      {kRowKinds, 1025},
      // In slices, some of which have a single value.
      {kRowKinds, 300, kOwn, 0, 0, 128},
      // No whole wave; waves without a column.
      {2, 70, kOwn, 0, 5},
      {2, 200, kReference, 3, 100},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t columns : {2,   7,   31,  32,  33,  63,  64,   127,  128,  129,
                                    255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 2049}) {
    list.push_back({3, columns});
    list.push_back({3, columns, kReference});
  }
  list.push_back({2, 4097, kReference});
  list.push_back({2, 8192, kReference});
  list.push_back({3, 8192});
  for (const std::uint32_t threads : {1, 16, 32, 64, 96, 1000}) {
    list.push_back({2, 260, kOwn, 0, threads});
    list.push_back({2, 260, kReference, 1, threads, 200});
  }
  return list;
}

SortCase random_long_sort_case(Draw& draw) {
  const ops::Extents dims = draw.dims(2, 2, draw.limit() / 2);
  SortCase choice{dims[0], dims[1]};
  choice.misalignment = draw.misalignment();
  choice.threads = static_cast<std::uint32_t>(64 * draw.between(1, 8));
  choice.parts = static_cast<std::uint32_t>(draw.size(std::min<std::size_t>(20, choice.columns)));
  if (draw.one_in(2)) choice.at_once = static_cast<std::int32_t>(draw.size(choice.rows));
  return choice;
}

// Blocks of 64 threads sort 512 columns at a time.
std::vector<SortCase> long_sort_cases(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_long_sort_case(*wanted.draw)};
  constexpr auto kOwn = ops::Geometry::kOwn;
  std::vector<SortCase> list = {
      // Rows of every kind; some rows after others; parts without a column; several sorts in a
      // part.
      {kRowKinds, 150, kOwn, 1, 64, 0, 2},
      {3, 70, kOwn, 0, 64, 2, 1},
      {2, 18, kOwn, 0, 128, 0, 14},
      {2, 1300, kOwn, 0, 64, 1, 2},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  list.push_back({2, 1, kOwn, 0, 64, 0, 1});
  list.push_back({kRowKinds, 257, kOwn, 0, 192, 5, 2});
  return list;
}

// Returns the sort key of an element. NaN is above all.
Real sort_value(DType dtype, Bits bits) {
  if (is_float(dtype)) return decode(dtype, bits);
  return dtype == DType::kI64 ? static_cast<Real>(static_cast<std::int64_t>(bits))
                              : static_cast<Real>(bits);
}
bool comes_before(Real a, Real b, SortOrder order) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return order == SortOrder::kAscending ? a < b : a > b;
}

std::vector<std::size_t> sorted_columns(const std::vector<Real>& row, SortOrder order) {
  std::vector<std::size_t> columns(row.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
    const bool is_before = comes_before(row[a], row[b], order);
    return is_before && !(std::isnan(row[a]) && std::isnan(row[b]));
  });
  return columns;
}

Case build(std::string name, SortOrder order, Gives gives, DType dtype, const SortCase& choice,
           const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  // A row with all kinds of values, then rows of each kind.
  auto x = std::make_shared<std::vector<std::byte>>(mixed_values(dtype, choice.columns, seed));
  const std::vector<std::byte> rest =
      rows_of(dtype, choice.rows - 1, choice.columns, random, random.below(kRowKinds));
  x->insert(x->end(), rest.begin(), rest.end());
  if (choice.rows > 2) {
    // The last two rows are sorted, one in order and one in the opposite order.
    const std::size_t bytes = choice.columns * size_of(dtype);
    for (std::size_t r = choice.rows - 2; r < choice.rows; ++r) {
      const std::vector<std::byte> row(x->begin(), x->begin() + static_cast<std::ptrdiff_t>(bytes));
      std::vector<Real> values;
      for (std::size_t c = 0; c < choice.columns; ++c) {
        values.push_back(sort_value(dtype, load(dtype, &row[c * size_of(dtype)])));
      }
      std::vector<std::size_t> columns = sorted_columns(values, order);
      if (r == choice.rows - 1) std::reverse(columns.begin(), columns.end());
      for (std::size_t c = 0; c < choice.columns; ++c) {
        store(dtype, load(dtype, &row[columns[c] * size_of(dtype)]),
              &(*x)[r * bytes + c * size_of(dtype)]);
      }
    }
  }
  made.operands.push_back(input("x", dtype, *x, choice.misalignment));
  Operand dst;
  dst.name = "dst";
  dst.dtype = gives == Gives::kColumns ? DType::kU32 : dtype;
  dst.misalignment = choice.misalignment;
  dst.content = poison(choice.rows * choice.columns * size_of(dst.dtype), random);
  dst.expected = [=] {
    std::vector<Expected> expected;
    for (std::size_t r = 0; r < choice.rows; ++r) {
      std::vector<Real> row;
      for (std::size_t c = 0; c < choice.columns; ++c) {
        const std::size_t i = r * choice.columns + c;
        row.push_back(sort_value(dtype, load(dtype, &(*x)[i * size_of(dtype)])));
      }
      for (const std::size_t column : sorted_columns(row, order)) {
        const std::size_t i = r * choice.columns + column;
        expected.push_back(Expected::exactly(
            gives == Gives::kColumns ? column : load(dtype, &(*x)[i * size_of(dtype)])));
      }
    }
    return expected;
  };
  made.operands.push_back(std::move(dst));
  made.plan = [=](const std::vector<void*>& addresses) {
    const auto fill = [&](auto call) {
      call.order = order;
      call.dtype = dtype;
      call.rows = choice.rows;
      call.columns = choice.columns;
      call.x = addresses[0];
      call.dst = addresses[1];
      call.parts = choice.parts;
      return call;
    };
    ops::ArgSort columns = fill(ops::ArgSort());
    columns.geometry = choice.geometry;
    const ops::Gpu gpu = gpu_of(choice.multiprocessors);
    Result<ops::Launch> launch =
        gives == Gives::kColumns ? plan(columns, gpu) : plan(fill(ops::Sort()), gpu);
    if (launch && choice.threads != 0) launch->block.x = choice.threads;
    if (launch && choice.parts != 0) {
      launch->shared_bytes = choice.threads * 32;
      if (choice.at_once != 0) {
        const auto together = static_cast<std::uint32_t>(choice.at_once);
        launch->grid.x = together * choice.parts;
        launch->steps *= (static_cast<std::uint32_t>(choice.rows) + together - 1) / together;
      }
    } else if (launch && choice.at_once != 0) {
      launch->arguments[3] = ops::Argument::of(choice.at_once);
      launch->shared_bytes = static_cast<std::uint32_t>(choice.at_once) * 4;
    }
    return launch;
  };
  return made;
}

// A case has one of the two orders, and gives either elements or columns.
bool add_long_sort_cases(std::string_view kernel, DType dtype, const Wanted& wanted,
                         std::vector<CaseSpec>& cases) {
  std::size_t number = wanted.draw != nullptr ? wanted.draw->below(4) : 0;
  for (const SortCase& choice : long_sort_cases(wanted)) {
    const SortOrder order = number % 2 == 0 ? SortOrder::kDescending : SortOrder::kAscending;
    const Gives gives = number / 2 % 2 == 0 ? Gives::kColumns : Gives::kElements;
    ++number;
    const std::string name = choice.name(kernel) +
                             (order == SortOrder::kAscending ? "/ascending" : "/descending") +
                             (gives == Gives::kColumns ? "/columns" : "/elements");
    cases.push_back({name, choice.rows * choice.columns, [=](const Seed& seed) {
                       return build(name, order, gives, dtype, choice, seed);
                     }});
  }
  return true;
}

}  // namespace

bool add_sort_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const std::string_view root = parts->root;
  if (root == "sort_long") return add_long_sort_cases(kernel, parts->dtype, wanted, cases);
  const bool ascending = root == "asort_asc" || root == "sort_asc";
  if (!ascending && root != "asort_desc" && root != "sort_desc") return false;
  const DType dtype = parts->dtype;
  const SortOrder order = ascending ? SortOrder::kAscending : SortOrder::kDescending;
  const Gives gives = root.front() == 'a' ? Gives::kColumns : Gives::kElements;
  for (const SortCase& choice : sort_cases(gives, wanted)) {
    if (gives == Gives::kElements && choice.geometry == ops::Geometry::kReference) continue;
    const std::string name = choice.name(kernel);
    cases.push_back({name, choice.rows * choice.columns, [=](const Seed& seed) {
                       return build(name, order, gives, dtype, choice, seed);
                     }});
  }
  return true;
}

Contracts sort_contracts() {
  return {
      {"asort_asc", "the columns of a row, its elements ascending", "", "exact",
       "NaN last; zeros of both signs are equal",
       "Mended: stable, NaN last, and any number of columns, where the original stops at 8192."},
      {"asort_desc", "the columns of a row, its elements descending", "", "exact",
       "NaN last; zeros of both signs are equal", "As asort_asc."},
      {"sort_asc", "the elements of a row in asort_asc's order", "", "exact",
       "NaN payloads and the signs of zeros stay", "A name of our own."},
      {"sort_desc", "the elements of a row in asort_desc's order", "", "exact",
       "NaN payloads and the signs of zeros stay", "A name of our own."},
      {"sort_long", "what asort_asc, asort_desc, sort_asc or sort_desc give", "", "exact",
       "as those", "A name of our own, run step by step."},
  };
}

}  // namespace kiln::conformance
