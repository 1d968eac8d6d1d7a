// matmul: out = alpha * lhs * rhs + beta * out, through the vendor's own library.
//
//   auto multiplier = kiln::ops::MatrixMultiplier::open(device);
//   kiln::ops::Matmul product;
//   product.lhs = a.data(), product.lhs_layout = {{batch, rows, inner}};
//   product.rhs = b.data(), product.rhs_layout = {{inner, columns}, {1, inner}};  // transposed, one for all
//   product.out = c.data(), product.out_layout = {{batch, rows, columns}};
//   auto done = multiplier->run(product);
//
// The library is never linked. It is found when it is first needed: cuBLAS for CUDA, rocBLAS for
// HIP, and for the host a BLAS with the C interface (OpenBLAS, BLIS, MKL, the reference).
// KILN_BLAS_LIBRARY names another file for it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kiln/device.hpp"
#include "kiln/ops/dtype.hpp"
#include "kiln/ops/layout.hpp"

namespace kiln::ops {

// All matrices have one dtype: f32, f64, or f16 or bf16 (summed in f32, rounded once). If the
// operands are f16 or bf16, `out` may be f32.
//
// Layouts are [rows, columns] or [batch, rows, columns]. An operand without a batch dim, or with a
// batch stride of 0, is the same for the whole batch. One of the two matrix dims must have stride
// 1, and the stride of the other must be at least the length of the first: rows may have gaps, and
// any matrix may be transposed. Dims and strides are at most 2^31 - 1. The matrices of `out` lie one
// after the other, or their lines side by side. `out` must not overlap the operands.
struct Matmul {
  DType dtype = DType::kF32;
  std::optional<DType> out_dtype;  // none: dtype
  const void* lhs = nullptr;
  Layout lhs_layout;  // [rows, inner]
  const void* rhs = nullptr;
  Layout rhs_layout;  // [inner, columns]
  void* out = nullptr;
  Layout out_layout;  // [rows, columns]
  double alpha = 1;
  double beta = 0;  // 0: `out` is not read
};

// The vendor's library, ready for one device and one stream.
//
// Ownership: owns the library's handle, and keeps the device open. One that was moved from may be
// assigned to or destroyed; run() gives an error, kInvalidInput, and there is no library().
// Thread-safety: several threads may call run(); the calls take turns. No thread may move or destroy
// the object meanwhile.
class MatrixMultiplier {
 public:
  // `stream` must belong to the device and outlive the multiplier. While the stream is captured
  // into a CUDA or HIP graph, products are captured, too. Products of a multiplier of another
  // stream are not, and products of a multiplier of the default stream end the capture with an
  // error.
  // Errors: kUnavailable (no library: what was tried, and what to install), kInvalidInput (an empty
  // Stream), kDriver.
  static Result<MatrixMultiplier> open(Device device, StreamRef stream = {});
  MatrixMultiplier(MatrixMultiplier&&) noexcept;
  MatrixMultiplier& operator=(MatrixMultiplier&&) noexcept;
  ~MatrixMultiplier();

  // The path of the library that was opened.
  const std::string& library() const;

  // Starts the product and returns; on the host, the product is then done. Errors: kInvalidInput
  // (which dtype, shape or stride, and why), kDriver (with the library's own name for its status).
  Result<void> run(const Matmul& product) const;

 private:
  struct State;
  explicit MatrixMultiplier(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::ops
