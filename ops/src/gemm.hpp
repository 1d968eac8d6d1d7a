// A matrix product in the terms of BLAS: c = alpha * op(a) * op(b) + beta * c, all column-major.
//
// Translates shapes and strides for the libraries; runs nothing.
#pragma once

#include <cstdint>

#include "kiln/ops/matmul.hpp"

namespace kiln::ops {

struct GemmOperand {
  const void* data = nullptr;
  bool transposed = false;        // stored as the transpose of the matrix that it stands for
  std::int64_t leading = 0;       // elements between columns, as stored
  std::int64_t batch_stride = 0;  // elements between matrices
};

struct Gemm {
  DType dtype = DType::kF32;      // of a and b
  DType out_dtype = DType::kF32;  // of c
  std::int64_t rows = 0;     // of op(a) and c
  std::int64_t columns = 0;  // of op(b) and c
  std::int64_t inner = 0;
  std::int64_t batch = 1;
  GemmOperand a;
  GemmOperand b;
  void* c = nullptr;
  std::int64_t leading_c = 0;
  std::int64_t batch_stride_c = 0;
  double alpha = 1;
  double beta = 0;
};

// A row-major `out` is a transposed column-major matrix, so the product is then that of the
// transposed operands in reverse order. Errors (kInvalidInput) name the operand and its layout.
Result<Gemm> plan_gemm(const Matmul& product);

}  // namespace kiln::ops
