// half_matrix_<format>: products of quantized weights with many vectors of f16.
//
// Contract: the scale and the offset of each weight, and the weight itself, are rounded to f16. The
// rest is computed in f32 and rounded once to the type of the result.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "kiln/ops/fused_products.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/half_chunks.hpp"
#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/ranked_tasks.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

std::optional<BlockFormat> format_of(std::string_view kernel) {
#define KILN_ROW(format, suffix) \
  if (kernel == "half_matrix_" #suffix) return BlockFormat::k##format;
  KILN_EACH_FUSED(KILN_ROW)
#undef KILN_ROW
  return std::nullopt;
}

// The experts of the tasks.
enum class Ids : std::uint8_t {
  kMixed,  // four experts: a third for 3, most for 1, few for 0, none for 2; one task for none
  kOne,    // all for the last but one
  kFew     // one or two for each, none for every third
};

struct HalfCase {
  std::size_t rows, columns, vectors;  // with experts, vectors are tasks
  DType dst = DType::kF32;
  bool has_gates = false, has_scales = false;
  std::size_t dst_stride = 0;
  std::size_t misalignment = 0;  // of the blocks, in block units
  bool ends_memory = false;
  bool by_one_block = false;  // one block computes tile after tile
  std::size_t experts = 0;
  Ids ids = Ids::kMixed;
};

std::vector<std::uint32_t> experts_of(const HalfCase& choice) {
  std::vector<std::uint32_t> experts;
  for (std::size_t t = 0; choice.experts != 0 && t < choice.vectors; ++t) {
    std::size_t id = choice.experts - 2;
    if (choice.ids == Ids::kMixed) id = t == 1 ? kNoExpert : t % 3 == 0 ? 3 : t % 17 == 5 ? 0 : 1;
    if (choice.ids == Ids::kFew) id = 5 * t % choice.experts / 3 * 3;
    experts.push_back(static_cast<std::uint32_t>(id));
  }
  return experts;
}

// Returns the error of rounding a number to f16.
Real half_error(Real value) { return std::max(std::fabs(value) * 0x1p-11L, Real{0x1p-25L}); }

// Returns the permitted error of a weight in f16.
Real weight_error(const QuantizedValue& weight, bool has_offset) {
  const Real of_scale = half_error(weight.scale) * std::abs(weight.quant - weight.zero);
  const Real of_offset = has_offset ? half_error(weight.offset) : 0;
  return of_scale + of_offset + half_error(weight.value());
}

struct Data {
  std::vector<std::byte> weights;
  std::vector<Bits> x, gates, scales;  // for each task
  std::vector<std::uint32_t> experts, order;
  std::vector<std::size_t> places;  // places of the vectors of `order`
};

Data make_data(BlockFormat format, const HalfCase& choice, std::size_t results, Random& random) {
  Data data;
  const std::size_t matrices = std::max<std::size_t>(choice.experts, 1);
  const std::size_t blocks = matrices * choice.rows * choice.columns / ops::info(format).values;
  data.experts = experts_of(choice);
  data.order = ranked(data.experts, choice.experts);
  data.places = half_vectors_of(data.experts, choice.experts);
  for (std::size_t v = 0; choice.experts == 0 && v < choice.vectors; ++v) {
    data.order.push_back(static_cast<std::uint32_t>(v));
    data.places.push_back(v);
  }
  data.weights = random_blocks(format, BlockKind::kUsual, blocks, random);
  for (std::size_t i = 0; i < choice.vectors * choice.columns; ++i) {
    static constexpr double kSizes[] = {1, 3, 1e-2, 0, 0.3};
    const double size = kSizes[(i / 32 + i / choice.columns) % std::size(kSizes)];
    data.x.push_back(encode(DType::kF16, static_cast<Real>(random.uniform(-1, 1) * size)));
  }
  for (std::size_t i = 0; choice.has_gates && i < results; ++i) {
    data.gates.push_back(encode(DType::kF32, static_cast<Real>(random.uniform(-9, 9))));
  }
  for (std::size_t v = 0; choice.has_scales && v < choice.vectors; ++v) {
    const int power = v % 3 == 0 ? 0 : static_cast<int>(v % 7) - 3;
    data.scales.push_back(encode(DType::kF32, std::ldexp(Real{1}, power)));
  }
  return data;
}

// Returns the number of vectors that kernels are given.
std::size_t vectors_of(const HalfCase& choice) {
  return choice.experts == 0 ? choice.vectors : ops::half_task_rows(choice.vectors, choice.experts);
}

// Returns x in the layout of the kernels. Vectors after the last one, and between those of experts,
// are NaN.
std::vector<std::byte> in_chunks(const HalfCase& choice, const Data& data) {
  const HalfChunks chunks(choice.columns);
  std::vector<Bits> values(chunks.values(vectors_of(choice)), encode(DType::kF16, std::nanl("")));
  for (std::size_t i = 0; i < data.order.size(); ++i) {
    const Bits* const x = &data.x[data.order[i] * choice.columns];
    for (std::size_t c = 0; c < chunks.columns; ++c) {
      values[chunks.place(data.places[i], c)] = c < choice.columns ? x[c] : Bits{0};
    }
  }
  return bytes_of(DType::kF16, values);
}
std::vector<std::byte> scales_in_order(const HalfCase& choice, const Data& data) {
  std::vector<Bits> values(vectors_of(choice), encode(DType::kF32, std::nanl("")));
  for (std::size_t i = 0; i < data.order.size(); ++i) {
    values[data.places[i]] = data.scales[data.order[i]];
  }
  return bytes_of(DType::kF32, values);
}

// The weights of a row, and the permitted error of each in f16.
struct Row {
  std::vector<Real> values, errors;
};
Row row_at(BlockFormat format, const std::byte* blocks, std::size_t columns) {
  Row row;
  for (const QuantizedValue& weight : row_of_blocks(format, blocks, columns)) {
    row.values.push_back(weight.value());
    row.errors.push_back(weight_error(weight, has_offset(format)));
  }
  return row;
}

// Returns the product of a row with vector `v`, whose elements are `x`.
Expected result_of(const HalfCase& choice, const Data& data, const Row& row, const Real* x,
                   std::size_t v, std::size_t at) {
  Real value = 0, magnitude = 0, error = 0;
  for (std::size_t j = 0; j < choice.columns; ++j) {
    const Real term = row.values[j] * x[j];
    value += term;
    magnitude += std::fabs(term);
    error += row.errors[j] * std::fabs(x[j]);
  }
  // Each half of 32 terms takes one or several additions, which may truncate instead of rounding.
  error += 2 * static_cast<Real>(choice.columns / 8 + 16) * rounding_error(DType::kF32) * magnitude;
  if (choice.has_scales) {
    const Real scale = decode(DType::kF32, data.scales[v]);
    value *= scale;
    error *= scale;
  }
  if (choice.has_gates) {
    const Real gate = decode(DType::kF32, data.gates[at]);
    const Real opened = gate / (1 + std::exp(-gate));
    value *= opened;
    error = std::fabs(opened) * error + 9 * rounding_error(DType::kF32) * std::fabs(value);
  }
  return Expected::within(choice.dst, value, {0, 0, error});
}

Case build(std::string name, BlockFormat format, const HalfCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const std::size_t stride = choice.dst_stride != 0 ? choice.dst_stride : choice.rows;
  const std::size_t results = (choice.vectors - 1) * stride + choice.rows;
  const auto data = std::make_shared<const Data>(make_data(format, choice, results, random));
  const auto bytes_of_words = [](const std::vector<std::uint32_t>& values) {
    return bytes_of(DType::kU32, std::vector<Bits>(values.begin(), values.end()));
  };
  const auto add = [&](const char* operand, DType dtype, std::vector<std::byte> content,
                       std::size_t misalignment) {
    made.operands.push_back(input(operand, dtype, std::move(content), misalignment));
    made.operands.back().ends_memory = choice.ends_memory;
  };
  const std::size_t unit = ops::info(format).bytes % 4 == 0 ? 4 : 2;
  add("weights", DType::kU8, data->weights, choice.misalignment * unit);
  add("x", DType::kF16, in_chunks(choice, *data), 0);
  if (choice.has_gates) add("gates", DType::kF32, bytes_of(DType::kF32, data->gates), 0);
  if (choice.has_scales) add("scales", DType::kF32, scales_in_order(choice, *data), 0);
  if (choice.experts != 0) {
    std::vector<std::uint32_t> order = data->order;
    order.resize(choice.vectors);
    add("order", DType::kU32, bytes_of_words(order), 0);
    const auto tiles = tiles_of(data->experts, choice.experts, ops::kHalfExpertTile);
    add("tiles", DType::kU32, bytes_of_words(tiles), 0);
  }
  Operand dst{"dst", choice.dst, poison(results * size_of(choice.dst), random)};
  dst.expected = [=, before = dst.content] {
    std::vector<Expected> expected = unchanged(choice.dst, before);
    const std::size_t bytes = ops::row_bytes(format, choice.columns);
    const std::size_t matrices = std::max<std::size_t>(choice.experts, 1);
    std::vector<Real> x;
    for (const Bits each : data->x) x.push_back(decode(DType::kF16, each));
    for (std::size_t n = 0; n < matrices * choice.rows; ++n) {
      const Row row = row_at(format, &data->weights[n * bytes], choice.columns);
      for (std::size_t v = 0; v < choice.vectors; ++v) {
        if (choice.experts != 0 && data->experts[v] != n / choice.rows) continue;
        const std::size_t at = v * stride + n % choice.rows;
        expected[at] = result_of(choice, *data, row, &x[v * choice.columns], v, at);
      }
    }
    return expected;
  };
  made.operands.push_back(std::move(dst));
  made.plan_for = [=](const std::vector<void*>& addresses, const ops::Gpu& gpu) {
    std::size_t next = 0;
    ops::HalfMatrix call;
    call.format = format;
    call.rows = choice.rows;
    call.columns = choice.columns;
    call.vectors = choice.vectors;
    call.weights = addresses[next++];
    call.x = addresses[next++];
    if (choice.has_gates) call.gates = addresses[next++];
    if (choice.has_scales) call.scales = addresses[next++];
    call.experts = choice.experts;
    if (choice.experts != 0) {
      call.order = addresses[next++];
      call.tiles = addresses[next++];
    }
    call.dst = addresses[next];
    call.dst_dtype = choice.dst;
    call.dst_stride = choice.dst_stride;
    // Blocks are large if they fill the device.
    ops::Gpu small = gpu;
    if (choice.rows > 64) small.multiprocessors = 1;
    Result<ops::Launch> launch = plan(call, small);
    if (launch && choice.by_one_block) launch->grid = {1, 1, 1};
    return launch;
  };
  return made;
}

HalfCase random_half_case(BlockFormat format, Draw& draw) {
  const std::size_t block = ops::info(format).values;
  const ops::Extents dims = draw.dims(2, 2, draw.max_terms() / 4 / block);
  HalfCase choice{.rows = dims[0], .columns = block * dims[1], .vectors = 1};
  const std::size_t most = draw.max_terms() / (choice.rows * choice.columns);
  choice.vectors = draw.size(std::min<std::size_t>(most, 300));
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  choice.dst = draw.one_of(kTypes);
  choice.has_gates = draw.one_in(2);
  choice.has_scales = draw.one_in(2);
  if (draw.one_in(2)) choice.dst_stride = choice.rows + draw.below(9);
  choice.misalignment = draw.misalignment();
  choice.ends_memory = draw.one_in(3);
  choice.by_one_block = draw.one_in(4);
  if (draw.one_in(2)) {
    constexpr Ids kIds[] = {Ids::kMixed, Ids::kOne, Ids::kFew};
    choice.ids = draw.one_of(kIds);
    choice.experts = choice.ids == Ids::kMixed ? 4 : draw.between(2, 12);
  }
  return choice;
}

std::vector<HalfCase> cases_of_format(BlockFormat format, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_half_case(format, *wanted.draw)};
  const bool is_short = ops::info(format).values == 32;
  const std::size_t odd = is_short ? 96 : 256, some = is_short ? 288 : 512;
  const std::size_t many = is_short ? 1056 : 1280;
  return {{.rows = 17, .columns = odd, .vectors = 9, .dst = DType::kF16, .misalignment = 1},
          {.rows = 1, .columns = ops::info(format).values, .vectors = 1},
          {.rows = 70,
           .columns = some,
           .vectors = 70,
           .dst = DType::kBF16,
           .has_gates = true,
           .dst_stride = 76},
          {.rows = 131, .columns = some, .vectors = 33, .has_gates = true, .has_scales = true},
          {.rows = 300, .columns = some, .vectors = 140, .by_one_block = true},
          {.rows = 3,
           .columns = many,
           .vectors = 130,
           .dst = DType::kF16,
           .has_scales = true,
           .ends_memory = true},
          {.rows = 35, .columns = odd, .vectors = 300, .dst = DType::kF16, .experts = 4},
          {.rows = 70,
           .columns = some,
           .vectors = 130,
           .dst = DType::kBF16,
           .has_gates = true,
           .has_scales = true,
           .dst_stride = 76,
           .experts = 3,
           .ids = Ids::kOne},
          {.rows = 131,
           .columns = odd,
           .vectors = 12,
           .has_scales = true,
           .misalignment = 1,
           .ends_memory = true,
           .by_one_block = true,
           .experts = 10,
           .ids = Ids::kFew}};
}

}  // namespace

bool add_half_product_cases(std::string_view kernel, const Wanted& wanted,
                            std::vector<CaseSpec>& cases) {
  const std::optional<BlockFormat> format = format_of(kernel);
  if (!format) return false;
  for (const HalfCase& choice : cases_of_format(*format, wanted)) {
    const std::string name =
        std::string(kernel) + "/" + shape_name({choice.rows, choice.columns, choice.vectors}) +
        (choice.experts != 0 ? "/experts=" + std::to_string(choice.experts) : "") +
        (choice.has_gates ? "/gates" : "") + (choice.has_scales ? "/scales" : "") +
        (choice.by_one_block ? "/one-block" : "") + "/" + std::string(ops::name(choice.dst)) +
        (choice.ends_memory ? "/at-the-end" : "");
    cases.push_back({name, choice.rows * choice.columns * choice.vectors / 4,
                     [=](const Seed& seed) { return build(name, *format, choice, seed); }});
  }
  return true;
}

Contracts half_product_contracts() {
  Contracts contracts;
#define KILN_ROW(format, suffix)                                                                  \
  contracts.push_back({"half_matrix_" #suffix,                                                    \
                       "Σ w x of each row, of x in f16, of tiles of an expert's tasks", "f32",    \
                       "half a unit of f16 of each weight, its scale and its offset; with gates " \
                       "8 half units more",                                                       \
                       "weights beyond 65504 are infinite; NaN and infinities: not said",         \
                       "A name of our own. With scales times that of the vector, with gates "     \
                       "silu(gate) times the product. Results of f32, f16 or bf16, as the "       \
                       "launch says."});
  KILN_EACH_FUSED(KILN_ROW)
#undef KILN_ROW
  return contracts;
}

}  // namespace kiln::conformance
