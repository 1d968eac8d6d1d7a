#include "tests/bench/families.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace kiln::bench {
namespace {

bool equal(const ops::Launch& a, const ops::Launch& b) {
  if (a.kernel != b.kernel || a.module != b.module || a.layout != b.layout) return false;
  if (a.arguments.size() != b.arguments.size()) return false;
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    const ops::Argument &left = a.arguments[i], &right = b.arguments[i];
    if (left.size() != right.size() || std::memcmp(left.data(), right.data(), left.size()) != 0)
      return false;
  }
  const auto same = [](const Dim3& left, const Dim3& right) {
    return left.x == right.x && left.y == right.y && left.z == right.z;
  };
  return same(a.grid, b.grid) && same(a.block, b.block) && a.shared_bytes == b.shared_bytes;
}

BenchCase transposed(const char* kernel) {
  BenchCase subject = contiguous_case(kernel, 4096);
  subject.dims = {32, 128};
  subject.strides = {{1, 32}};
  return subject;
}

BenchCase chosen_rows(const char* kernel) {
  BenchCase subject = contiguous_case(kernel, 4096);
  subject.dims = {3, 5, 7};
  subject.indexed_size = 11;
  return subject;
}

BenchCase matrix_case(const char* kernel, ops::Extents dims, std::size_t indexed_size = 0) {
  BenchCase subject = contiguous_case(kernel, 1);
  subject.dims = dims;
  subject.indexed_size = indexed_size;
  return subject;
}

BenchCase strided_windows(const char* kernel) {
  BenchCase subject = contiguous_case(kernel, 4096);
  subject.dims = {2, 3, 14, 21};
  subject.windows = {5, 4, 3, 2};
  return subject;
}

// Compares two independent descriptions of one launch.
TEST_CASE("the original's launch is what our helpers plan in its geometry") {
  int memory[5];
  Addresses addresses{{&memory[0], &memory[1], &memory[2], &memory[3]}, &memory[4]};
  BenchCase added = contiguous_case("badd_bf16", 1);
  added.dims = {40, 64};
  added.strides = {{64, 1}, {0, 1}};
  BenchCase chosen = added;
  chosen.kernel = "where_u8_f32";
  BenchCase summed = contiguous_case("fast_sum_f32", 1);
  summed.dims = {40, 3000};
  summed.strides = {{1, 40}};
  BenchCase rows = contiguous_case("copy2d_f16", 1);
  rows.dims = {300, 40};
  rows.strides = {{64, 1}, {80, 1}};
  for (const BenchCase& subject : {contiguous_case("affine_f32", 4096),
                                   contiguous_case("affine_i64", 1),
                                   contiguous_case("uneg_f16", 4097),
                                   contiguous_case("upowf_f64", 1000),
                                   contiguous_case("uelu_fp8_e4m3", 5),
                                   contiguous_case("ucopy_u8", std::size_t{1} << 28),
                                   contiguous_case("fill_bf16", 4096),
                                   contiguous_case("const_set_f8_e4m3", 77),
                                   transposed("affine_u8"),
                                   transposed("ucopy_i64"),
                                   transposed("const_set_f32"),
                                   rows,
                                   contiguous_case("cast_f32_bf16", 4097),
                                   transposed("cast_f8_e4m3_i32"),
                                   contiguous_case("bdiv_i64", 5),
                                   contiguous_case("lt_f8_e4m3", 4096),
                                   added,
                                   chosen,
                                   contiguous_case("where_i16_fp8_e4m3", 9),
                                   summed,
                                   *sized_case("fast_argmax_f16", 1 << 20),
                                   *sized_case("fast_min_u8", 64),
                                   *sized_case("sum_f32", 1 << 14),
                                   *sized_case("softmax_f64", 1 << 14),
                                   *sized_case("rmsnorm_f32", 1 << 14),
                                   *sized_case("layernorm_bf16", 512),
                                   *sized_case("rope_f16", 1 << 20),
                                   *sized_case("rope_i_f64", 1 << 14),
                                   *sized_case("rope_thd_bf16", 1 << 20),
                                   *sized_case("rope_f32", 1),
                                   *sized_case("asort_desc_f16", 1 << 14),
                                   *sized_case("is_u32_f16", 1 << 14),
                                   *sized_case("gather_i64_u8", 1 << 14),
                                   *sized_case("ia_u8_f64", 1 << 14),
                                   *sized_case("s_u32_f32", 1 << 14),
                                   *sized_case("sa_u32_bf16", 1 << 14),
                                   chosen_rows("is_u32_f32"),
                                   chosen_rows("gather_u32_f32"),
                                   chosen_rows("ia_u32_f32"),
                                   chosen_rows("sa_u32_f32"),
                                   *sized_case("conv1d_f16", 1 << 14),
                                   *sized_case("conv2d_u8", 1 << 14),
                                   *sized_case("conv_transpose1d_f64", 1 << 14),
                                   *sized_case("conv_transpose2d_f32", 1 << 14),
                                   *sized_case("im2col1d_bf16", 1 << 14),
                                   *sized_case("im2col_f16", 1 << 14),
                                   *sized_case("col2im1d_f32", 1 << 14),
                                   *sized_case("avg_pool2d_f16", 1 << 15),
                                   *sized_case("max_pool2d_u32", 1),
                                   *sized_case("upsample_nearest2d_f32", 1 << 14),
                                   *sized_case("upsample_bilinear2d_f32", 1 << 15),
                                   matrix_case("quantize_q8_1", {7, 4000}),
                                   *sized_case("dequantize_block_q4_1_f16", 1 << 14),
                                   *sized_case("dequantize_block_q5_0_f32", 1 << 14),
                                   *sized_case("dequantize_block_q4_K_f32", 1 << 14),
                                   *sized_case("dequantize_block_q6_K_f16", 1 << 14),
                                   matrix_case("get_rows_bf16", {7, 300}, 11),
                                   matrix_case("get_rows_q8_0", {7, 4096}, 11),
                                   matrix_case("get_rows_q4_K", {7, 4096}, 11),
                                   matrix_case("get_rows_q2_K", {7, 4096}, 11),
                                   matrix_case("dequantize_mul_mat_vec_q4_0_cuda", {96, 4096}),
                                   matrix_case("dequantize_mul_mat_vec_q5_k", {96, 4096}),
                                   matrix_case("mul_mat_vec_q8_0_q8_1_cuda1", {96, 4000}),
                                   matrix_case("mul_mat_vec_q5_1_q8_1_cuda4", {97, 4000}),
                                   matrix_case("mul_mat_vec_q6_K_q8_1_cuda8", {96, 4096}),
                                   matrix_case("mul_mat_q4_0", {300, 4000, 70}),
                                   matrix_case("mul_mat_q5_0", {300, 4000, 70}),
                                   matrix_case("mul_mat_q3_K", {300, 4096, 70}),
                                   matrix_case("mul_mat_q6_K", {300, 4096, 70}),
                                   matrix_case("indexed_moe_forward_q4k_q8_1", {20, 512, 2, 3}, 5),
                                   strided_windows("conv2d_f32"),
                                   strided_windows("im2col_f32"),
                                   strided_windows("conv_transpose2d_f16")}) {
    INFO(subject.name());
    const auto ours = plan_ours(subject, addresses, ops::Geometry::kReference);
    const auto original = plan_original(subject, addresses);
    REQUIRE(ours);
    REQUIRE(original);
    CHECK(equal(*ours, *original));
  }
}

TEST_CASE("a case touches what its operands hold, a repeated element once") {
  const auto bytes = [](const BenchCase& subject) { return operands_of(subject)->min_bytes(); };
  CHECK(bytes(contiguous_case("affine_f32", 4096)) == 32768);
  CHECK(bytes(contiguous_case("fill_f64", 4096)) == 32768);
  CHECK(bytes(transposed("ucopy_u8")) == 8192);
  BenchCase broadcast = transposed("ucopy_f32");
  broadcast.strides = {{0, 1}};
  CHECK(bytes(broadcast) == 4 * (128 + 4096));
  BenchCase rows = contiguous_case("copy2d_f16", 1);
  rows.dims = {300, 40};
  rows.strides = {{64, 1}, {80, 1}};
  CHECK(bytes(rows) == 2 * 2 * 300 * 40);
  CHECK(operands_of(rows)->inputs[0].bytes() == 2 * (299 * 64 + 40));
  CHECK_FALSE(operands_of(rows)->is_contiguous());
  // Ids, the indexed elements, and the output. If the dim is large, only those elements that ids
  // can name count.
  BenchCase chosen = chosen_rows("is_u32_f32");
  CHECK(bytes(chosen) == 4 * (5 + 2 * 3 * 5 * 7));
  chosen.kernel = "sa_u32_f32";
  CHECK(bytes(chosen) == 4 * 3 * (3 * 5 * 7));
  CHECK(operands_of(chosen)->output.bytes() == 4 * 3 * 11 * 7);
  // Blocks, the selected rows of a table, experts. The values that activations are made from are
  // not read.
  CHECK(bytes(matrix_case("dequantize_block_q4_0_f16", {4, 256})) ==
        4 * 256 / 32 * 18 + 4 * 256 * 2);
  CHECK(bytes(matrix_case("get_rows_q4_K", {3, 512}, 100)) == 3 * (2 * 144 + 4 + 4 * 512));
  CHECK(bytes(matrix_case("mul_mat_vec_q8_0_q8_1_cuda2", {5, 512})) ==
        5 * 16 * 34 + 2 * 16 * 36 + 4 * 2 * 5);
  CHECK(bytes(matrix_case("indexed_moe_forward_q6k_q8_1", {5, 512, 2, 3}, 64)) ==
        6 * 5 * 2 * 210 + 2 * 16 * 36 + 6 * 4 + 6 * 5 * 4);
  // Image, weights, output.
  CHECK(bytes(strided_windows("conv2d_f32")) ==
        4 * (2 * 3 * 14 * 21 + 5 * 3 * 4 * 4 + 2 * 5 * 5 * 8));
  // Windows of 2x2, which an image of one row does not hold.
  for (const char* kernel : {"avg_pool2d_f32", "max_pool2d_u8"}) {
    CHECK(operands_of(matrix_case(kernel, {2, 3, 1, 21}))->output.bytes() == 0);
  }
}

// "const f32* inp" is 8 bytes, "i32 n_cols" 4.
std::size_t bytes_of(const std::string& parameter) {
  const std::string type = parameter.substr(0, parameter.rfind(' '));
  if (type.back() == '*') return 8;
  if (type == "bool") return 1;
  return std::stoul(type.substr(type.find_first_of("0123456789"))) / 8;
}

TEST_CASE("the originals' arguments have the sizes of their parameters") {
  std::ifstream file(KILN_ABI_FILE);
  const auto modules = nlohmann::json::parse(file).at("modules");
  std::size_t known = 0;
  std::set<std::string> in_abi;
  for (const auto& [module, kernels] : modules.items()) {
    for (const auto& [kernel, parameters] : kernels.items()) {
      INFO(kernel);
      const auto traits = traits_of(kernel);
      if (ops::find_own_kernel(module, kernel) == nullptr) continue;  // not in a table
      REQUIRE(traits);
      ++known;
      in_abi.insert(kernel);
      CHECK(traits->module == module);
      const auto subject = sized_case(kernel, 4096);
      REQUIRE(subject);
      const auto launch = plan_original(*subject, {{nullptr, nullptr, nullptr, nullptr}, nullptr});
      REQUIRE(launch);
      REQUIRE(launch->arguments.size() == parameters.size());
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        CHECK(launch->arguments[i].size() == bytes_of(parameters[i]));
      }
    }
  }
  // The other kernels have names of kiln's own, and kiln's helpers plan them.
  for (const ops::OwnKernel& own : ops::kOwnKernels) {
    const std::string kernel(own.name);
    INFO(kernel);
    const auto traits = traits_of(kernel);
    REQUIRE(traits);
    if (in_abi.count(kernel) != 0) continue;
    ++known;
    const auto subject = sized_case(kernel, 4096);
    REQUIRE(subject);
    const auto launch = plan_ours(*subject, {{nullptr, nullptr, nullptr, nullptr}, nullptr}, {});
    REQUIRE(launch);
    CHECK(launch->kernel == kernel);
    const auto original = plan_original(*subject, {{nullptr, nullptr, nullptr, nullptr}, nullptr});
    CHECK(traits->has_original == static_cast<bool>(original));
    if (original) CHECK(in_abi.count(original->kernel.text()) == 1);
  }
  CHECK(known == std::size(ops::kOwnKernels));
}

TEST_CASE("a layout block lists the strides of every operand, where the original wants one") {
  const Addresses addresses{{nullptr, nullptr, nullptr, nullptr}, nullptr};
  using Block = ops::LayoutBlock;
  BenchCase rows = contiguous_case("badd_f32", 32);
  rows.dims = {8, 4};
  CHECK(plan_original(rows, addresses)->layout.empty());
  rows.strides = {{4, 1}, {0, 1}};
  CHECK(plan_original(rows, addresses)->layout == Block{8, 4, 4, 1, 0, 1});
  CHECK(operands_of(rows)->min_bytes() == 4 * (32 + 4 + 32));
  CHECK(plan_original(contiguous_case("where_u8_f32", 7), addresses)->layout == Block{7, 1, 1, 1});

  const auto reduced = sized_case("fast_argmax_f16", 1 << 20);
  const auto launch = plan_original(*reduced, addresses);
  CHECK(launch->layout == Block{1024, 1024, 1024, 1});
  CHECK((launch->grid.x == 1024 && launch->block.x == 1024));
  CHECK(operands_of(*reduced)->output.bytes() == 4 * 1024);
  CHECK(plan_original(*sized_case("fast_sum_f32", 64), addresses)->block.x == 64);
  CHECK(plan_original(*sized_case("softmax_f32", 4096), addresses)->block.y == 32);
}

TEST_CASE("of two kernels that do the same, one is chosen for a case") {
  alignas(16) char memory[4][16];
  const Addresses addresses{{memory[0], memory[1], memory[2]}, memory[3]};
  const auto chosen = [&](const char* kernel, std::size_t count) {
    return is_chosen(*sized_case(kernel, count), addresses).value();
  };
  CHECK(chosen("split_extreme_f32", 1 << 24));
  CHECK_FALSE(chosen("split_extreme_f32", 8));
  CHECK(chosen("softmax_long_f16", 1 << 20));
  CHECK_FALSE(chosen("softmax_long_f16", 256));
  CHECK(chosen("norm_long_f32", 1 << 20));
  CHECK_FALSE(chosen("norm_long_f32", 256));
  CHECK_FALSE(chosen("conv_tiles64_f16", 1));
  CHECK(chosen("fast_max_f32", 256));
  CHECK(chosen("cast_tiles_f32_f16", 1 << 24));
  CHECK_FALSE(chosen("cast_tiles_f32_f16", 256));
}

TEST_CASE("a product has a step before it, which makes its activations") {
  int memory[4];
  const Addresses addresses{{&memory[0], &memory[1], &memory[2]}, &memory[3]};
  const BenchCase subject = matrix_case("mul_mat_vec_q4_K_q8_1_cuda4", {64, 1024});
  CHECK(traits_of(subject.kernel)->has_step_before);
  const auto step = plan_before(subject, addresses);
  REQUIRE((step && step->has_value()));
  CHECK((*step)->kernel == "quantize_q8_1");
  CHECK(*static_cast<void* const*>((*step)->arguments[0].data()) == &memory[2]);
  CHECK(*static_cast<void* const*>((*step)->arguments[1].data()) == &memory[1]);
  CHECK((*step)->grid.y == 4);
  const auto none = plan_before(contiguous_case("uneg_f32", 7), addresses);
  CHECK((none && !none->has_value()));
  CHECK_FALSE(traits_of("uneg_f32")->has_step_before);
}

TEST_CASE("a product of experts ranks their tasks first, once") {
  int memory[6];
  const Addresses addresses{{&memory[0], &memory[1], &memory[2], &memory[3], &memory[4]},
                            &memory[5]};
  const BenchCase subject = matrix_case("half_matrix_q4_K", {64, 1024, 300, 4});
  const auto first = plan_first(subject, addresses);
  REQUIRE((first && first->has_value()));
  CHECK((*first)->kernel == "rank_experts");
  CHECK(*static_cast<void* const*>((*first)->arguments[1].data()) == &memory[3]);
  CHECK(operands_of(subject)->inputs[3].bytes() == 4 * (2 * 300 + 3 * 6));
  CHECK(operands_of(subject)->inputs[0].bytes() == 4 * 64 * 4 * 144);
  const auto none = plan_first(matrix_case("half_matrix_q4_K", {64, 1024, 300}), addresses);
  CHECK((none && !none->has_value()));
}

TEST_CASE("a kernel of no family is an error that names it") {
  CHECK_FALSE(traits_of("frobnicate_f32"));
  CHECK_FALSE(traits_of("uneg"));
  CHECK(traits_of("upowf_f32")->cost == Cost::kLong);
  CHECK(traits_of("ugelu_erf_bf16")->cost == Cost::kLong);
}

}  // namespace
}  // namespace kiln::bench
