// Products with quantized weights under kiln's own names: fused_vector_<format> and
// fused_matrix_<format> with Q8_1, and fused_float_vector_<format> with floats. Also the kernels
// that sort tasks by expert for them (rank_experts and quantize_rows_q8_1_<T>), and those around
// other products: half_rows_<T>, join_products.
//
// Contract: the products are those of the ABI (quantized_products.cpp). With two matrices, the
// result is silu(first x) * (second x) of these products, rounded once to the type of the result.
#include "kiln/ops/fused_products.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/half_chunks.hpp"
#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/ranked_tasks.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

enum class Kind : std::uint8_t { kVector, kFloatVector, kMatrix };

struct Subject {
  Kind kind;
  BlockFormat format;
};
std::optional<Subject> subject_of(std::string_view kernel) {
#define KILN_ROW(format, suffix)                                \
  if (kernel == "fused_vector_" #suffix) {                      \
    return Subject{Kind::kVector, BlockFormat::k##format};      \
  }                                                             \
  if (kernel == "fused_float_vector_" #suffix) {                \
    return Subject{Kind::kFloatVector, BlockFormat::k##format}; \
  }                                                             \
  if (kernel == "fused_matrix_" #suffix) {                      \
    return Subject{Kind::kMatrix, BlockFormat::k##format};      \
  }
  KILN_EACH_FUSED(KILN_ROW)
#undef KILN_ROW
  return std::nullopt;
}

struct FusedCase {
  std::size_t rows, columns;
  bool is_pair = false;
  DType dst = DType::kF32, x = DType::kF32;
  std::size_t tasks = 1, tasks_of_vector = 1;
  std::size_t experts = 0;
  std::size_t padded = 0, x_stride = 0, dst_stride = 0;
  std::size_t misalignment = 0;  // of the blocks, in block units
  bool ends_memory = false;
  // Blocks of 32 x `waves` threads that stream rows, instead of the helpers' plan.
  std::uint32_t blocks = 0, waves = 4;
  std::uint32_t multiprocessors = 0;  // to plan a matrix for; 0: the default's, or with experts one
};

struct Data {
  std::vector<std::byte> matrices[2];  // those of the experts follow one another
  std::vector<Bits> x;                 // in the case's type, x_stride apart
  std::vector<std::byte> q8_1;         // a row for each vector
  std::vector<std::uint32_t> experts, order;
  std::vector<Bits> gates;  // for kMatrix, at the places of the results
  std::size_t padded = 0, x_stride = 0;
};

std::vector<std::byte> bytes_of_words(const std::vector<std::uint32_t>& values) {
  std::vector<std::byte> content(values.size() * sizeof(std::uint32_t));
  std::memcpy(content.data(), values.data(), content.size());
  return content;
}

std::size_t vectors_of(const FusedCase& choice) {
  return (choice.tasks + choice.tasks_of_vector - 1) / choice.tasks_of_vector;
}

std::size_t stride_of(const FusedCase& choice) {
  return choice.dst_stride != 0 ? choice.dst_stride : choice.rows;
}
std::size_t result_count(const FusedCase& choice) {
  return (choice.tasks - 1) * stride_of(choice) + choice.rows;
}

Data make_data(const Subject& of, const FusedCase& choice, Random& random) {
  Data data;
  const std::size_t matrices = std::max<std::size_t>(choice.experts, 1);
  const std::size_t blocks = matrices * choice.rows * choice.columns / ops::info(of.format).values;
  for (std::vector<std::byte>& each : data.matrices) {
    each = random_blocks(of.format, BlockKind::kUsual, blocks, random);
  }
  for (std::size_t t = 0; choice.experts != 0 && t < choice.tasks; ++t) {
    data.experts.push_back(static_cast<std::uint32_t>((2 + t * t) % choice.experts));
  }
  // A task that belongs to no tile.
  if (of.kind == Kind::kMatrix && choice.experts != 0) data.experts[1] = kNoExpert;
  data.order = ranked(data.experts, choice.experts);
  data.gates.resize(result_count(choice));
  for (Bits& each : data.gates)
    each = encode(DType::kF32, static_cast<Real>(random.uniform(-9, 9)));
  data.padded = choice.padded != 0 ? choice.padded : ops::padded_columns(choice.columns);
  data.x_stride = choice.x_stride != 0 ? choice.x_stride : choice.columns;
  const std::size_t vectors = vectors_of(choice);
  data.q8_1.resize(vectors * data.padded / 32 * kActivationBytes);
  for (std::size_t v = 0; v < vectors; ++v) {
    std::vector<float> row(std::max(data.padded, data.x_stride));
    static constexpr float kSizes[] = {1, 3, 1e-2f, 0, 0.3f};
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto uniform = static_cast<float>(random.uniform(-1, 1));
      const Real value = static_cast<Real>(uniform * kSizes[(j / 32 + v) % std::size(kSizes)]);
      const Bits bits = encode(choice.x, value);
      if (j < data.x_stride) data.x.push_back(bits);
      row[j] = static_cast<float>(decode(choice.x, bits));
    }
    for (std::size_t first = 0; first < data.padded; first += 32) {
      store(quantized(&row[first]), &data.q8_1[(v * data.padded + first) / 32 * kActivationBytes]);
    }
  }
  return data;
}

// A product and its permitted error.
struct Bounded {
  Real value, error;
};
Bounded product_of(const Subject& of, const FusedCase& choice, const Data& data,
                   const std::vector<std::byte>& matrix, std::size_t row, std::size_t vector) {
  const std::size_t bytes = ops::row_bytes(of.format, choice.columns);
  const QuantizedRow values = row_of_blocks(of.format, &matrix[row * bytes], choice.columns);
  const bool is_float = of.kind == Kind::kFloatVector;
  std::vector<float> x(choice.columns);
  for (std::size_t j = 0; is_float && j < x.size(); ++j) {
    x[j] = static_cast<float>(decode(choice.x, data.x[vector * data.x_stride + j]));
  }
  const ZeroPoint zero = of.kind == Kind::kVector ? ZeroPoint::kTimesSum : ZeroPoint::kFromQuants;
  const std::byte* const q8_1 =
      is_float ? nullptr : &data.q8_1[vector * data.padded / 32 * kActivationBytes];
  const Product right =
      is_float ? product(values, x.data()) : product(of.format, values, q8_1, zero);
  const std::size_t shared = of.kind == Kind::kVector ? 32 : 8;
  const auto depth = static_cast<Real>(choice.columns / shared + 16);
  return {right.value, depth * rounding_error(DType::kF32) * right.magnitude};
}

// silu(gate) * up. The slope of silu is below 1.1, and silu itself takes a few roundings.
Bounded joined(const Bounded& gate, const Bounded& up) {
  const Real opened = gate.value / (1 + std::exp(-gate.value));
  const Real of_gate = 1.1L * gate.error + 8 * rounding_error(DType::kF32) * std::fabs(opened);
  return {opened * up.value, of_gate * (std::fabs(up.value) + up.error) +
                                 std::fabs(opened) * up.error + 1e-36L * std::fabs(up.value) +
                                 rounding_error(DType::kF32) * std::fabs(opened * up.value)};
}

Operand result(const Subject& of, const FusedCase& choice, std::shared_ptr<const Data> data,
               Random& random) {
  const std::size_t stride = stride_of(choice);
  Operand dst{"dst", choice.dst, poison(result_count(choice) * size_of(choice.dst), random)};
  const std::vector<std::byte> before = dst.content;
  dst.expected = [=] {
    std::vector<Expected> expected = unchanged(choice.dst, before);
    for (std::size_t t = 0; t < choice.tasks; ++t) {
      const std::size_t expert = choice.experts == 0 ? 0 : data->experts[t];
      if (expert == kNoExpert) continue;
      for (std::size_t r = 0; r < choice.rows; ++r) {
        const auto of_matrix = [&](std::size_t which) {
          return product_of(of, choice, *data, data->matrices[which], expert * choice.rows + r,
                            t / choice.tasks_of_vector);
        };
        Bounded right = of_matrix(1);
        if (choice.is_pair && of.kind == Kind::kMatrix) {
          right = joined({decode(DType::kF32, data->gates[t * stride + r]), 0}, right);
        } else if (choice.is_pair) {
          right = joined(of_matrix(0), right);
        }
        expected[t * stride + r] = Expected::within(choice.dst, right.value, {0, 0, right.error});
      }
    }
    return expected;
  };
  return dst;
}

// The operands of a case, by name.
struct Places {
  const std::vector<void*>& addresses;
  const std::vector<std::string>& names;

  void* operator[](std::string_view name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? nullptr : addresses[static_cast<std::size_t>(at - names.begin())];
  }
};

Result<ops::Launch> plan_fused(const Subject& of, const FusedCase& choice, const Places& at) {
  const auto filled = [&](auto call) {
    call.format = of.format;
    call.rows = choice.rows;
    call.columns = choice.columns;
    call.weights = at["weights"];
    call.dst_dtype = choice.dst;
    call.dst_stride = choice.dst_stride;
    call.dst = at["dst"];
    return call;
  };
  if (of.kind == Kind::kMatrix) {
    auto call = filled(ops::FusedMatrix());
    call.gates = at["gates"];
    call.vectors = choice.tasks;
    call.padded = choice.padded;
    call.activations = at["vy"];
    call.experts = choice.experts;
    call.order = at["order"];
    call.tiles = at["tiles"];
    // On a GPU with one multiprocessor, which is full, tiles are large and blocks are small.
    const std::uint32_t multiprocessors = choice.experts != 0 ? 1 : 0;
    return plan(call,
                gpu_of(choice.multiprocessors != 0 ? choice.multiprocessors : multiprocessors));
  }
  if (of.kind == Kind::kVector) {
    auto call = filled(ops::FusedVector());
    call.gate = at["gate"];
    call.tasks = choice.tasks;
    call.tasks_of_vector = choice.tasks_of_vector;
    call.padded = choice.padded;
    call.activations = at["vy"];
    call.experts = at["experts"];
    Result<ops::Launch> launch = plan(call);
    if (launch && choice.blocks != 0) {
      launch->grid.x = choice.blocks;
      launch->block = {32, choice.waves, 1};
      launch->shared_bytes = streamed_bytes(of.format, choice.waves, choice.columns);
    }
    return launch;
  }
  auto call = filled(ops::FusedFloatVector());
  call.gate = at["gate"];
  call.tasks = choice.tasks;
  call.tasks_of_vector = choice.tasks_of_vector;
  call.x_dtype = choice.x;
  call.x_stride = choice.x_stride;
  call.x = at["x"];
  call.experts = at["experts"];
  return plan(call);
}

// Returns the activations of ranked tasks.
std::vector<std::byte> sorted_activations(const FusedCase& choice, const Data& data) {
  const std::size_t bytes = data.padded / 32 * kActivationBytes;
  std::vector<std::byte> content(choice.tasks * bytes);
  for (std::size_t i = 0; i < data.order.size(); ++i) {
    std::memcpy(&content[i * bytes], &data.q8_1[data.order[i] / choice.tasks_of_vector * bytes],
                bytes);
  }
  return content;
}

Case build(std::string name, const Subject& of, const FusedCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const auto data = std::make_shared<const Data>(make_data(of, choice, random));
  std::vector<std::string> names;
  const auto add = [&](std::string operand, DType dtype, std::vector<std::byte> content,
                       std::size_t misalignment = 0) {
    names.push_back(operand);
    made.operands.push_back(input(std::move(operand), dtype, std::move(content), misalignment));
    made.operands.back().ends_memory = choice.ends_memory;
  };
  const std::size_t unit = ops::info(of.format).bytes % 4 == 0 ? 4 : 2;
  const bool is_sorted = of.kind == Kind::kMatrix && choice.experts != 0;
  if (choice.is_pair && of.kind == Kind::kMatrix) {
    add("gates", DType::kF32, bytes_of(DType::kF32, data->gates));
  } else if (choice.is_pair) {
    add("gate", DType::kU8, data->matrices[0], choice.misalignment * unit);
  }
  add("weights", DType::kU8, data->matrices[1], choice.misalignment * unit);
  if (of.kind == Kind::kFloatVector) {
    add("x", choice.x, bytes_of(choice.x, data->x));
  } else {
    add("vy", DType::kU8, is_sorted ? sorted_activations(choice, *data) : data->q8_1);
  }
  if (is_sorted) {
    std::vector<std::uint32_t> order = data->order;
    order.resize(choice.tasks);
    add("order", DType::kU32, bytes_of_words(order));
    add("tiles", DType::kU32,
        bytes_of_words(tiles_of(data->experts, choice.experts, ops::kExpertTile)));
  } else if (choice.experts != 0) {
    add("experts", DType::kU32, bytes_of_words(data->experts));
  }
  made.operands.push_back(result(of, choice, data, random));
  names.emplace_back("dst");
  made.plan = [=](const std::vector<void*>& addresses) {
    return plan_fused(of, choice, Places{addresses, names});
  };
  return made;
}

FusedCase random_fused_case(const Subject& of, Draw& draw) {
  const std::size_t block = ops::info(of.format).values;
  const ops::Extents dims = draw.dims(2, 2, draw.max_terms() / 4 / block);
  FusedCase choice{.rows = dims[0], .columns = block * dims[1]};
  choice.is_pair = draw.one_in(2);
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  choice.dst = draw.one_of(kTypes);
  choice.ends_memory = draw.one_in(3);
  if (of.kind == Kind::kVector && draw.one_in(4)) {
    // Rows of Q6_K begin anywhere, and the matrix ends at a multiple of 16 bytes.
    choice.rows = 8 * draw.size(16);
    choice.columns = 2048 + 256 * draw.below(9);
    choice.blocks = static_cast<std::uint32_t>(draw.size(20));
    choice.waves = 2 * static_cast<std::uint32_t>(draw.between(1, 2));  // within 64 KiB
    return choice;
  }
  const std::size_t most = draw.max_terms() / (choice.rows * choice.columns);
  choice.tasks = draw.size(std::min<std::size_t>(most, of.kind == Kind::kMatrix ? 200 : 8));
  if (choice.tasks > 1 && draw.one_in(2)) choice.experts = draw.between(1, 9);
  if (of.kind != Kind::kMatrix || choice.experts != 0) {
    choice.tasks_of_vector = draw.size(choice.tasks);
  }
  if (of.kind == Kind::kFloatVector) {
    choice.x = draw.one_of(kTypes);
    if (draw.one_in(2)) choice.x_stride = choice.columns + 4 * draw.below(9);
  } else if (draw.one_in(2)) {
    choice.padded = choice.columns + 32 * draw.below(5);
  }
  if (draw.one_in(2)) choice.dst_stride = choice.rows + draw.below(9);
  choice.misalignment = draw.misalignment();
  choice.multiprocessors = draw.multiprocessors();
  return choice;
}

std::vector<FusedCase> cases_of_kind(const Subject& of, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_fused_case(of, *wanted.draw)};
  constexpr DType kF16 = DType::kF16, kBF16 = DType::kBF16;
  const std::size_t block = ops::info(of.format).values;
  const std::size_t odd = block == 32 ? 96 : 256, some = block == 32 ? 288 : 512;
  switch (of.kind) {
    case Kind::kVector:
      return {
          {.rows = 3, .columns = some, .dst = kF16},
          {.rows = 1, .columns = odd, .tasks = 2, .dst_stride = 4},
          {.rows = 5, .columns = odd, .is_pair = true, .dst = kBF16, .misalignment = 1},
          {.rows = 3,
           .columns = odd,
           .is_pair = true,
           .tasks = 4,
           .tasks_of_vector = 2,
           .experts = 3,
           .padded = odd,
           .dst_stride = 7,
           .ends_memory = true},
          // Rows that stream through shared memory in slices of 2048 columns, some of them partial.
          // Rows of Q6_K begin at any address. There are more rows than a block sums at once.
          {.rows = 56, .columns = 2304, .dst = kF16, .ends_memory = true, .blocks = 3},
          {.rows = 41, .columns = 4096, .is_pair = true, .dst = kBF16, .blocks = 5},
          {.rows = 24,
           .columns = 6400,
           .is_pair = true,
           .ends_memory = true,
           .blocks = 7,
           .waves = 2},
          {.rows = 1032, .columns = 2304, .blocks = 1}};
    case Kind::kFloatVector:
      return {
          {.rows = 3, .columns = some},
          {.rows = 1, .columns = odd, .is_pair = true, .x = kBF16, .tasks = 2},
          {.rows = 5, .columns = odd, .is_pair = true, .dst = kF16, .x = kF16, .misalignment = 1},
          {.rows = 3,
           .columns = odd,
           .dst = kBF16,
           .x = kBF16,
           .tasks = 4,
           .tasks_of_vector = 2,
           .experts = 3,
           .x_stride = odd + 4,
           .dst_stride = 7,
           .ends_memory = true}};
    case Kind::kMatrix: break;
  }
  return {
      {.rows = 17, .columns = odd, .dst = kF16, .tasks = 9, .misalignment = 1},
      {.rows = 1, .columns = block},
      {.rows = 35, .columns = some, .is_pair = true, .dst = kBF16, .tasks = 5, .dst_stride = 40},
      {.rows = 3,
       .columns = odd,
       .tasks = 70,
       .tasks_of_vector = 2,
       .experts = 2,
       .padded = odd,
       .ends_memory = true}};
}

std::string name_of(std::string_view kernel, const FusedCase& choice) {
  std::string text = std::string(kernel) + "/" + shape_name({choice.rows, choice.columns});
  if (choice.is_pair) text += "/pair";
  if (choice.tasks != 1) text += "/tasks=" + std::to_string(choice.tasks);
  if (choice.experts != 0) text += "/experts=" + std::to_string(choice.experts);
  text += "/" + std::string(ops::name(choice.x)) + "-to-" + std::string(ops::name(choice.dst));
  if (choice.ends_memory) text += "/at-the-end";
  return text + (choice.blocks != 0 ? "/streamed" : "");
}

// --- sorting tasks

Case build_ranks(std::string name, std::size_t tasks, std::size_t experts, std::size_t tile,
                 const Seed& seed) {
  const bool has_places = tile == ops::kHalfExpertTile;
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  std::vector<std::uint32_t> ids(tasks);
  for (std::uint32_t& each : ids) {
    each = static_cast<std::uint32_t>(random.below(static_cast<std::uint32_t>(experts) + 1));
    if (each == experts) each = kNoExpert + static_cast<std::uint32_t>(experts);
  }
  made.operands.push_back(input("experts", DType::kU32, bytes_of_words(ids)));
  made.operands.back().ends_memory = true;
  Operand order{"order", DType::kU32, poison(tasks * 4, random)};
  order.expected = [=] {
    std::vector<Expected> expected;
    for (const std::uint32_t each : ranked(ids, experts)) {
      expected.push_back(Expected::exactly(each));
    }
    expected.resize(tasks, Expected::exactly(0));
    return expected;
  };
  made.operands.push_back(std::move(order));
  Operand tiles{"tiles", DType::kU32, poison(ops::expert_tiles(tasks, experts, tile) * 12, random)};
  tiles.expected = [=] {
    std::vector<Expected> expected;
    for (const std::uint32_t each : tiles_of(ids, experts, tile)) {
      expected.push_back(Expected::exactly(each));
    }
    return expected;
  };
  made.operands.push_back(std::move(tiles));
  if (has_places) {
    Operand places{"places", DType::kU32, poison(tasks * 4, random)};
    places.expected = [=] {
      std::vector<Expected> expected(tasks, Expected::exactly(0xffffffff));
      const std::vector<std::uint32_t> tasks_in_order = ranked(ids, experts);
      const std::vector<std::size_t> vectors = half_vectors_of(ids, experts);
      for (std::size_t i = 0; i < tasks_in_order.size(); ++i) {
        expected[tasks_in_order[i]] = Expected::exactly(vectors[i]);
      }
      return expected;
    };
    made.operands.push_back(std::move(places));
  }
  made.plan = [=](const std::vector<void*>& addresses) {
    ops::RankExperts call;
    call.tasks = tasks;
    call.experts = experts;
    call.tile = tile;
    call.ids = addresses[0];
    call.order = addresses[1];
    call.tiles = addresses[2];
    if (has_places) call.places = addresses[3];
    return plan(call);
  };
  return made;
}

struct QuantizedRows {
  std::size_t rows, columns, padded;
  std::size_t each = 0;  // tasks of a row of x, in any order; 0: without an order

  std::string name(std::string_view kernel) const {
    return std::string(kernel) + "/" + shape_name({rows, columns}) +
           "/padded=" + std::to_string(padded) +
           (each != 0 ? "/ordered-by=" + std::to_string(each) : "/plain");
  }
};

Case build_rows(std::string name, DType dtype, const QuantizedRows& choice, const Seed& seed) {
  const std::size_t columns = choice.columns;
  const bool is_ordered = choice.each != 0;
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  std::vector<Bits> x(choice.rows * columns);
  for (Bits& each : x) each = encode(dtype, static_cast<Real>(random.uniform(-3, 3)));
  std::vector<std::uint32_t> order;
  for (std::size_t r = 0; is_ordered && r < choice.rows; ++r) {
    order.push_back(static_cast<std::uint32_t>(random.below(choice.rows * choice.each)));
  }
  made.operands.push_back(input("x", dtype, bytes_of(dtype, x), is_ordered ? 1 : 0));
  made.operands.back().ends_memory = true;
  if (is_ordered) made.operands.push_back(input("order", DType::kU32, bytes_of_words(order)));
  Operand vy{"vy", DType::kF16,
             poison(choice.rows * choice.padded / 32 * kActivationBytes, random)};
  vy.expected = [=] {
    std::vector<Expected> expected;
    for (std::size_t r = 0; r < choice.rows; ++r) {
      const std::size_t from = is_ordered ? order[r] / choice.each : r;
      for (std::size_t first = 0; first < choice.padded; first += 32) {
        float group[32] = {};
        Real sum = 0, magnitude = 0;
        for (std::size_t j = 0; j < 32 && first + j < columns; ++j) {
          const Real value = decode(dtype, x[from * columns + first + j]);
          group[j] = static_cast<float>(value);
          sum += value;
          magnitude += std::fabs(value);
        }
        std::byte block[kActivationBytes];
        store(quantized(group), block);
        for (std::size_t at = 0; at < kActivationBytes; at += 2) {
          expected.push_back(Expected::exactly(load(DType::kF16, block + at)));
        }
        expected[expected.size() - kActivationBytes / 2 + 1] = Expected::within(
            DType::kF16, sum, {0, 0, 31 * rounding_error(DType::kF32) * magnitude});
      }
    }
    return expected;
  };
  made.operands.push_back(std::move(vy));
  made.plan = [=](const std::vector<void*>& addresses) {
    ops::QuantizeRows call;
    call.dtype = dtype;
    call.rows = choice.rows;
    call.columns = columns;
    call.padded = choice.padded;
    call.x = addresses[0];
    call.order = is_ordered ? addresses[1] : nullptr;
    call.each = is_ordered ? choice.each : 1;
    call.out = addresses.back();
    return plan(call);
  };
  return made;
}

std::vector<QuantizedRows> quantized_rows(const Wanted& wanted) {
  if (wanted.draw == nullptr)
    return {{3, 70, 96}, {3, 70, 96, 2}, {3, 96, 96}, {3, 96, 96, 2}, {4097, 1000, 1024}};
  Draw& draw = *wanted.draw;
  const ops::Extents dims = draw.dims(2, 2);
  const std::size_t padded = (dims[1] + 31) / 32 * 32 + 32 * draw.below(4);
  return {{std::min(dims[0], kMaxActivationRows), dims[1], padded, draw.below(4)}};
}

struct Joining {
  bool is_pair, is_scaled;
  DType dtype;
  std::size_t rows, columns;
};
Joining random_joining(Draw& draw) {
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  const ops::Extents dims = draw.dims(2, 2);
  return {draw.one_in(2), draw.one_in(2), draw.one_of(kTypes), dims[0], dims[1]};
}
Case build_joined(std::string name, const Joining& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const std::size_t count = choice.rows * choice.columns;
  std::vector<Bits> of[2];
  for (std::vector<Bits>& each : of) {
    for (std::size_t i = 0; i < count; ++i) {
      each.push_back(encode(DType::kF32, static_cast<Real>(random.uniform(-99, 99))));
    }
  }
  std::vector<Bits> scales;
  for (std::size_t r = 0; r < choice.rows; ++r) {
    scales.push_back(encode(DType::kF32, choice.is_scaled && r % 2 == 0 ? 0.25L : 1));
  }
  if (choice.is_pair) {
    made.operands.push_back(input("gates", DType::kF32, bytes_of(DType::kF32, of[0])));
  }
  made.operands.push_back(input("values", DType::kF32, bytes_of(DType::kF32, of[1])));
  if (choice.is_scaled) {
    made.operands.push_back(input("scales", DType::kF32, bytes_of(DType::kF32, scales)));
  }
  Operand dst{"dst", choice.dtype, poison(count * size_of(choice.dtype), random)};
  dst.expected = [=, gates = of[0], values = of[1]] {
    std::vector<Expected> expected;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Real scale = decode(DType::kF32, scales[i / choice.columns]);
      Bounded right{scale * decode(DType::kF32, values[i]), 0};
      if (choice.is_pair) right = joined({scale * decode(DType::kF32, gates[i]), 0}, right);
      expected.push_back(Expected::within(choice.dtype, right.value, {0, 0, right.error}));
    }
    return expected;
  };
  made.operands.push_back(std::move(dst));
  made.plan = [=](const std::vector<void*>& addresses) {
    std::size_t next = 0;
    ops::JoinProducts call;
    call.rows = choice.rows;
    call.columns = choice.columns;
    if (choice.is_pair) call.gates = addresses[next++];
    call.values = addresses[next++];
    if (choice.is_scaled) call.scales = addresses[next++];
    call.dst_dtype = choice.dtype;
    call.dst = addresses[next];
    return plan(call);
  };
  return made;
}

// The largest magnitude of a row, and the power of two that half_rows multiplies it by.
struct HalfRow {
  double largest;
  int exponent;
};
constexpr HalfRow kHalfRows[] = {
    {1, 0},          {0x1p-6, 0},     {0x1.fep-7, 21}, {65504, 0}, {65505, -1}, {0x1.fep127, -113},
    {0x1p-120, 126}, {0x1p-126, 126}, {0x1p-24, 38},   {0, 0}};
std::vector<HalfRow> half_rows_of(DType dtype) {
  std::vector<HalfRow> rows;
  for (const HalfRow& row : kHalfRows) {
    const bool is_of_f16 = row.largest == 0 || (row.largest >= 0x1p-24 && row.largest <= 65504);
    if (dtype != DType::kF16 || is_of_f16) rows.push_back(row);
  }
  return rows;
}

// Makes the case of a HalfRows call whose inputs are in `made`: x and, if present, places.
Case with_half_rows(Case made, ops::HalfRows call, Operand out, const std::vector<Expected>& halves,
                    Operand scales, const std::vector<Expected>& of_scales) {
  for (Operand& each : made.operands) each.ends_memory = true;
  const bool has_places = made.operands.size() == 2;
  out.expected = [=] { return halves; };
  scales.expected = [=] { return of_scales; };
  made.operands.push_back(std::move(out));
  made.operands.push_back(std::move(scales));
  made.plan = [=](const std::vector<void*>& addresses) {
    ops::HalfRows placed = call;
    placed.x = addresses[0];
    if (has_places) placed.places = addresses[1];
    placed.out = addresses[addresses.size() - 2];
    placed.scales = addresses[addresses.size() - 1];
    return plan(placed);
  };
  return made;
}

// Rows of x in the order of the experts of their tasks. Two of three rows have a factor.
Case build_half_task_rows(std::string name, DType dtype, std::size_t columns, const Seed& seed) {
  constexpr std::size_t kEach = 2, kTasks = 150, kExperts = 4;
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  std::vector<std::uint32_t> ids(kTasks, 1);  // more than a tile for expert 1, none for 2
  ids[0] = 3;
  ids[1] = kNoExpert;
  for (const std::size_t t : {7, 9, 140}) ids[t] = 0;
  const std::vector<std::uint32_t> order = ranked(ids, kExperts);
  const std::vector<std::size_t> places = half_vectors_of(ids, kExperts);
  // Magnitudes between 2^power and twice that, which the factor scales to 2^14 to 2^15. For power 0
  // the factor is 1.
  const int powers[] = {0, -10, dtype == DType::kF16 ? -12 : 20};
  const auto power = [powers](std::size_t row) { return powers[row % 3]; };
  const auto exponent = [power](std::size_t row) { return power(row) == 0 ? 0 : 14 - power(row); };
  std::vector<Bits> x;
  for (std::size_t i = 0; i < kTasks / kEach * columns; ++i) {
    const Real magnitude = static_cast<Real>(random.uniform(1, 1.99));
    x.push_back(encode(dtype, std::ldexp(magnitude, power(i / columns))));
  }
  const std::size_t rows = ops::half_task_rows(kTasks, kExperts);
  const HalfChunks chunks(columns);
  Operand out{"out", DType::kF16, poison(chunks.values(rows) * 2, random)};
  Operand undone{"scales", DType::kF32, poison(rows * 4, random)};
  std::vector<Expected> halves = unchanged(DType::kF16, out.content);
  std::vector<Expected> scales = unchanged(DType::kF32, undone.content);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t row = order[i] / kEach;
    for (std::size_t c = 0; c < chunks.columns; ++c) {
      const Real value = c < columns ? decode(dtype, x[row * columns + c]) : 0;
      halves[chunks.place(places[i], c)] =
          Expected::within(DType::kF16, std::ldexp(value, exponent(row)), {});
    }
    scales[places[i]] = Expected::exactly(encode(DType::kF32, std::ldexp(Real{1}, -exponent(row))));
  }
  made.operands.push_back(input("x", dtype, bytes_of(dtype, x)));
  std::vector<std::uint32_t> of_tasks(kTasks, 0xffffffff);
  for (std::size_t i = 0; i < order.size(); ++i) {
    of_tasks[order[i]] = static_cast<std::uint32_t>(places[i]);
  }
  made.operands.push_back(input("places", DType::kU32, bytes_of_words(of_tasks)));
  ops::HalfRows call;
  call.dtype = dtype;
  call.rows = kTasks / kEach;
  call.columns = columns;
  call.each = kEach;
  call.in_chunks = true;
  return with_half_rows(std::move(made), call, std::move(out), halves, std::move(undone), scales);
}

Case build_half_rows(std::string name, DType dtype, std::size_t columns, bool is_special,
                     bool in_chunks, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const std::vector<HalfRow> rows = half_rows_of(dtype);
  const std::size_t count = rows.size();
  const HalfChunks chunks(columns);
  std::vector<Bits> x;
  const auto place = [&](std::size_t v, std::size_t column) {
    return in_chunks ? chunks.place(v, column) : v * columns + column;
  };
  const std::size_t values = in_chunks ? chunks.values(count) : count * columns;
  Operand out{"out", DType::kF16, poison(values * 2, random)};
  std::vector<Expected> halves = unchanged(DType::kF16, out.content), scales;
  const Real infinity = std::numeric_limits<Real>::infinity();
  for (std::size_t v = 0; v < count; ++v) {
    const HalfRow& row = rows[v];
    const Bits largest = encode(dtype, static_cast<Real>(row.largest));
    // bf16 rounds 65504 and 65505 to 2^16.
    const int exponent = decode(dtype, largest) == 65536 ? -2 : row.exponent;
    const Real factor = std::ldexp(Real{1}, exponent);
    const std::size_t of_largest = random.below(columns);
    for (std::size_t i = 0; i < columns; ++i) {
      Bits bits = encode(dtype, static_cast<Real>(random.uniform(-1, 1) * row.largest * 0.99));
      if (i == of_largest) bits = encode(dtype, static_cast<Real>(-row.largest));
      if (is_special && i == (of_largest + 1) % columns) bits = encode(dtype, infinity);
      if (is_special && i == (of_largest + 2) % columns) bits = encode(dtype, -infinity);
      if (is_special && i == (of_largest + 3) % columns) bits = encode(dtype, std::nanl(""));
      x.push_back(bits);
      halves[place(v, i)] = Expected::within(DType::kF16, decode(dtype, bits) * factor, {});
    }
    for (std::size_t i = columns; in_chunks && i < chunks.columns; ++i) {
      halves[place(v, i)] = Expected::exactly(0);
    }
    scales.push_back(Expected::exactly(encode(DType::kF32, 1 / factor)));
  }
  made.operands.push_back(input("x", dtype, bytes_of(dtype, x)));
  Operand undone{"scales", DType::kF32, poison(count * 4, random)};
  ops::HalfRows call;
  call.dtype = dtype;
  call.rows = count;
  call.columns = columns;
  call.in_chunks = in_chunks;
  return with_half_rows(std::move(made), call, std::move(out), halves, std::move(undone), scales);
}

}  // namespace

bool add_fused_product_cases(std::string_view kernel, const Wanted& wanted,
                             std::vector<CaseSpec>& cases) {
  Draw* const draw = wanted.draw;
  if (kernel == "rank_experts") {
    std::vector<std::pair<std::size_t, std::size_t>> sizes = {{1, 1}, {5, 3}, {200, 4}, {300, 2}};
    if (draw != nullptr) sizes = {{draw->size(3000), draw->size(70)}};
    for (const std::size_t tile : {ops::kExpertTile, ops::kHalfExpertTile}) {
      for (const auto& [tasks, experts] : sizes) {
        const std::string name =
            "rank_experts/" + shape_name({tasks, experts}) + "/by-" + std::to_string(tile);
        cases.push_back(
            {name, tasks * experts, [=, tasks = tasks, experts = experts](const Seed& seed) {
               return build_ranks(name, tasks, experts, tile, seed);
             }});
      }
    }
    return true;
  }
  if (kernel == "join_products") {
    std::vector<Joining> list;
    for (const bool is_pair : {false, true}) {
      for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
        list.push_back({is_pair, false, dtype, 1, 300});
        list.push_back({is_pair, true, dtype, 3, 4100});
        list.push_back({is_pair, true, dtype, 5, 77});
      }
    }
    if (draw != nullptr) list = {random_joining(*draw)};
    for (const Joining& choice : list) {
      const std::string name = "join_products/" + shape_name({choice.rows, choice.columns}) +
                               (choice.is_pair ? "/gates/" : "/") +
                               std::string(ops::name(choice.dtype));
      cases.push_back({name, choice.rows * choice.columns,
                       [=](const Seed& seed) { return build_joined(name, choice, seed); }});
    }
    return true;
  }
  if (const auto parts = split_dtype(kernel); parts && parts->root == "half_rows") {
    std::vector<std::size_t> of_tasks = {70, 5000}, of_rows = {7, 96, 5000};
    if (draw != nullptr) {
      of_tasks = {draw->size(draw->limit() / 150)};
      of_rows = {3 + draw->size(draw->limit() / 10)};
    }
    for (const std::size_t columns : of_tasks) {
      const std::string name = std::string(kernel) + "/tasks/" + std::to_string(columns);
      cases.push_back({name, 150 * columns, [=, dtype = parts->dtype](const Seed& seed) {
                         return build_half_task_rows(name, dtype, columns, seed);
                       }});
    }
    for (const std::size_t columns : of_rows) {
      for (const bool is_special : {false, true}) {
        for (const bool in_chunks : {false, true}) {
          const std::size_t rows = half_rows_of(parts->dtype).size();
          const std::string name = std::string(kernel) + "/" + shape_name({rows, columns}) +
                                   (is_special ? "/special" : "/finite") +
                                   (in_chunks ? "/chunks" : "/rows");
          cases.push_back({name, rows * columns, [=, dtype = parts->dtype](const Seed& seed) {
                             return build_half_rows(name, dtype, columns, is_special, in_chunks,
                                                    seed);
                           }});
        }
      }
    }
    return true;
  }
  if (const auto parts = split_dtype(kernel); parts && parts->root == "quantize_rows_q8_1") {
    for (const QuantizedRows& choice : quantized_rows(wanted)) {
      const std::string name = choice.name(kernel);
      cases.push_back(
          {name, choice.rows * choice.columns, [=, dtype = parts->dtype](const Seed& seed) {
             return build_rows(name, dtype, choice, seed);
           }});
    }
    return true;
  }
  const std::optional<Subject> of = subject_of(kernel);
  if (!of) return false;
  for (const FusedCase& choice : cases_of_kind(*of, wanted)) {
    const std::string name = name_of(kernel, choice);
    cases.push_back({name, choice.columns * choice.rows * choice.tasks / 4,
                     [=](const Seed& seed) { return build(name, *of, choice, seed); }});
  }
  return true;
}

Contracts fused_product_contracts() {
  const std::string in = "f32; whole numbers in runs of one scale";
  const std::string special = "NaN and infinities: not said";
  const std::string pair =
      "With two matrices silu(first x) (second x). Results of f32, f16 or bf16, as the launch "
      "says.";
  Contracts contracts;
#define KILN_ROW(format, suffix)                                                                   \
  contracts.push_back({"fused_vector_" #suffix, "as mul_mat_vec, of a task's expert", in,          \
                       "as mul_mat_vec; of a pair what both come to, and 8 half units", special,   \
                       pair});                                                                     \
  contracts.push_back({"fused_float_vector_" #suffix, "Σ w x of each row, of a task's expert",     \
                       "f32",                                                                      \
                       "as dequantize_mul_mat_vec; of a pair what both come to, and 8 "            \
                       "half units",                                                               \
                       special, pair + " Activations the same, and not quantized."});              \
  contracts.push_back({"fused_matrix_" #suffix, "as mul_mat, of tiles of an expert's tasks", in,   \
                       "as mul_mat; with gates 8 half units more", special,                        \
                       "With gates silu(gate) times the product. Results of f32, f16 or bf16, as " \
                       "the launch says."});
  KILN_EACH_FUSED(KILN_ROW)
#undef KILN_ROW
  contracts.push_back({"quantize_rows_q8_1", "as quantize_q8_1, of rows order[i] / each", "f32",
                       "as quantize_q8_1", "as quantize_q8_1", "A name of our own."});
  contracts.push_back({"join_products", "x, or silu(gate) x, of both times their row's scale",
                       "f32", "8 half units", special, "A name of our own."});
  contracts.push_back(
      {"half_rows", "x times a power of two for each row, as f16; at places[i] row i / each", "f32",
       "half a unit; the powers are exact", "NaN and infinities stay, and do not choose the power",
       "A name of our own. The power is 1 for rows of largest magnitude 0 or 2^-6 to "
       "65504; else it makes that 2^14 to 2^15, or is 2^126."});
  contracts.push_back(
      {"rank_experts",
       "the tasks by expert, tiles of tasks of one expert, and places for half_rows", "", "exact",
       "a task of no expert is in no tile and has no place",
       "A name of our own. Equal ones keep their order."});
  return contracts;
}

}  // namespace kiln::conformance
