// Products of a matrix of blocks with vectors: dequantize_mul_mat_vec_<format> with f32, and
// mul_mat_vec_<format>_q8_1_cuda<vectors>, mul_mat_<format>, held_vectors_<format> and
// indexed_moe_forward_<format>_q8_1 with Q8_1.
//
// Contract: the exact product with the f32 values, or with the given blocks of Q8_1, except for the
// roundings of a sum in f32. Any number of rows and vectors; columns in whole blocks; activations
// with any padding, of any finite values; any stride of the results.
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/tuning/quantized.hpp"
#include "kiln/ops/quantized.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/quantized_blocks.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

using ops::Geometry;

enum class Kind : std::uint8_t { kF32, kVectors, kMatrix, kHeld, kMoe };

struct Subject {
  Kind kind;
  BlockFormat format;
  std::size_t vectors = 1;  // for kVectors
};

std::optional<Subject> subject_of(std::string_view kernel) {
#define KILN_ROW(format, suffix, ...)                   \
  if (kernel == "dequantize_mul_mat_vec_" #suffix) {    \
    return Subject{Kind::kF32, BlockFormat::k##format}; \
  }
  KILN_EACH_DEQUANTIZE_MUL_MAT_VEC(KILN_ROW)
  KILN_EACH_DEQUANTIZE_MUL_MAT_VEC_OF_GRID(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix)                          \
  if (kernel == "indexed_moe_forward_" #suffix "_q8_1") { \
    return Subject{Kind::kMoe, BlockFormat::k##format};   \
  }
  KILN_EACH_INDEXED_MOE(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix, ...)                                                      \
  if (kernel == "mul_mat_" #suffix) return Subject{Kind::kMatrix, BlockFormat::k##format}; \
  if (kernel.substr(0, kernel.size() - 1) == "mul_mat_vec_" #suffix "_q8_1_cuda") {        \
    return Subject{Kind::kVectors, BlockFormat::k##format,                                 \
                   static_cast<std::size_t>(kernel.back() - '0')};                         \
  }
  KILN_EACH_MUL_MAT(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix) \
  if (kernel == "held_vectors_" #suffix) return Subject{Kind::kHeld, BlockFormat::k##format};
  KILN_EACH_HELD(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix)                            \
  if (kernel == "mul_mat_vec_" #suffix "_q8_1_cuda1") {     \
    return Subject{Kind::kVectors, BlockFormat::k##format}; \
  }
  KILN_EACH_OWN_FORMAT(KILN_ROW)
#undef KILN_ROW
  return std::nullopt;
}

struct ProductCase {
  std::size_t rows, columns;
  std::size_t vectors = 1;  // for kMatrix and kHeld
  std::size_t padded = 0;   // padded columns of the activations
  std::size_t dst_stride = 0;
  Geometry geometry = Geometry::kOwn;
  BlockKind kind = BlockKind::kUsual;
  std::size_t misalignment = 0;  // of the blocks in block units, of floats in elements
  bool ends_memory = false;
  std::uint32_t blocks = 0;  // along x, of 32 x `waves` threads, instead of the geometry's
  std::uint32_t waves = 1;
  bool is_published = false;  // 0, 1, 2, ... times itself
  // For kMoe.
  std::size_t batches = 0, slots = 0;
  ops::MoeInputs inputs = ops::MoeInputs::kOfBatch;
  std::uint32_t multiprocessors = 0;  // to plan for; 0: the default's
};

// Returns the number of roundings that a term passes through. Either eight threads share a row,
// each of which adds integers of sixteen values or more, or single values; or one thread adds the
// whole row.
Real depth(Kind kind, std::size_t columns) {
  const bool is_shared = kind == Kind::kVectors || kind == Kind::kMoe;
  return static_cast<Real>(columns / (is_shared ? 32 : 8) + 16);
}

// Returns activations that differ in size from block to block; some are 0.
float activation_at(std::size_t j, Random& random) {
  const auto uniform = static_cast<float>(random.uniform(-1, 1));
  static constexpr float kSizes[] = {1, 30, 1e-3f, 1, 0, 3, 1};
  return uniform * kSizes[j / 32 % std::size(kSizes)];
}

struct Data {
  std::vector<std::byte> weights;
  std::vector<float> x;         // rows of columns
  std::vector<std::byte> q8_1;  // rows of padded / 32 blocks
  std::vector<std::uint32_t> experts;
  std::size_t padded = 0;
};

// Returns blocks of 32 values, counting from 0, as Q4_0, quantized as in GGUF files.
std::vector<std::byte> published_weights(std::size_t columns) {
  std::vector<std::byte> content;
  for (std::size_t first = 0; first < columns; first += 32) {
    const float d = static_cast<float>(first + 31) / -8;
    const auto quant = [&](std::size_t j) {
      return std::min(15, static_cast<int>(static_cast<float>(first + j) / d + 8.5f));
    };
    std::byte block[18];
    store(DType::kF16, encode(DType::kF16, static_cast<Real>(d)), block);
    for (std::size_t j = 0; j < 16; ++j) {
      block[2 + j] = static_cast<std::byte>(quant(j) | quant(j + 16) << 4);
    }
    content.insert(content.end(), block, block + sizeof block);
  }
  return content;
}

constexpr std::size_t kExperts = 3;

Data make_data(const Subject& of, const ProductCase& choice, Random& random) {
  Data data;
  const std::size_t experts = of.kind == Kind::kMoe ? kExperts : 1;
  const std::size_t blocks = experts * choice.rows * choice.columns / ops::info(of.format).values;
  data.weights = choice.is_published ? published_weights(choice.columns)
                                     : random_blocks(of.format, choice.kind, blocks, random);
  std::size_t vectors = choice.vectors;
  if (of.kind == Kind::kVectors) vectors = of.vectors;
  if (of.kind == Kind::kMoe) {
    const std::size_t tasks = choice.batches * choice.slots;
    vectors = choice.inputs == ops::MoeInputs::kOfBatch ? choice.batches : tasks;
    for (std::size_t t = 0; t < tasks; ++t) {
      data.experts.push_back(static_cast<std::uint32_t>((2 + 2 * t) % kExperts));
    }
  }
  data.padded = choice.padded != 0 ? choice.padded : ops::padded_columns(choice.columns);
  data.q8_1.resize(vectors * data.padded / 32 * kActivationBytes);
  for (std::size_t v = 0; v < vectors; ++v) {
    for (std::size_t j = 0; j < choice.columns; ++j) {
      data.x.push_back(choice.is_published ? static_cast<float>(j)
                                           : activation_at(j + 32 * v, random));
    }
    // quantize_q8_1 pads with 0, but no kernel may rely on it.
    for (std::size_t first = 0; first < data.padded; first += 32) {
      float group[32];
      for (std::size_t j = 0; j < 32; ++j) {
        group[j] = first < choice.columns ? data.x[v * choice.columns + first + j]
                                          : static_cast<float>(random.uniform(-9, 9));
      }
      store(quantized(group), &data.q8_1[(v * data.padded + first) / 32 * kActivationBytes]);
    }
  }
  return data;
}

// Returns the permitted values of element (vector or task, row) of the result.
Expected expected_of(const Subject& of, const ProductCase& choice, const QuantizedRow& row,
                     const Data& data, std::size_t vector) {
  if (choice.is_published) {
    const Real value = of.kind == Kind::kF32 ? 5561851.0L : 5561664.5L;
    return Expected::exactly(encode(DType::kF32, value));
  }
  const std::byte* const activations =
      of.kind == Kind::kF32 ? nullptr : &data.q8_1[vector * data.padded / 32 * kActivationBytes];
  const bool is_centered = of.kind == Kind::kMatrix || of.kind == Kind::kHeld;
  const ZeroPoint zero = is_centered ? ZeroPoint::kFromQuants : ZeroPoint::kTimesSum;
  const Product right = of.kind == Kind::kF32 ? product(row, data.x.data())
                                              : product(of.format, row, activations, zero);
  const Real error = depth(of.kind, choice.columns) * rounding_error(DType::kF32) * right.magnitude;
  return Expected::within(DType::kF32, right.value, {0, 0, error});
}

Operand result(const Subject& of, const ProductCase& choice, std::shared_ptr<const Data> data,
               Random& random) {
  const std::size_t columns = choice.columns;
  const std::size_t row_bytes = ops::row_bytes(of.format, columns);
  const std::size_t stride = choice.dst_stride != 0 ? choice.dst_stride : choice.rows;
  std::size_t results = choice.vectors;
  if (of.kind == Kind::kVectors) results = of.vectors;
  if (of.kind == Kind::kMoe) results = data->experts.size();
  Operand dst{"dst", DType::kF32, poison(((results - 1) * stride + choice.rows) * 4, random)};
  const std::vector<std::byte> before = dst.content;
  dst.expected = [=] {
    std::vector<Expected> expected = unchanged(DType::kF32, before);
    const std::size_t experts = of.kind == Kind::kMoe ? kExperts : 1;
    std::vector<QuantizedRow> rows;
    for (std::size_t r = 0; r < experts * choice.rows; ++r) {
      rows.push_back(row_of_blocks(of.format, &data->weights[r * row_bytes], columns));
    }
    for (std::size_t v = 0; v < results; ++v) {
      const std::size_t expert = of.kind == Kind::kMoe ? data->experts[v] : 0;
      const bool is_shared = of.kind == Kind::kMoe && choice.inputs == ops::MoeInputs::kOfBatch;
      const std::size_t vector = is_shared ? v / choice.slots : v;
      for (std::size_t r = 0; r < choice.rows; ++r) {
        expected[v * stride + r] =
            expected_of(of, choice, rows[expert * choice.rows + r], *data, vector);
      }
    }
    return expected;
  };
  return dst;
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> content(values.size() * sizeof(T));
  std::memcpy(content.data(), values.data(), content.size());
  return content;
}

template <typename Call>
Call matrix_call(const Subject& of, const ProductCase& choice) {
  Call call;
  call.format = of.format;
  call.rows = choice.rows;
  call.columns = choice.columns;
  call.geometry = choice.geometry;
  return call;
}

Result<ops::Launch> plan_product(const Subject& of, const ProductCase& choice,
                                 const std::vector<void*>& addresses, const ops::Gpu& gpu) {
  const auto with_q8_1 = [&](auto call) {
    call.weights = addresses[0];
    call.activations = addresses[1];
    call.dst = addresses.back();
    call.padded = choice.padded;
    return call;
  };
  switch (of.kind) {
    case Kind::kF32: {
      auto call = matrix_call<ops::DequantizeMulMatVec>(of, choice);
      call.weights = addresses[0];
      call.x = addresses[1];
      call.dst = addresses[2];
      return plan(call);
    }
    case Kind::kVectors: {
      auto call = with_q8_1(matrix_call<ops::MulMatVec>(of, choice));
      call.vectors = of.vectors;
      call.dst_stride = choice.dst_stride;
      return plan(call);
    }
    case Kind::kMatrix: {
      auto call = with_q8_1(matrix_call<ops::MulMat>(of, choice));
      call.vectors = choice.vectors;
      call.dst_stride = choice.dst_stride;
      return plan(call, gpu_of(choice.multiprocessors));
    }
    case Kind::kHeld: {
      ops::HeldVectors call;
      call.format = of.format;
      call.rows = choice.rows;
      call.columns = choice.columns;
      call = with_q8_1(call);
      call.vectors = choice.vectors;
      call.dst_stride = choice.dst_stride;
      return plan(call, gpu_of(choice.multiprocessors, gpu));
    }
    case Kind::kMoe: break;
  }
  auto call = with_q8_1(matrix_call<ops::IndexedMoe>(of, choice));
  call.batches = choice.batches;
  call.slots = choice.slots;
  call.inputs = choice.inputs;
  call.experts = addresses[2];
  return plan(call);
}

Case build(std::string name, const Subject& of, const ProductCase& choice, const Seed& seed) {
  Random random(seed.own);
  Case made;
  made.name = std::move(name);
  const auto data = std::make_shared<const Data>(make_data(of, choice, random));
  const std::size_t unit = ops::info(of.format).bytes % 4 == 0 ? 4 : 2;
  made.operands.push_back(input("vx", DType::kU8, data->weights, choice.misalignment * unit));
  if (of.kind == Kind::kF32) {
    made.operands.push_back(input("y", DType::kF32, bytes_of(data->x), choice.misalignment));
  } else {
    made.operands.push_back(input("vy", DType::kU8, data->q8_1));
  }
  if (of.kind == Kind::kMoe) {
    made.operands.push_back(input("indices", DType::kU32, bytes_of(data->experts)));
  }
  for (Operand& operand : made.operands) operand.ends_memory = choice.ends_memory;
  made.operands.push_back(result(of, choice, data, random));
  const auto plan_on = [=](const std::vector<void*>& addresses, const ops::Gpu& gpu) {
    Result<ops::Launch> launch = plan_product(of, choice, addresses, gpu);
    if (launch && choice.blocks != 0) {
      launch->grid.x = choice.blocks;
      launch->block = {32, choice.waves, 1};
      // Devices that do not hold vectors need no shared memory.
      if (launch->shared_bytes != 0) launch->shared_bytes = held_bytes(of.format, choice.waves);
    }
    return launch;
  };
  made.plan = [=](const std::vector<void*>& addresses) { return plan_on(addresses, {}); };
  if (of.kind == Kind::kHeld) made.plan_for = plan_on;
  return made;
}

ProductCase random_product(const Subject& of, Draw& draw) {
  const bool is_held = of.kind == Kind::kHeld;
  const std::size_t unit = is_held ? tuning::kHeldColumns : ops::info(of.format).values;
  const ops::Extents dims = draw.dims(2, 2, draw.max_terms() / 2 / unit);
  ProductCase choice{.rows = dims[0], .columns = unit * dims[1]};
  if (is_held) choice.vectors = draw.between(1, 8);
  if (of.kind == Kind::kMatrix) {
    choice.vectors = draw.size(draw.max_terms() / (choice.rows * choice.columns));
  }
  if (of.kind != Kind::kF32 && draw.one_in(2)) {
    const std::size_t step = is_held ? 128 : 32;
    choice.padded = choice.columns + step * draw.below(5);
  }
  const bool has_stride = of.kind != Kind::kMoe && of.kind != Kind::kF32;
  if (has_stride && draw.one_in(2)) choice.dst_stride = choice.rows + draw.below(9);
  if (!is_held && draw.one_in(2)) choice.geometry = Geometry::kReference;
  choice.multiprocessors = draw.multiprocessors();
  if (draw.one_in(3)) choice.kind = BlockKind::kSpecial;
  if (!is_held) choice.misalignment = draw.misalignment();
  choice.ends_memory = draw.one_in(3);
  const bool is_counted = of.kind == Kind::kF32 && of.format == BlockFormat::kQ5_K;
  if (!is_counted && draw.one_in(4)) {
    choice.blocks = static_cast<std::uint32_t>(draw.size(20));
    const std::size_t waves = is_held                    ? 4 * draw.between(1, 2)
                              : of.kind == Kind::kMatrix ? draw.between(4, 11)
                                                         : draw.between(1, 4);
    choice.waves = static_cast<std::uint32_t>(waves);
  }
  if (of.kind == Kind::kMoe) {
    choice.batches = draw.between(1, 4);
    choice.slots = draw.between(1, 4);
    if (draw.one_in(2)) choice.inputs = ops::MoeInputs::kOfTask;
  }
  // Held matrices end at multiples of 16 bytes.
  while (is_held && ops::row_bytes(of.format, choice.columns) * choice.rows % 16 != 0) {
    ++choice.rows;
    if (choice.dst_stride != 0) ++choice.dst_stride;
  }
  return choice;
}

std::vector<ProductCase> cases_of_kind(const Subject& of, const Wanted& wanted) {
  if (wanted.draw != nullptr) return {random_product(of, *wanted.draw)};
  constexpr auto kReference = Geometry::kReference;
  constexpr auto kOwn = Geometry::kOwn;
  constexpr auto kSpecial = BlockKind::kSpecial;
  const std::size_t block = ops::info(of.format).values;
  // Not a multiple of 64 or 128 if blocks are small, and a size in which some threads have no part.
  const std::size_t odd = block == 32 ? 96 : 256, some = block == 32 ? 288 : 512;
  constexpr std::size_t kShared = 1024;  // rows of more columns are shared by the waves of a block
  std::vector<ProductCase> list;
  switch (of.kind) {
    case Kind::kF32:
      list = {{.rows = 3, .columns = some},
              {.rows = 1, .columns = odd, .geometry = kReference, .ends_memory = true},
              {.rows = 5, .columns = odd, .kind = kSpecial, .misalignment = 1},
              {.rows = 2, .columns = 2 * some, .ends_memory = true},
              {.rows = 3, .columns = 3 * some, .geometry = kReference}};
      // For Q5_K, the grid determines the rows.
      if (of.format != BlockFormat::kQ5_K) {
        list.push_back({.rows = 5, .columns = some, .blocks = 2, .waves = 4});
      }
      if (of.format == BlockFormat::kQ4_0) {
        list.push_back({.rows = 1, .columns = 256, .geometry = kReference, .is_published = true});
      }
      break;
    case Kind::kVectors:
      list = {
          {.rows = 3, .columns = some},
          {.rows = 5, .columns = odd, .dst_stride = 7, .geometry = kReference, .kind = kSpecial},
          {.rows = 1,
           .columns = odd,
           .padded = odd,
           .geometry = kReference,
           .misalignment = 1,
           .ends_memory = true},
          {.rows = 7,
           .columns = odd,
           .padded = 2 * odd,
           .ends_memory = true,
           .blocks = 2,
           .waves = 3}};
      // Rows that the waves of a block share, and more rows than count as few.
      list.push_back({.rows = 6, .columns = kShared + block});
      if (of.vectors == 1) {
        list.push_back({.rows = 9, .columns = kShared + block, .geometry = kReference});
        list.push_back({.rows = tuning::kFewRows + 3, .columns = kShared + block});
      }
      if (of.vectors > 4 && block > 32) {
        list.push_back({.rows = 6, .columns = block, .geometry = kReference});
        list.push_back({.rows = 7, .columns = kShared + block, .geometry = kReference});
        list.push_back({.rows = tuning::kRowsWithoutUnits + 5, .columns = 3 * block});
      }
      // So many rows that each wave, or each half of a block, has its own on any GPU.
      if (of.format == BlockFormat::kQ4_0 && (of.vectors == 1 || of.vectors == 3)) {
        list.push_back({.rows = 8450, .columns = kShared + block, .geometry = kReference});
      }
      if (of.format == BlockFormat::kQ2_K && of.vectors == 3) {
        list.push_back({.rows = 2050, .columns = kShared + block, .geometry = kReference});
      }
      if (of.format == BlockFormat::kQ4_0 && of.vectors == 1) {
        list.push_back({.rows = 1, .columns = 256, .geometry = kReference, .is_published = true});
      }
      break;
    case Kind::kMatrix: {
#define KILN_ROW(name, suffix, tile_rows, tile_vectors) \
  if (of.format == BlockFormat::k##name) rows = tile_rows, vectors = tile_vectors;
      std::size_t rows = 0, vectors = 0;
      KILN_EACH_MUL_MAT(KILN_ROW)
#undef KILN_ROW
      list = {{.rows = 17, .columns = odd, .vectors = 33},
              {.rows = rows + 1,
               .columns = some,
               .vectors = 3,
               .dst_stride = rows + 4,
               .geometry = kReference},
              {.rows = 34,
               .columns = some,
               .vectors = vectors + 1,
               .geometry = kReference,
               .kind = kSpecial},
              {.rows = 1,
               .columns = block,
               .padded = block,
               .geometry = kReference,
               .misalignment = 1,
               .ends_memory = true}};
      // Tiles by blocks with more threads than work.
      list.push_back({.rows = 70, .columns = some, .vectors = 66, .blocks = 2, .waves = 6});
      list.push_back({.rows = 70, .columns = some, .vectors = 9, .blocks = 1, .waves = 11});
      break;
    }
    case Kind::kHeld:
      // Blocks with one tile, with several, and with more than they sum at once; columns that take
      // several passes, and one; waves without columns; rows that are whole lines, and parts of
      // one.
      list = {
          {.rows = 24, .columns = 1280, .vectors = 5, .blocks = 2, .waves = 4},
          {.rows = 40,
           .columns = 2304,
           .vectors = 8,
           .dst_stride = 43,
           .ends_memory = true,
           .blocks = 1,
           .waves = 8},
          {.rows = 248, .columns = 768, .vectors = 1, .blocks = 2, .waves = 4},
          {.rows = 128, .columns = 768, .vectors = 2, .ends_memory = true, .blocks = 1, .waves = 4},
          {.rows = 40, .columns = 512, .vectors = 3, .kind = kSpecial},
          {.rows = 24, .columns = 1024, .vectors = 4, .padded = 1152, .blocks = 2, .waves = 8},
          {.rows = 17, .columns = 2048, .vectors = 6, .blocks = 2, .waves = 4},
          {.rows = 40, .columns = 4096, .vectors = 7, .ends_memory = true}};
      break;
    case Kind::kMoe:
      list = {{.rows = 5, .columns = odd, .batches = 2, .slots = 2},
              {.rows = 3,
               .columns = some,
               .geometry = kReference,
               .kind = kSpecial,
               .batches = 2,
               .slots = 3,
               .inputs = ops::MoeInputs::kOfTask},
              {.rows = 1,
               .columns = odd,
               .padded = odd,
               .geometry = kReference,
               .misalignment = 1,
               .ends_memory = true,
               .batches = 1,
               .slots = 1},
              {.rows = 4,
               .columns = odd,
               .padded = 2 * odd,
               .geometry = kOwn,
               .ends_memory = true,
               .blocks = 3,
               .waves = 2,
               .batches = 3,
               .slots = 1,
               .inputs = ops::MoeInputs::kOfTask},
              {.rows = 6, .columns = kShared + block, .batches = 1, .slots = 2},
              // Blocks beyond the last row, with any number of waves.
              {.rows = 282, .columns = 2048, .geometry = kReference, .batches = 2, .slots = 3},
              {.rows = 282, .columns = 2048, .blocks = 282, .waves = 3, .batches = 2, .slots = 3}};
      break;
  }
  return list;
}

std::string name_of(std::string_view kernel, const Subject& of, const ProductCase& choice) {
  std::string text = std::string(kernel) + "/" + shape_name({choice.rows, choice.columns});
  if (of.kind == Kind::kMatrix || of.kind == Kind::kHeld) {
    text += "/vectors=" + std::to_string(choice.vectors);
  }
  if (of.kind == Kind::kMoe) {
    text += "/tasks=" + shape_name({choice.batches, choice.slots});
    if (choice.inputs == ops::MoeInputs::kOfTask) text += "/input-each";
  }
  if (choice.is_published) text += "/published";
  if (choice.padded != 0) text += "/padded=" + std::to_string(choice.padded);
  if (choice.dst_stride != 0) text += "/dst-stride=" + std::to_string(choice.dst_stride);
  if (choice.kind == BlockKind::kSpecial) text += "/special";
  if (choice.misalignment != 0) text += "/offset=" + std::to_string(choice.misalignment);
  if (choice.ends_memory) text += "/at-the-end";
  if (choice.blocks != 0) {
    return text + "/grid=" + std::to_string(choice.blocks) + "x32x" + std::to_string(choice.waves);
  }
  text += choice.geometry == Geometry::kOwn ? "/own" : "/reference";
  return choice.multiprocessors == 0 ? text
                                     : text + "-of-" + std::to_string(choice.multiprocessors);
}

// Returns the approximate number of threads. A whole tile is counted, however few rows and vectors
// it has.
std::size_t work_of(const Subject& of, const ProductCase& choice) {
  const std::size_t threads = choice.rows * (choice.geometry == Geometry::kOwn ? 32 : 128);
  if (of.kind == Kind::kMatrix) {
    const std::size_t tiles = (choice.rows + 63) / 64 * ((choice.vectors + 63) / 64);
    return (choice.columns + 255) / 256 * 1200 * tiles;
  }
  return of.kind == Kind::kMoe ? threads * choice.batches * choice.slots : threads;
}

}  // namespace

bool add_quantized_product_cases(std::string_view kernel, const Wanted& wanted,
                                 std::vector<CaseSpec>& cases) {
  const std::optional<Subject> of = subject_of(kernel);
  if (!of) return false;
  for (const ProductCase& choice : cases_of_kind(*of, wanted)) {
    const std::string name = name_of(kernel, *of, choice);
    cases.push_back({name, work_of(*of, choice),
                     [=](const Seed& seed) { return build(name, *of, choice, seed); }});
  }
  return true;
}

Contracts quantized_product_contracts() {
  // The error of 8-bit activations in addition to the roundings, for each value and for each 32
  // values.
  const std::string of_quants = "8 bits: abs scale quant max abs x / 226 for each value";
  const std::string of_zero = of_quants + ", abs scale zero abs Σ x / 2048";
  const std::string of_offset = of_quants + ", abs offset abs Σ x / 2048";
  const std::string of_pairs =
      "8 bits: abs (scale quant) + abs offset, max abs x / 226 for each value";
  const auto roundings = [](const std::string& n) {
    return "(n / " + n + " + 16) half units of Σ abs terms";
  };
  const auto has_zero = [](BlockFormat format) {
    return format == BlockFormat::kQ4_0 || format == BlockFormat::kQ5_0;
  };
  const auto bound = [&](BlockFormat format, const std::string& n) {
    const std::string first = roundings(n) + "; ";
    if (format == BlockFormat::kQ2_K) return first + of_pairs;
    if (has_offset(format)) return first + of_offset;
    return first + (has_zero(format) ? of_zero : of_quants);
  };
  const auto formula = [&](BlockFormat format) -> std::string {
    if (format == BlockFormat::kQ2_K) return "Σ scale Σ quant d q + offset Σ d q";
    if (has_offset(format)) return "Σ scale Σ quant d q + offset s";
    return has_zero(format) ? "Σ scale (Σ quant d q - zero s)" : "Σ scale Σ quant d q";
  };
  // A product with many vectors gets the zero point from the quants.
  const auto matrix_formula = [&](BlockFormat format) -> std::string {
    return has_zero(format) ? "Σ scale Σ (quant - zero) d q" : formula(format);
  };
  const auto matrix_bound = [&](BlockFormat format) {
    if (!has_zero(format)) return bound(format, "8");
    return roundings("8") + "; 8 bits: abs scale (quant - zero) max abs x / 226 for each value";
  };
  const std::string in = "whole numbers in runs of one scale, f32 across them";
  const std::string finite = "NaN and infinities: not said";
  Contracts contracts;
#define KILN_ROW(format, suffix, ...)                                                 \
  contracts.push_back({"dequantize_mul_mat_vec_" #suffix, "Σ w x of each row", "f32", \
                       roundings("8"), finite, "Mended: any number of whole blocks a row."});
  KILN_EACH_DEQUANTIZE_MUL_MAT_VEC(KILN_ROW)
  KILN_EACH_DEQUANTIZE_MUL_MAT_VEC_OF_GRID(KILN_ROW)
#undef KILN_ROW
  contracts.back().notes += " Kept: it is not told the number of rows, which is the grid's.";
#define KILN_ROW(format, suffix, ...)                                                            \
  contracts.push_back({"mul_mat_vec_" #suffix "_q8_1_cuda", formula(BlockFormat::k##format), in, \
                       bound(BlockFormat::k##format, "32"), finite,                              \
                       "1 to 8 vectors. Mended: odd numbers of rows with 2 to 8 vectors."});     \
  contracts.push_back({"mul_mat_" #suffix, matrix_formula(BlockFormat::k##format), in,           \
                       matrix_bound(BlockFormat::k##format), finite, "Any number of vectors."});
  KILN_EACH_MUL_MAT(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix)                                                        \
  contracts.push_back({"held_vectors_" #suffix, "as mul_mat", in, "as mul_mat", finite, \
                       "1 to 8 vectors, of aligned rows of a multiple of 256 columns."});
  KILN_EACH_HELD(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix)                                                                 \
  contracts.push_back({"mul_mat_vec_" #suffix "_q8_1_cuda", formula(BlockFormat::k##format), in, \
                       bound(BlockFormat::k##format, "32"), finite, "Of one vector."});
  KILN_EACH_OWN_FORMAT(KILN_ROW)
#undef KILN_ROW
#define KILN_ROW(format, suffix)                                                                \
  contracts.push_back({"indexed_moe_forward_" #suffix "_q8_1", formula(BlockFormat::k##format), \
                       in, bound(BlockFormat::k##format, "32"), finite,                         \
                       "The row's expert is indices[task], its activation that of its batch "   \
                       "(input_dim1 1) or its own."});
  KILN_EACH_INDEXED_MOE(KILN_ROW)
#undef KILN_ROW
  contracts.back().notes += " Mended: the stride of experts.";
  return contracts;
}

}  // namespace kiln::conformance
