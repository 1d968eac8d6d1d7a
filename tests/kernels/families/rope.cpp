// rope_i_<T>, rope_<T>, rope_thd_<T>: pairs (p, q) become (p cos - q sin, p sin + q cos).
//
// Contract: computed in f64 for f64, otherwise in f32: two products and a sum, each rounded or
// fused, and one rounding to the element type at the end.
#include "kiln/ops/rope.hpp"

#include <cmath>
#include <memory>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

using ops::RopeKind;
using ops::RopeTables;

struct RopeCase {
  std::size_t batches, heads, tokens, head_size;
  RopeTables tables = RopeTables::kShared;
  std::size_t misalignment = 0;
  GridChoice grid = own_grid();

  std::size_t count() const { return batches * heads * tokens * head_size; }
  std::size_t table_count() const {
    return (tables == RopeTables::kPerBatch ? batches : 1) * tokens * head_size / 2;
  }
  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/heads/" +
                       shape_name({batches, heads, tokens, head_size}) +
                       (tables == RopeTables::kPerBatch ? "/per-batch" : "/shared");
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    return text + "/" + grid.name;
  }
};

RopeCase random_rope_case(Draw& draw) {
  const ops::Extents dims = draw.dims(4, 4, draw.limit() / 2);
  RopeCase choice{dims[0], dims[1], dims[2], 2 * dims[3]};
  if (draw.one_in(2)) choice.tables = RopeTables::kPerBatch;
  choice.misalignment = draw.misalignment();
  choice.grid = draw.grid();
  return choice;
}

std::vector<RopeCase> rope_cases(const Wanted& wanted, DType dtype) {
  if (wanted.draw != nullptr) return {random_rope_case(*wanted.draw)};
  std::vector<RopeCase> list = {
      {1, 1, 1, 2},
      {2, 3, 5, 6},
      {2, 4, 7, 64},
      {3, 2, 5, 10, RopeTables::kPerBatch},
      {2, 4, 7, 64, RopeTables::kPerBatch, 1},
      {2, 2, 33, 128, RopeTables::kShared, 0, reference_grid()},
      {2, 2, 33, 128, RopeTables::kPerBatch, 0, grid_of(3, 64)},
      {2, 3, 5, 6, RopeTables::kPerBatch, 0, grid_of(1, 1)},
  };
  if (wanted.breadth == Breadth::kHandful) return list;
  for (const std::size_t head_size : {2, 4, 8, 30, 32, 62, 64, 66, 80, 96, 128, 256}) {
    list.push_back({2, 3, 9, head_size});
    list.push_back({2, 3, 9, head_size, RopeTables::kPerBatch});
    list.push_back({1, 2, 5, head_size, RopeTables::kShared, 1, reference_grid()});
  }
  for (const GridChoice& grid : all_grids()) {
    list.push_back({2, 3, 9, 48, RopeTables::kPerBatch, 0, grid});
  }
  list.push_back({1, 32, 1, 128});
  list.push_back({4, 1, 257, 64, RopeTables::kPerBatch});
  if (dtype == DType::kF64) {  // tables for which the heads are visited in another order
    list.push_back({2, 1, 2049, 256, RopeTables::kPerBatch, 0, reference_grid()});
    list.push_back({1, 2, 2049, 256, RopeTables::kShared, 0, grid_of(300, 96)});
  }
  return list;
}

// The places of the parts of a pair, and its entry in the tables.
struct Pair {
  std::size_t p, q, entry;
};
Pair pair_of(RopeKind kind, const RopeCase& choice, std::size_t batch, std::size_t head,
             std::size_t token, std::size_t i) {
  const std::size_t half = choice.head_size / 2;
  const std::size_t row = kind == RopeKind::kHalvesTokensFirst
                              ? (batch * choice.tokens + token) * choice.heads + head
                              : (batch * choice.heads + head) * choice.tokens + token;
  const std::size_t table = choice.tables == RopeTables::kPerBatch ? batch : 0;
  const std::size_t entry = (table * choice.tokens + token) * half + i;
  const std::size_t first = row * choice.head_size;
  if (kind == RopeKind::kNeighbours) return {first + 2 * i, first + 2 * i + 1, entry};
  return {first + i, first + i + half, entry};
}

// x * a + y * b. The products may cancel.
Expected sum_of_products(DType dtype, Real x, Real a, Real y, Real b) {
  const Real first = x * a, second = y * b;
  const Real magnitude = std::fabs(first) + std::fabs(second);
  if (!std::isfinite(magnitude)) return Expected::within(dtype, first + second);
  const Real least = unit_in_last_place(compute_dtype(dtype), 0);
  return Expected::within(dtype, first + second,
                          {0.5L, 0, magnitude * rounding_error(dtype) + 2 * least});
}

Case build(std::string name, RopeKind kind, DType dtype, const RopeCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const auto content = [&](std::size_t count, RowKind row) {
    auto bytes = std::make_shared<std::vector<std::byte>>(
        rows_of(dtype, 1, count, random, static_cast<std::size_t>(row)));
    return bytes;
  };
  const auto src = content(choice.count(), RowKind::kNan);
  const auto cos = content(choice.table_count(), RowKind::kNormal);
  const auto sin = content(choice.table_count(), RowKind::kBinades);
  made.operands.push_back(input("src", dtype, *src, choice.misalignment));
  made.operands.push_back(input("cos", dtype, *cos, choice.misalignment));
  made.operands.push_back(input("sin", dtype, *sin));
  Operand dst;
  dst.name = "dst";
  dst.dtype = dtype;
  dst.content = poison(src->size(), random);
  dst.misalignment = choice.misalignment;
  dst.expected = [=] {
    const auto number = [&](const auto& bytes, std::size_t i) {
      return decode(dtype, load(dtype, &(*bytes)[i * size_of(dtype)]));
    };
    std::vector<Expected> expected(choice.count(), Expected::exactly(0));
    for (std::size_t b = 0; b < choice.batches; ++b) {
      for (std::size_t h = 0; h < choice.heads; ++h) {
        for (std::size_t t = 0; t < choice.tokens; ++t) {
          for (std::size_t i = 0; i < choice.head_size / 2; ++i) {
            const Pair pair = pair_of(kind, choice, b, h, t, i);
            const Real p = number(src, pair.p), q = number(src, pair.q);
            const Real c = number(cos, pair.entry), s = number(sin, pair.entry);
            expected[pair.p] = sum_of_products(dtype, p, c, -q, s);
            expected[pair.q] = sum_of_products(dtype, p, s, q, c);
          }
        }
      }
    }
    return expected;
  };
  made.operands.push_back(std::move(dst));
  made.plan = [=](const std::vector<void*>& addresses) {
    ops::Rope call;
    call.kind = kind;
    call.dtype = dtype;
    call.batches = choice.batches;
    call.heads = choice.heads;
    call.tokens = choice.tokens;
    call.head_size = choice.head_size;
    call.tables = choice.tables;
    call.src = addresses[0];
    call.cos = addresses[1];
    call.sin = addresses[2];
    call.dst = addresses[3];
    call.geometry = choice.grid.geometry;
    Result<ops::Launch> launch = plan(call, choice.grid.gpu());
    if (launch) choice.grid.apply(*launch);
    return launch;
  };
  return made;
}

}  // namespace

bool add_rope_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const std::optional<RopeKind> kind =
      parts->root == "rope_i"     ? std::optional(RopeKind::kNeighbours)
      : parts->root == "rope"     ? std::optional(RopeKind::kHalves)
      : parts->root == "rope_thd" ? std::optional(RopeKind::kHalvesTokensFirst)
                                  : std::nullopt;
  if (!kind || !is_float(parts->dtype)) return false;
  const DType dtype = parts->dtype;
  for (const RopeCase& choice : rope_cases(wanted, dtype)) {
    const std::string name = choice.name(kernel);
    cases.push_back({name, choice.grid.work(choice.count()), [=, kind = *kind](const Seed& seed) {
                       return build(name, kind, dtype, choice, seed);
                     }});
  }
  return true;
}

Contracts rope_contracts() {
  const std::string bound = "half a unit of abs(p cos) + abs(q sin), and of the result";
  const std::string formula = "(p cos - q sin, p sin + q cos)";
  return {
      {"rope_i", formula + " of neighbours 2i, 2i + 1", kFloatsIn, bound, "",
       "Su et al. 2021, arXiv 2104.09864. Mended: the original rounds products to f16 and bf16."},
      {"rope", formula + " of i, i + d/2", kFloatsIn, bound, "", "As rope_i."},
      {"rope_thd", formula + " of i, i + d/2, tokens before heads", kFloatsIn, bound, "",
       "As rope_i."},
  };
}

}  // namespace kiln::conformance
