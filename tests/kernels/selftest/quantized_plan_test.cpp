// The launches of the quantized kernels: in the reference geometry, in kiln's own geometry, and
// those that are refused.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "base/diagnostic.hpp"
#include "kiln/ops/quantized_matmul.hpp"

namespace kiln::ops {
namespace {

std::string message(const Result<Launch>& launch) {
  REQUIRE_FALSE(launch);
  return launch.error().message;
}
std::string note(const Result<Launch>& launch) {
  REQUIRE_FALSE(launch);
  REQUIRE_FALSE(launch.error().notes.empty());
  return launch.error().notes.front().text;
}
std::vector<std::int64_t> numbers(const Launch& launch, std::size_t from) {
  std::vector<std::int64_t> values;
  for (std::size_t i = from; i < launch.arguments.size(); ++i) {
    std::int64_t value = 0;
    std::memcpy(&value, launch.arguments.at(i).data(), launch.arguments.at(i).size());
    values.push_back(value);
  }
  return values;
}
// Returns the launches in the reference geometry and in kiln's own geometry.
template <typename Call>
std::string both(Call call) {
  call.geometry = Geometry::kReference;
  const auto reference = plan(call);
  call.geometry = Geometry::kOwn;
  const auto own = plan(call);
  REQUIRE(reference);
  REQUIRE(own);
  return to_string(*reference) + " " + to_string(*own);
}

TEST_CASE("plan of a quantization pads rows to 512 values") {
  QuantizeQ8_1 call;
  call.rows = 3;
  call.columns = 700;
  CHECK(both(call) ==
        "quantized.quantize_q8_1<<<4x3, 256>>> quantized.quantize_q8_1<<<1x3, 256>>>");
  CHECK(numbers(*plan(call), 2) == std::vector<std::int64_t>{700, 1024});
  CHECK(q8_1_bytes(3, 700) == 3 * 32 * 36);
  call.padded = 704;
  CHECK(numbers(*plan(call), 2) == std::vector<std::int64_t>{700, 704});
  call.padded = 672;
  CHECK(message(plan(call)) == "activations of 700 values are padded to 672");
  call.padded = 720;
  CHECK(note(plan(call)) == "whole blocks of 32 values hold them all");
  call.padded = 0;
  call.rows = 65536;
  CHECK(message(plan(call)) == "65536 rows are more than a launch has blocks for");
}

TEST_CASE("plan of a dequantization says the number of blocks as the kernel reads it") {
  DequantizeBlocks call;
  call.count = 7 * 256;
  CHECK(both(call) ==
        "quantized.dequantize_block_q4_0_f32<<<7, 32>>> "
        "quantized.dequantize_block_q4_0_f32<<<7, 32>>>");
  CHECK(numbers(*plan(call), 2) == std::vector<std::int64_t>{56});
  call.format = BlockFormat::kQ5_1;
  call.dtype = DType::kF16;
  CHECK(numbers(*plan(call), 2) == std::vector<std::int64_t>{1792});
  // For more than 2^17 bytes, kiln's own geometry has fewer blocks.
  call.count = 256 * 256;
  CHECK(both(call) ==
        "quantized.dequantize_block_q5_1_f16<<<128, 256>>> "
        "quantized.dequantize_block_q5_1_f16<<<128, 256>>>");
  call.count = 257 * 256;
  CHECK(both(call) ==
        "quantized.dequantize_block_q5_1_f16<<<129, 256>>> "
        "quantized.dequantize_block_q5_1_f16<<<33, 256>>>");
  // A thread block of kiln's own geometry handles several blocks of values, a number that divides
  // theirs.
  call.format = BlockFormat::kQ6_K;
  call.count = 17 * 256;
  CHECK(both(call) ==
        "quantized.dequantize_block_q6_K_f16<<<17, 64>>> "
        "quantized.dequantize_block_q6_K_f16<<<17, 64>>>");
  call.count = 20 * 256;
  CHECK(both(call) ==
        "quantized.dequantize_block_q6_K_f16<<<20, 64>>> "
        "quantized.dequantize_block_q6_K_f16<<<5, 256>>>");
  call.format = BlockFormat::kQ8_K;
  CHECK(both(call) ==
        "quantized.dequantize_block_q8_K_f16<<<20, 32>>> "
        "quantized.dequantize_block_q8_K_f16<<<5, 128>>>");
  // For large tensors, blocks extend along y, with a thread for 16 or 32 values.
  DequantizeBlocks large = call;
  large.count = std::size_t{1} << 20;
  CHECK(to_string(*plan(large)) == "quantized.dequantize_block_q8_K_f16<<<512, 32x8>>>");
  large.format = BlockFormat::kQ6_K;
  CHECK(to_string(*plan(large)) == "quantized.dequantize_block_q6_K_f16<<<128, 8x32>>>");
  large.dtype = DType::kF32;
  CHECK(to_string(*plan(large)) == "quantized.dequantize_block_q6_K_f32<<<256, 16x16>>>");
  CHECK(plan(call)->arguments.size() == 2);
  call.count = 300;
  CHECK(message(plan(call)) == "tensors of 300 values are no whole blocks of Q8_K");
  CHECK(note(plan(call)) == "a block has 256 values");
  call.dtype = DType::kBF16;
  CHECK(message(plan(call)) == "no kernel of 'dequantize_block' takes 'bf16'");
  // The kernel counts values for Q5_0, blocks for Q4_0, and neither for Q4_K.
  call.dtype = DType::kF32;
  call.count = std::size_t{1} << 31;
  call.format = BlockFormat::kQ5_0;
  CHECK(message(plan(call)) == "2147483648 values are more than the kernel counts");
  call.format = BlockFormat::kQ4_0;
  CHECK(plan(call));
}

TEST_CASE("plan of rows by ids caps the blocks of a row") {
  GetRows call;
  call.count = 5;
  call.columns = 4096;
  CHECK(both(call) ==
        "quantized.get_rows_q4_0<<<5x8, 256>>> quantized.get_rows_q4_0<<<5x8, 256>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{4096, 128 * 18});
  call.format = BlockFormat::kQ4_K;
  call.row_bytes = 5000;
  CHECK(both(call) ==
        "quantized.get_rows_q4_K<<<5x16, 32>>> quantized.get_rows_q4_K<<<5x2, 256>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{4096, 5000});
  call.count = 1024;  // many values: fewer blocks for each row
  CHECK(both(call) ==
        "quantized.get_rows_q4_K<<<1024x16, 32>>> quantized.get_rows_q4_K<<<1024, 256>>>");
  call.columns = std::size_t{256} << 16;
  call.geometry = Geometry::kReference;
  CHECK(plan(call)->grid.y == 65535);
  call.format = BlockFormat::kQ8_K;
  CHECK(message(plan(call)) == "no kernel of 'get_rows' takes blocks of Q8_K");
  CHECK(note(plan(call)) == "it takes Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K");
  GetFloatRows floats;
  floats.dtype = DType::kBF16;
  floats.count = 2;
  floats.columns = 300;
  CHECK(both(floats) ==
        "quantized.get_rows_bf16<<<2x2, 256>>> quantized.get_rows_bf16<<<2x2, 256>>>");
  CHECK(numbers(*plan(floats), 3) == std::vector<std::int64_t>{300, 600});
}

TEST_CASE("plan of a product with an f32 vector leaves out the rows of Q5_K") {
  DequantizeMulMatVec call;
  call.rows = 7;
  call.columns = 512;
  CHECK(to_string(*plan(call)) == "quantized.dequantize_mul_mat_vec_q4_0_cuda<<<7, 32x4>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{512, 7});
  call.format = BlockFormat::kQ5_K;
  CHECK(to_string(*plan(call)) == "quantized.dequantize_mul_mat_vec_q5_k<<<7, 32x4>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{512});
}

TEST_CASE("the fifth argument of the original's host is dropped for Q5_K alone") {
  Launch launch;
  launch.module = "quantized";
  launch.arguments.resize(5);
  for (const char* kernel : {"dequantize_mul_mat_vec_q5_k", "dequantize_mul_mat_vec_q4_k"}) {
    launch.kernel = kernel;
    Launch fitted = launch;
    drop_fifth_argument(fitted);
    CHECK(fitted.arguments.size() == (kernel[std::strlen(kernel) - 3] == '5' ? 4 : 5));
    drop_fifth_argument(fitted);
    CHECK(fitted.arguments.size() >= 4);
  }
}

std::string text(const QuantizedMatmul& call, const Gpu& gpu = {}) {
  const auto planned = plan(call, gpu);
  REQUIRE(planned);
  return to_string(*planned);
}

TEST_CASE("quantized_matmul chooses by shape, types and format, and says what") {
  QuantizedMatmul call;
  call.format = BlockFormat::kQ4_K;
  call.rows = 14336;
  call.columns = 4096;
  call.gate = reinterpret_cast<const void*>(16);
  call.out_dtype = DType::kF16;
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4, 256>>>: activations as Q8_1\n"
        "quantized.fused_vector_q4_K<<<264, 32x8>>>: silu(gate) * product as f16");
  call.rows = 1024;
  CHECK(text(call) ==
        "quantized.fused_float_vector_q4_K<<<512, 32x2>>>: silu(gate) * product as f16");
  call.x = reinterpret_cast<const void*>(4);  // not aligned
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4, 256>>>: activations as Q8_1\n"
        "quantized.fused_vector_q4_K<<<512, 32x2>>>: silu(gate) * product as f16");
  call.rows = 14336;
  call.vectors = 4;
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4x4, 256>>>: activations as Q8_1\n"
        "quantized.held_vectors_q4_K<<<132, 32x16>>>: gates\n"
        "quantized.held_vectors_q4_K<<<132, 32x16>>>: product as f32\n"
        "quantized.join_products<<<57, 256>>>: silu(gate) * product as f16");
  // Two launches by vectors are faster than one by tiles, if the first holds its vectors or there
  // are few rows.
  call.vectors = 11;
  call.gate = nullptr;
  call.out_dtype = DType::kF32;
  call.out = reinterpret_cast<void*>(0x1000);
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4x11, 256>>>: activations as Q8_1\n"
        "quantized.held_vectors_q4_K<<<132, 32x16>>>: product as f32\n"
        "quantized.held_vectors_q4_K<<<132, 32x16>>>: product as f32");
  call.weights = reinterpret_cast<const void*>(8);  // not aligned: no vectors are held
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4x11, 256>>>: activations as Q8_1\n"
        "quantized.mul_mat_q4_K<<<224, 32x8>>>: product as f32");
  call.weights = nullptr;
  call.rows = 4096;
  call.vectors = 10;
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4x10, 256>>>: activations as Q8_1\n"
        "quantized.held_vectors_q4_K<<<132, 32x16>>>: product as f32\n"
        "quantized.mul_mat_vec_q4_K_q8_1_cuda2<<<1024, 32x2>>>: product as f32");
  const auto split = plan(call);
  REQUIRE(split);
  CHECK(split->launches[2].workspace_parts[0].offset ==
        split->launches[1].workspace_parts[0].offset + q8_1_bytes(8, 4096));
  CHECK(numbers(split->launches[2], 2)[0] == 0x1000 + 8 * 4096 * 4);
  call.vectors = 17;
  const Gpu older{"sm_80"};  // without warp groups
  CHECK(text(call, older) ==
        "quantized.quantize_rows_q8_1_f32<<<4x17, 256>>>: activations as Q8_1\n"
        "quantized.mul_mat_q4_K<<<128, 32x8>>>: product as f32");
  CHECK(text(call) ==
        "quantized.half_rows_f32<<<17, 256>>>: activations as f16\n"
        "quantized_half.half_matrix_q4_K<<<64, 384>>>: product as f32");
  call.rows = 14336;
  call.gate = &call;
  call.out_dtype = DType::kF16;
  call.vectors = 100;
  CHECK(text(call, older) ==
        "quantized.quantize_rows_q8_1_f32<<<4x100, 256>>>: activations as Q8_1\n"
        "quantized.fused_matrix_q4_K<<<224x2, 32x4>>>: gates\n"
        "quantized.fused_matrix_q4_K<<<224x2, 32x4>>>: silu(gate) * product as f16");
  call.vectors = 512;
  CHECK(text(call) ==
        "quantized.half_rows_f32<<<512, 256>>>: activations as f16\n"
        "quantized_half.half_matrix_q4_K<<<112x4, 384>>>: gates\n"
        "quantized_half.half_matrix_q4_K<<<112x4, 384>>>: silu(gate) * product as f16");
  call.x_dtype = DType::kF16;
  call.gate = nullptr;
  CHECK(text(call) ==
        "quantized.half_rows_f16<<<512, 256>>>: activations as f16\n"
        "quantized_half.half_matrix_q4_K<<<112x4, 384>>>: product as f16");
  CHECK(text(call, older) ==
        "quantized.half_rows_f16<<<512, 256>>>: activations as f16\n"
        "quantized_half.half_matrix_q4_K<<<56x8, 512>>>: product as f16");
  call.rows = 2048;
  CHECK(text(call) ==
        "quantized.half_rows_f16<<<512, 256>>>: activations as f16\n"
        "quantized_half.half_matrix_q4_K<<<32x4, 384>>>: product as f16");
  call.rows = 14336;
  call.x_dtype = DType::kF32;
  call.gate = &call;
  call.vectors = 100;
  call.experts = 8;
  call.slots = 2;
  CHECK(text(call, older) ==
        "quantized.rank_experts<<<8, 64>>>: tasks by expert\n"
        "quantized.quantize_rows_q8_1_f32<<<4x200, 256>>>: activations in the order of their "
        "experts, as Q8_1\n"
        "quantized.fused_matrix_q4_K<<<224x11, 32x4>>>: gates\n"
        "quantized.fused_matrix_q4_K<<<224x11, 32x4>>>: silu(gate) * product as f16");
  CHECK(text(call) ==
        "quantized.rank_experts<<<8, 64>>>: tasks by expert\n"
        "quantized.half_rows_f32<<<100, 256>>>: activations in the order of their experts, as "
        "f16\n"
        "quantized_half.half_matrix_q4_K<<<112x9, 384>>>: gates\n"
        "quantized_half.half_matrix_q4_K<<<112x9, 384>>>: silu(gate) * product as f16");
  const auto halves = plan(call);
  REQUIRE(halves);
  const auto& gates = halves->launches[2].workspace_parts;
  REQUIRE(gates.size() == 5);  // x, scales, order, tiles, and the results
  CHECK(gates[1].offset - gates[0].offset == half_chunk_bytes(half_task_rows(200, 8), 4096));
  CHECK(gates[3].offset - gates[2].offset == 1024);  // 200 numbers
  CHECK(half_task_rows(200, 8) == (3 + 8) * 64);
  const auto product_of = [&](std::size_t vectors) {
    call.vectors = vectors;
    return plan(call)->launches.back().kernel.text();
  };
  CHECK(product_of(19) == "fused_vector_q4_K");
  CHECK(product_of(20) == "fused_matrix_q4_K");
  CHECK(product_of(67) == "fused_matrix_q4_K");
  CHECK(product_of(68) == "half_matrix_q4_K");  // 17 tasks an expert
  call.vectors = 1 << 15;  // one task more than a launch has blocks for along y
  const auto planned = plan(call, {"gfx1100", 96});
  REQUIRE(planned);
  REQUIRE(planned->launches.size() == 5);
  CHECK(planned->launches[1].grid.y == 65535);
  CHECK(planned->launches[2].grid.y == 1);
  const auto offset = [&](std::size_t launch, std::size_t part) {
    return planned->launches[launch].workspace_parts[part].offset;
  };
  CHECK(offset(2, 0) == offset(1, 0) + 65535 * 4);
  CHECK(offset(2, 1) == offset(1, 1) + q8_1_bytes(65535, 4096));
  call.vectors = 100;
  call.format = BlockFormat::kQ3_K;
  call.gate = nullptr;
  call.out_dtype = DType::kF32;
  CHECK(text(call) ==
        "quantized.quantize_rows_q8_1_f32<<<4x100, 256>>>: activations as Q8_1\n"
        "quantized.indexed_moe_forward_q3k_q8_1<<<7168x100x2, 32>>>: product as f32");
  const auto refused = plan(QuantizedMatmul{BlockFormat::kIQ4_NL, 4, 32, 2});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "no kernel multiplies blocks of IQ4_NL with more than one vector");
  CHECK(refused.error().notes.back().text == "use QuantizedMultiplier, which has a matrix library");
  CHECK(plan(QuantizedMatmul{BlockFormat::kIQ4_NL, 4, 32, 1}));
  CHECK(plan(QuantizedMatmul{BlockFormat::kMXFP4, 4, 32, 9}));
  const auto of_k = plan(QuantizedMatmul{BlockFormat::kQ8_K, 4, 256, 1});
  REQUIRE_FALSE(of_k);
  CHECK(of_k.error().message == "no kernel multiplies blocks of Q8_K");
}

TEST_CASE("quantized_matmul refuses vectors that no kernel counts before it plans launches of them") {
  QuantizedMatmul call;
  call.format = BlockFormat::kQ2_K;
  call.rows = 256, call.columns = 256;
  call.vectors = std::size_t{1} << 48;
  CHECK(plan(call).error().message == "281474976710656 vectors are more than the kernel counts");
  call.format = BlockFormat::kQ4_K;
  call.vectors = std::size_t{1} << 20, call.slots = std::size_t{1} << 20, call.experts = 8;
  CHECK(plan(call).error().message == "1099511627776 vectors are more than the kernel counts");
}

TEST_CASE("plan of a product with up to eight vectors takes the kernel of their number") {
  MulMatVec call;
  call.format = BlockFormat::kQ3_K;
  call.rows = 7;
  call.columns = 768;
  CHECK(both(call) ==
        "quantized.mul_mat_vec_q3_K_q8_1_cuda1<<<7, 32x4>>> "
        "quantized.mul_mat_vec_q3_K_q8_1_cuda1<<<2, 32x4>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{768, 7, 1024, 7});
  call.vectors = 5;
  call.dst_stride = 9;
  call.padded = 768;
  CHECK(both(call) ==
        "quantized.mul_mat_vec_q3_K_q8_1_cuda5<<<4, 32x2>>> "
        "quantized.mul_mat_vec_q3_K_q8_1_cuda5<<<4x2, 32x4>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{768, 7, 768, 9});
  call.dst_stride = 6;
  CHECK(message(plan(call)) == "results of 7 rows are 6 apart");
  call.dst_stride = 0;
  call.columns = 800;
  CHECK(message(plan(call)) == "rows of 800 values are no whole blocks of Q3_K");
  call.vectors = 9;
  CHECK(message(plan(call)) == "no kernel of 'mul_mat_vec' takes 9 vectors with blocks of Q3_K");
  call.vectors = 0;
  CHECK(note(plan(call)) == "it takes 1 to 8");
  // With few rows that are not short, each block has one row; with many rows, two rows by two
  // waves.
  call = {};
  call.format = BlockFormat::kQ3_K;
  call.rows = 7;
  call.columns = 5120;
  CHECK(to_string(*plan(call)) == "quantized.mul_mat_vec_q3_K_q8_1_cuda1<<<7, 32x4>>>");
  call.vectors = 8;
  call.rows = 14336;
  CHECK(to_string(*plan(call)) == "quantized.mul_mat_vec_q3_K_q8_1_cuda8<<<896, 32x4>>>");
  // Vectors are held if there are matrix units and the matrix is aligned.
  call.format = BlockFormat::kQ4_K;
  CHECK(to_string(*plan(call, {"sm_90", 132})) == "quantized.held_vectors_q4_K<<<132, 32x12>>>");
  CHECK(plan(call, {"sm_90", 132})->shared_bytes == 3 * 3 * 16 * 768 + 7 * 12 * 512);
  // For Q8_0, fewer waves fit on smaller GPUs.
  call.format = BlockFormat::kQ8_0;
  CHECK(to_string(*plan(call, {"sm_90", 132})) == "quantized.held_vectors_q8_0<<<132, 32x12>>>");
  const Gpu smaller{"sm_86", 82, 99 * 1024};
  CHECK(to_string(*plan(call, smaller)) == "quantized.held_vectors_q8_0<<<82, 32x4>>>");
  CHECK(plan(call, smaller)->shared_bytes == 2 * 16 * 1280 + 7 * 4 * 512);
  call.format = BlockFormat::kQ4_K;
  CHECK(to_string(*plan(call, {"gfx1100", 96})) ==
        "quantized.mul_mat_vec_q4_K_q8_1_cuda8<<<896, 32x4>>>");
  call.weights = reinterpret_cast<const void*>(8);
  CHECK(to_string(*plan(call, {"sm_90", 132})) ==
        "quantized.mul_mat_vec_q4_K_q8_1_cuda8<<<896, 32x4>>>");
  call = {};
  call.format = BlockFormat::kQ3_K;
  call.rows = 14336;
  call.columns = 4096;
  CHECK(to_string(*plan(call)) == "quantized.mul_mat_vec_q3_K_q8_1_cuda1<<<7168, 32x2>>>");
}

TEST_CASE("rows of large matrices stream where hardware copies and each begins at 16 bytes") {
  MulMatVec call;
  call.format = BlockFormat::kQ5_K;
  call.rows = 14336;
  call.columns = 4096;
  call.vectors = 1;
  const Gpu gpu{"sm_90", 132};
  const std::string usual = "quantized.mul_mat_vec_q5_K_q8_1_cuda1<<<7168, 32x2>>>";
  CHECK(to_string(*plan(call, gpu)) == "quantized.fused_vector_q5_K<<<264, 32x8>>>");
  CHECK(plan(call, gpu)->shared_bytes == 58880);
  // With less shared memory, one block.
  CHECK(to_string(*plan(call, {"sm_86", 84, 99 * 1024})) ==
        "quantized.fused_vector_q5_K<<<84, 32x8>>>");
  CHECK(to_string(*plan(call, {"gfx1100", 96})) == usual);
  call.weights = reinterpret_cast<const void*>(8);
  CHECK(to_string(*plan(call, gpu)) == usual);
  call.weights = nullptr;
  call.geometry = Geometry::kReference;
  CHECK(to_string(*plan(call, gpu)) == "quantized.mul_mat_vec_q5_K_q8_1_cuda1<<<14336, 32x4>>>");
  call.geometry = Geometry::kOwn;
  call.rows = 4000;
  CHECK(to_string(*plan(call, gpu)) == "quantized.mul_mat_vec_q5_K_q8_1_cuda1<<<2000, 32x4>>>");
  // Formats that fused_vector does not support never use it.
  call.rows = 4096;
  CHECK(to_string(*plan(call, gpu)) == "quantized.fused_vector_q5_K<<<264, 32x8>>>");
  call.format = BlockFormat::kQ4_0;
  CHECK(plan(call, gpu)->kernel == "fused_vector_q4_0");
  call.format = BlockFormat::kIQ4_NL;
  CHECK(plan(call, gpu)->kernel == "mul_mat_vec_iq4_nl_q8_1_cuda1");
  // Rows of Q6_K may begin at unaligned places, but the matrix must end at an aligned one.
  call.format = BlockFormat::kQ6_K;
  call.columns = 5120;
  CHECK(plan(call, gpu)->kernel == "fused_vector_q6_K");
  call.rows = 8193;
  CHECK(plan(call, gpu)->kernel == "mul_mat_vec_q6_K_q8_1_cuda1");
}

TEST_CASE("formats of our own names have a product of one vector, and tensors told by blocks") {
  MulMatVec call;
  call.format = BlockFormat::kMXFP4;
  call.rows = 7;
  call.columns = 96;
  CHECK(plan(call)->kernel == "mul_mat_vec_mxfp4_q8_1_cuda1");
  call.vectors = 2;
  CHECK(message(plan(call)) == "no kernel of 'mul_mat_vec' takes 2 vectors with blocks of MXFP4");
  CHECK(note(plan(call)) == "it takes 1");
  CHECK(plan(call).error().notes.back().text == "use QuantizedMatmul");
  DequantizeBlocks tensor;
  tensor.format = BlockFormat::kIQ4_NL;
  tensor.dtype = DType::kF16;
  tensor.count = 640;
  CHECK(plan(tensor)->kernel == "dequantize_block_iq4_nl_f16");
  CHECK(numbers(*plan(tensor), 2) == std::vector<std::int64_t>{20});
  CHECK(row_bytes(BlockFormat::kMXFP4, 96) == 51);
}

TEST_CASE("plan of a product of matrices has a block for every tile") {
  MulMat call;
  call.rows = 300;
  call.columns = 512;
  call.vectors = 100;
  // Ten tiles of 64 rows and vectors would leave most of the device idle.
  CHECK(both(call) ==
        "quantized.mul_mat_q4_0<<<3x2, 32x4>>> quantized.mul_mat_q4_0<<<10x4, 32x8>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{512, 300, 100, 512, 300});
  call.format = BlockFormat::kQ5_0;
  CHECK(both(call) == "quantized.mul_mat_q5_0<<<5, 32x4>>> quantized.mul_mat_q5_0<<<10x4, 32x8>>>");
  call.rows = 14336;
  CHECK(to_string(*plan(call)) == "quantized.mul_mat_q5_0<<<224x2, 32x4>>>");
  call.rows = 300;
  call.format = BlockFormat::kQ8_K;
  CHECK(message(plan(call)) == "no kernel of 'mul_mat' takes blocks of Q8_K");
  call.format = BlockFormat::kQ6_K;
  call.vectors = std::size_t{1} << 23;
  CHECK(message(plan(call)) == "131072 tiles of vectors are more than a launch has blocks for");
  // Up to eight vectors are held.
  call = {};
  call.format = BlockFormat::kQ4_K;
  call.rows = 14336;
  call.columns = 4096;
  call.vectors = 8;
  CHECK(to_string(*plan(call, {"sm_90", 132})) == "quantized.held_vectors_q4_K<<<132, 32x16>>>");
  CHECK(to_string(*plan(call, {"gfx1100", 96})) == "quantized.mul_mat_q4_K<<<224, 32x4>>>");
}

TEST_CASE("plan of vectors that are held refuses what their kernels do not take") {
  HeldVectors call;
  call.rows = 100;
  call.columns = 4096;
  call.vectors = 8;
  CHECK(to_string(*plan(call, {"sm_90", 132})) == "quantized.held_vectors_q4_0<<<7, 32x16>>>");
  CHECK(to_string(*plan(call, {"gfx1100", 96})) == "quantized.held_vectors_q4_0<<<100, 32x4>>>");
  CHECK(numbers(*plan(call), 3) == std::vector<std::int64_t>{4096, 100, 8, 4096, 100});
  call.weights = reinterpret_cast<const void*>(8);
  const std::string aligned =
      "vectors are held of rows of a multiple of 256 columns, at multiples of 16 bytes";
  CHECK(message(plan(call)) == aligned);
  call.weights = nullptr;
  call.columns = 4000;
  CHECK(message(plan(call)) == aligned);
  call.vectors = 9;
  CHECK(message(plan(call)) == "no kernel of 'held_vectors' takes 9 vectors");
  call.vectors = 8;
  call.format = BlockFormat::kQ5_1;
  CHECK(message(plan(call)) == "no kernel of 'held_vectors' takes blocks of Q5_1");
}

TEST_CASE("plan of a mixture of experts has a block for every row of every task") {
  IndexedMoe call;
  call.rows = 7;
  call.columns = 256;
  call.batches = 3;
  call.slots = 2;
  CHECK(both(call) ==
        "quantized.indexed_moe_forward_q8_0_q8_1<<<7x3x2, 32x4>>> "
        "quantized.indexed_moe_forward_q8_0_q8_1<<<4x3x2, 32x4>>>");
  CHECK(numbers(*plan(call), 4) == std::vector<std::int64_t>{7, 256, 3, 2, 512, 1});
  call.inputs = MoeInputs::kOfTask;
  CHECK(numbers(*plan(call), 4) == std::vector<std::int64_t>{7, 256, 3, 2, 512, 2});
  call.format = BlockFormat::kQ4_0;
  CHECK(message(plan(call)) == "no kernel of 'indexed_moe_forward' takes blocks of Q4_0");
  CHECK(note(plan(call)) == "it takes Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K");
}

}  // namespace
}  // namespace kiln::ops
