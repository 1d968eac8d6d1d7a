// dequantize_block_<format>_<T> and get_rows_<format>: blocks to floats, for a whole tensor and for
// rows that ids select.
//
// Contract: scale * quant is exact in f32, and so is a value without offset, except for Q8_K. Other
// values are rounded once to f32, then to T. get_rows_<T> widens. Any grid is valid for which the
// launch passes the counts that the kernel needs.
#include <map>
#include <memory>
#include <optional>

#include "kiln/ops/quantized.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

using ops::Geometry;

std::optional<BlockFormat> format_named(std::string_view suffix) {
#define KILN_ROW(format, name, ...) \
  if (suffix == #name) return BlockFormat::k##format;
  KILN_EACH_DEQUANTIZE_OF_BLOCKS(KILN_ROW)
  KILN_EACH_DEQUANTIZE_OF_VALUES(KILN_ROW)
  KILN_EACH_DEQUANTIZE_OF_GRID(KILN_ROW)
  KILN_EACH_OWN_FORMAT(KILN_ROW)
#undef KILN_ROW
  return std::nullopt;
}

Expected expected_value(BlockFormat format, DType dtype, const QuantizedValue& of) {
  const bool is_rounded = has_offset(format) || format == BlockFormat::kQ8_K;
  return Expected::within(dtype, of.value(), {is_rounded ? 0.5L : 0.0L, 0, 0});
}

Operand output(std::string name, DType dtype, std::size_t count, std::size_t misalignment,
               Random& random, std::function<std::vector<Expected>()> expected) {
  return {std::move(name), dtype, poison(count * size_of(dtype), random),
          misalignment,    false, std::move(expected)};
}

// ---- whole tensors ----------------------------------------------------------------------------

struct TensorCase {
  std::size_t blocks;
  BlockKind kind = BlockKind::kUsual;
  Geometry geometry = Geometry::kOwn;
  std::size_t misalignment = 0;  // of the blocks in block units, of the values in elements
  bool ends_memory = false;
  // If not 0, the number of thread blocks, instead of the geometry's. Each then has 32 threads or,
  // where a block has 256 values, 8 threads along x for each block of values along y.
  std::uint32_t grid = 0;
};

Case build_tensor(std::string name, BlockFormat format, DType dtype, const TensorCase& choice,
                  const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const ops::BlockFormatInfo& of = ops::info(format);
  auto blocks = std::make_shared<std::vector<std::byte>>(
      random_blocks(format, choice.kind, choice.blocks, random));
  const std::size_t unit = of.bytes % 4 == 0 ? 4 : 2;
  made.operands.push_back(input("vx", DType::kU8, *blocks, choice.misalignment * unit));
  made.operands.back().ends_memory = choice.ends_memory;
  const std::size_t count = choice.blocks * of.values;
  made.operands.push_back(output("y", dtype, count, choice.misalignment, random, [=] {
    std::vector<Expected> expected;
    for (std::size_t j = 0; j < count; ++j) {
      expected.push_back(expected_value(format, dtype, value_at(format, blocks->data(), j)));
    }
    return expected;
  }));
  made.plan = [=](const std::vector<void*>& addresses) {
    ops::DequantizeBlocks call;
    call.format = format;
    call.dtype = dtype;
    call.count = count;
    call.blocks = addresses[0];
    call.out = addresses[1];
    call.geometry = choice.geometry;
    Result<ops::Launch> launch = plan(call);
    if (launch && choice.grid != 0) {
      launch->grid.x = choice.grid;
      launch->block.x = 32;
      const auto along_y = static_cast<std::uint32_t>(choice.blocks / choice.grid);
      if (of.values == 256) launch->block = {8, along_y, 1};
    }
    return launch;
  };
  return made;
}

TensorCase random_tensor_case(BlockFormat format, Draw& draw) {
  const std::size_t values = ops::info(format).values;
  TensorCase choice{draw.size(draw.limit() / values)};
  if (draw.one_in(2)) choice.kind = BlockKind::kSpecial;
  if (draw.one_in(2)) choice.geometry = Geometry::kReference;
  choice.misalignment = draw.misalignment();
  choice.ends_memory = draw.one_in(3);
  if (draw.one_in(4) && values != 256) choice.grid = static_cast<std::uint32_t>(draw.size(20));
  if (draw.one_in(4) && values == 256) {
    std::size_t along_y = draw.size(32);
    while (choice.blocks % along_y != 0) --along_y;
    if (along_y > 1) choice.grid = static_cast<std::uint32_t>(choice.blocks / along_y);
  }
  return choice;
}

std::vector<TensorCase> tensor_cases(BlockFormat format, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_tensor_case(format, *wanted.draw)};
  const bool is_large = ops::info(format).values == 256;
  std::vector<TensorCase> list = {
      // Every quant at every place.
      {16, BlockKind::kSpecial},
      {is_large ? std::size_t{13} : std::size_t{17}, BlockKind::kSpecial, Geometry::kReference, 1},
      {1, BlockKind::kUsual, Geometry::kReference, 0, true},
      {is_large ? std::size_t{2} : std::size_t{9}, BlockKind::kUsual, Geometry::kOwn, 1, true},
  };
  // For short blocks, a launch may have any grid.
  list.push_back({40, BlockKind::kUsual, Geometry::kOwn, 0, false, is_large ? 5u : 2u});
  if (is_large) list.push_back({6, BlockKind::kSpecial, Geometry::kOwn, 1, true, 2});
  return list;
}

void add_tensor_cases(std::string_view kernel, BlockFormat format, DType dtype,
                      const Wanted& wanted, std::vector<CaseSpec>& cases) {
  for (const TensorCase& choice : tensor_cases(format, wanted)) {
    std::string name = std::string(kernel) + "/blocks=" + std::to_string(choice.blocks);
    if (choice.kind == BlockKind::kSpecial) name += "/special";
    if (choice.misalignment != 0) name += "/offset=" + std::to_string(choice.misalignment);
    if (choice.ends_memory) name += "/at-the-end";
    name += choice.grid != 0 ? "/grid=" + std::to_string(choice.grid)
                             : (choice.geometry == Geometry::kOwn ? "/own" : "/reference");
    cases.push_back({name, choice.blocks * ops::info(format).values, [=](const Seed& seed) {
                       return build_tensor(name, format, dtype, choice, seed);
                     }});
  }
}

// ---- rows by ids ------------------------------------------------------------------------------

struct RowsCase {
  std::vector<std::uint32_t> ids;
  std::size_t columns;
  std::size_t gap = 0;  // units between the rows of the table
  Geometry geometry = Geometry::kOwn;
  std::size_t misalignment = 0;
  bool ends_memory = false;
  std::uint32_t blocks = 0, threads = 0;  // along y, instead of the geometry's

  std::string name(std::string_view kernel) const {
    std::string text = std::string(kernel) + "/ids=" + std::to_string(ids.size()) +
                       "/columns=" + std::to_string(columns);
    if (gap != 0) text += "/gap=" + std::to_string(gap);
    if (misalignment != 0) text += "/offset=" + std::to_string(misalignment);
    if (ends_memory) text += "/at-the-end";
    if (blocks != 0)
      return text + "/grid=" + std::to_string(blocks) + "x" + std::to_string(threads);
    return text + (geometry == Geometry::kOwn ? "/own" : "/reference");
  }
};

constexpr std::size_t kTableRows = 5;

// `unit`: columns come in multiples of it.
RowsCase random_rows_case(std::size_t unit, Draw& draw) {
  const ops::Extents dims = draw.dims(2, 2, draw.limit() / unit);
  RowsCase choice{std::vector<std::uint32_t>(dims[0]), unit * dims[1]};
  for (std::uint32_t& id : choice.ids) id = static_cast<std::uint32_t>(draw.below(kTableRows));
  choice.gap = draw.gap();
  if (draw.one_in(2)) choice.geometry = Geometry::kReference;
  choice.misalignment = draw.misalignment();
  choice.ends_memory = draw.one_in(3);
  if (draw.one_in(4)) {
    choice.blocks = static_cast<std::uint32_t>(draw.size(9));
    choice.threads = static_cast<std::uint32_t>(32 * draw.between(1, 8));
  }
  return choice;
}

// `row` makes a row of the table; `expected_at` returns the permitted results for its value `j`.
Case build_rows(std::string name, const RowsCase& choice, std::size_t unit, std::size_t row_bytes,
                const std::function<std::vector<std::byte>(Random&, const Seed&)>& row,
                const std::function<Expected(const std::byte* row, std::size_t j)>& expected_at,
                const std::function<Result<ops::Launch>(const std::vector<void*>&,
                                                        std::size_t stride)>& plan_rows,
                const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const std::size_t stride = row_bytes + choice.gap * unit;
  auto table = std::make_shared<std::vector<std::byte>>();
  for (std::size_t r = 0; r < kTableRows; ++r) {
    const std::vector<std::byte> gap = poison(r == 0 ? 0 : choice.gap * unit, random);
    table->insert(table->end(), gap.begin(), gap.end());
    const std::vector<std::byte> content = row(random, seed);
    table->insert(table->end(), content.begin(), content.end());
  }
  made.operands.push_back(input("src0", DType::kU8, *table, choice.misalignment * unit));
  made.operands.back().ends_memory = choice.ends_memory;
  std::vector<std::byte> ids(choice.ids.size() * 4);
  for (std::size_t i = 0; i < choice.ids.size(); ++i) {
    store(DType::kU32, choice.ids[i], &ids[4 * i]);
  }
  made.operands.push_back(input("src1", DType::kU32, std::move(ids)));
  made.operands.back().ends_memory = choice.ends_memory;
  made.operands.push_back(output(
      "dst", DType::kF32, choice.ids.size() * choice.columns, choice.misalignment, random, [=] {
        std::vector<Expected> expected;
        for (const std::uint32_t id : choice.ids) {
          for (std::size_t j = 0; j < choice.columns; ++j) {
            expected.push_back(expected_at(table->data() + id * stride, j));
          }
        }
        return expected;
      }));
  made.plan = [=](const std::vector<void*>& addresses) {
    Result<ops::Launch> launch = plan_rows(addresses, choice.gap == 0 ? 0 : stride);
    if (launch && choice.blocks != 0) {
      launch->grid.y = choice.blocks;
      launch->block.x = choice.threads;
    }
    return launch;
  };
  return made;
}

template <typename Call>
Call rows_call(const RowsCase& choice, const std::vector<void*>& addresses, std::size_t stride) {
  Call call;
  call.count = choice.ids.size();
  call.columns = choice.columns;
  call.row_bytes = stride;
  call.table = addresses[0];
  call.ids = addresses[1];
  call.out = addresses[2];
  call.geometry = choice.geometry;
  return call;
}

std::vector<RowsCase> block_rows(std::size_t values, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_rows_case(values, *wanted.draw)};
  const std::size_t some = values == 32 ? 96 : 512;
  return {{{4, 0, 4}, some},
          {{1}, 2 * some, 0, Geometry::kReference, 0, true},
          {{3, 2}, values, 3, Geometry::kReference, 1},
          // More work along a row than the launch has threads.
          {{2, 4}, 3 * some, 1, Geometry::kOwn, 0, true, 2, 32}};
}

void add_block_rows(std::string_view kernel, BlockFormat format, const Wanted& wanted,
                    std::vector<CaseSpec>& cases) {
  const ops::BlockFormatInfo& of = ops::info(format);
  const std::size_t unit = of.bytes % 4 == 0 ? 4 : 2;
  for (const RowsCase& choice : block_rows(of.values, wanted)) {
    const std::string name = choice.name(kernel);
    const auto row = [=](Random& random, const Seed&) {
      return random_blocks(format, BlockKind::kSpecial, choice.columns / of.values, random);
    };
    const auto expected_at = [format](const std::byte* blocks, std::size_t j) {
      return expected_value(format, DType::kF32, value_at(format, blocks, j));
    };
    const auto plan_rows = [=](const std::vector<void*>& addresses, std::size_t stride) {
      auto call = rows_call<ops::GetRows>(choice, addresses, stride);
      call.format = format;
      return plan(call);
    };
    cases.push_back({name, choice.ids.size() * choice.columns, [=](const Seed& seed) {
                       return build_rows(name, choice, unit, ops::row_bytes(format, choice.columns),
                                         row, expected_at, plan_rows, seed);
                     }});
  }
}

std::vector<RowsCase> float_rows(const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_rows_case(1, *wanted.draw)};
  return {{{4, 0, 4}, 33},
          {{1}, 300, 0, Geometry::kReference, 0, true},
          {{3, 2}, 1, 3, Geometry::kReference, 1},
          {{2, 4}, 200, 1, Geometry::kOwn, 3, true, 2, 32}};
}

void add_float_rows(std::string_view kernel, DType dtype, const Wanted& wanted,
                    std::vector<CaseSpec>& cases) {
  const std::size_t unit = size_of(dtype);
  for (const RowsCase& choice : float_rows(wanted)) {
    const std::string name = choice.name(kernel);
    const auto row = [=](Random& random, const Seed& seed) {
      return mixed_values(dtype, choice.columns, {seed.run, random.bits()});
    };
    const auto expected_at = [=](const std::byte* values, std::size_t j) {
      return Expected::within(DType::kF32, decode(dtype, load(dtype, values + j * unit)), {},
                              ZeroSign::kAsExpected);
    };
    const auto plan_rows = [=](const std::vector<void*>& addresses, std::size_t stride) {
      auto call = rows_call<ops::GetFloatRows>(choice, addresses, stride);
      call.dtype = dtype;
      return plan(call);
    };
    cases.push_back({name, choice.ids.size() * choice.columns, [=](const Seed& seed) {
                       return build_rows(name, choice, unit, choice.columns * unit, row,
                                         expected_at, plan_rows, seed);
                     }});
  }
}

}  // namespace

bool add_dequantize_cases(std::string_view kernel, const Wanted& wanted,
                          std::vector<CaseSpec>& cases) {
  constexpr std::string_view kTensor = "dequantize_block_", kRows = "get_rows_";
  if (kernel.substr(0, kTensor.size()) == kTensor) {
    const std::optional<RootAndDType> parts = split_dtype(kernel);
    const auto format = parts ? format_named(parts->root.substr(kTensor.size())) : std::nullopt;
    if (!format) return false;
    add_tensor_cases(kernel, *format, parts->dtype, wanted, cases);
    return true;
  }
  if (kernel.substr(0, kRows.size()) != kRows) return false;
  if (const auto format = format_named(kernel.substr(kRows.size()))) {
    add_block_rows(kernel, *format, wanted, cases);
    return true;
  }
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts || parts->root != "get_rows") return false;
  add_float_rows(kernel, parts->dtype, wanted, cases);
  return true;
}

Contracts dequantize_contracts() {
  struct Words {
    std::string_view tensor, rows;
    std::string formula;
    bool is_exact;
  };
  const std::vector<Words> formats = {
      {"dequantize_block_q4_0", "get_rows_q4_0", "d (q - 8)", true},
      {"dequantize_block_q4_1", "get_rows_q4_1", "d q + m", false},
      {"dequantize_block_q5_0", "get_rows_q5_0", "d (q - 16)", true},
      {"dequantize_block_q5_1", "get_rows_q5_1", "d q + m", false},
      {"dequantize_block_q8_0", "get_rows_q8_0", "d q", true},
      {"dequantize_block_q2_K", "get_rows_q2_K", "d scale q - dmin minimum, of 16 values", false},
      {"dequantize_block_q3_K", "get_rows_q3_K", "d (scale - 32) (q - 4), of 16 values", true},
      {"dequantize_block_q4_K", "get_rows_q4_K", "d scale q - dmin minimum, of 32 values", false},
      {"dequantize_block_q5_K", "get_rows_q5_K", "d scale q - dmin minimum, of 32 values", false},
      {"dequantize_block_q6_K", "get_rows_q6_K", "d scale (q - 32), of 16 values", true},
      {"dequantize_block_q8_K", "", "d q", false},
      {"dequantize_block_iq4_nl", "", "d table[q]", true},
      {"dequantize_block_mxfp4", "", "2^(e - 128) table[q]", true},
  };
  Contracts contracts;
  for (const Words& each : formats) {
    const std::string bound = each.is_exact ? "exact in f32" : "0.5 ulp";
    const std::string_view suffix =
        each.tensor.substr(std::string_view("dequantize_block_").size());
    std::string notes = "Kept: the grid says how many blocks there are";
    if (suffix == "q4_0" || suffix == "q4_1" || suffix == "q8_0") notes = "Kept: k is blocks";
    if (suffix == "iq4_nl" || suffix == "mxfp4") notes = "k is blocks";
    if (suffix == "q5_0" || suffix == "q5_1") notes = "Kept: k is values";
    contracts.push_back({each.tensor, each.formula, "f32", bound, "as the formula",
                         notes + ". Reads no byte behind the last block."});
    if (each.rows.empty()) continue;
    contracts.push_back({each.rows, "the same of row ids[i]", "f32", bound, "as the formula",
                         "Mended: no value is written twice. Kept: ids are not checked."});
  }
  contracts.push_back(
      {"get_rows", "row ids[i], widened", "", "exact", "", "Kept: ids are not checked."});
  return contracts;
}

}  // namespace kiln::conformance
