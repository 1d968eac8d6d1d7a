// From shapes and strides to a BLAS call.
#include <catch2/catch_test_macros.hpp>

#include "ops/src/gemm.hpp"

namespace kiln::ops {
namespace {

// [4, 3, 5] times [4, 5, 2], contiguous.
Matmul example() {
  Matmul product;
  product.lhs_layout = {{4, 3, 5}};
  product.rhs_layout = {{4, 5, 2}};
  product.out_layout = {{4, 3, 2}};
  return product;
}

std::string message(const Matmul& product) {
  const Result<Gemm> gemm = plan_gemm(product);
  return gemm ? "no error" : gemm.error().message;
}

TEST_CASE("A row-major product is the column-major one of the operands in turned order") {
  const Gemm gemm = *plan_gemm(example());
  CHECK(gemm.rows == 2);
  CHECK(gemm.columns == 3);
  CHECK(gemm.inner == 5);
  CHECK(gemm.batch == 4);
  CHECK(!gemm.a.transposed);
  CHECK(gemm.a.leading == 2);
  CHECK(gemm.a.batch_stride == 10);
  CHECK(gemm.b.leading == 5);
  CHECK(gemm.b.batch_stride == 15);
  CHECK(gemm.leading_c == 2);
  CHECK(gemm.batch_stride_c == 6);
}

TEST_CASE("A column-major output keeps the order, and transposes what is row-major") {
  Matmul product = example();
  product.out_layout = {{4, 3, 2}, {6, 1, 3}};
  const Gemm gemm = *plan_gemm(product);
  CHECK(gemm.rows == 3);
  CHECK(gemm.columns == 2);
  CHECK(gemm.a.transposed);
  CHECK(gemm.a.leading == 5);
  CHECK(gemm.b.transposed);
  CHECK(gemm.leading_c == 3);
}

TEST_CASE("Matrices of out may lie in any order, but share no element") {
  Matmul product = example();
  const auto refused = [&](Extents strides) {
    product.out_layout.strides = strides;
    return message(product);
  };
  CHECK(refused({6, 2, 1}) == "no error");
  CHECK(refused({100, 8, 1}) == "no error");  // with gaps
  CHECK(refused({2, 8, 1}) == "no error");    // row by row: the first row of each, the second, ...
  CHECK(refused({3, 1, 12}) == "no error");   // column by column
  CHECK(refused({5, 2, 1}) ==
        "matmul: out [4, 3, 2] with strides [5, 2, 1] has matrices that overlap");
  CHECK(refused({1, 8, 1}).find("overlap") != std::string::npos);
  CHECK(refused({2, 7, 1}).find("overlap") != std::string::npos);
  CHECK(refused({2, 1, 12}).find("overlap") != std::string::npos);
  CHECK(refused({5, 1, 3}).find("overlap") != std::string::npos);
  // A batch of one matrix has no other to overlap with, and operands may overlap.
  product.lhs_layout = {{1, 3, 5}};
  product.rhs_layout = {{1, 5, 2}};
  product.out_layout.dims = {1, 3, 2};
  CHECK(refused({1, 2, 1}) == "no error");
  product = example();
  product.lhs_layout.strides = {5, 5, 1};
  CHECK(message(product) == "no error");
}

TEST_CASE("An operand without a batch serves the whole batch") {
  Matmul product = example();
  product.rhs_layout = {{5, 2}};
  CHECK(plan_gemm(product)->a.batch_stride == 0);
  product.rhs_layout = {{4, 5, 2}, {0, 2, 1}};
  CHECK(plan_gemm(product)->a.batch_stride == 0);
}

TEST_CASE("Strides of dims of size 1 do not count") {
  Matmul product = example();
  product.lhs_layout = {{4, 1, 5}, {5, 0, 1}};
  product.out_layout = {{4, 1, 2}, {2, 77, 1}};
  const Gemm gemm = *plan_gemm(product);
  CHECK(gemm.b.leading == 5);
  CHECK(gemm.leading_c == 2);
  product.lhs_layout = {{4, 3, 1}, {3, 1, 0}};
  product.rhs_layout = {{4, 1, 2}};
  product.out_layout = {{4, 3, 2}};
  CHECK(plan_gemm(product)->b.leading >= 1);
}

TEST_CASE("out may be of f32 where the operands are of f16 or bf16") {
  Matmul product = example();
  product.dtype = DType::kF16;
  CHECK(plan_gemm(product)->out_dtype == DType::kF16);
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32}) {
    product.dtype = dtype;
    product.out_dtype = DType::kF32;
    CHECK(plan_gemm(product)->dtype == dtype);
    CHECK(plan_gemm(product)->out_dtype == DType::kF32);
  }
  product.dtype = DType::kF64;
  CHECK(message(product) == "matmul: out of f32, of operands of f64");
  product.dtype = DType::kF32;
  product.out_dtype = DType::kF16;
  CHECK(message(product) == "matmul: out of f16, of operands of f32");
}

TEST_CASE("What no library multiplies is refused by name") {
  Matmul product = example();
  product.dtype = DType::kU8;
  CHECK(message(product).find("u8") != std::string::npos);
  product = example();
  product.lhs_layout = {{3}};
  CHECK(message(product) == "matmul: lhs [3] is not [rows, columns] or [batch, rows, columns]");
  product = example();
  product.rhs_layout = {{4, 6, 2}};
  CHECK(message(product) ==
        "matmul: rhs [4, 6, 2] has not as many rows as lhs [4, 3, 5] has columns");
  product = example();
  product.out_layout = {{4, 2, 3}};
  CHECK(message(product) == "matmul: out [4, 2, 3] is not the shape of the product, [3, 2]");
  product = example();
  product.rhs_layout = {{2, 5, 2}};
  CHECK(message(product) == "matmul: rhs [2, 5, 2] has another batch than out [4, 3, 2]");
  product = example();
  product.out_layout = {{4, 3, 2}, {0, 2, 1}};
  CHECK(message(product) ==
        "matmul: out [4, 3, 2] with strides [0, 2, 1] puts all products into one place");
  product = example();
  product.lhs_layout = {{4, 3, 5}, {60, 20, 2}};
  CHECK(message(product) ==
        "matmul: lhs [4, 3, 5] with strides [60, 20, 2] has no dim of stride 1, or lines that overlap");
  product.lhs_layout = {{4, 3, 5}, {15, 0, 1}};
  CHECK(message(product).find("lines that overlap") != std::string::npos);
}

}  // namespace
}  // namespace kiln::ops
