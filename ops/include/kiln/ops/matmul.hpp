// matmul: out = alpha * lhs * rhs + beta * out, through the vendor's own library.
//
//   auto multiplier = kiln::ops::MatrixMultiplier::open(device);
//   kiln::ops::Matmul product;
//   product.lhs = a.data(), product.lhs_layout = {{batch, rows, inner}};
//   product.rhs = b.data(), product.rhs_layout = {{inner, columns}, {1, inner}};  // transposed, one for all
//   product.out = c.data(), product.out_layout = {{batch, rows, columns}};
//   auto done = multiplier->run(product);
//
// The library is found when it is first asked for, and never linked: cuBLAS for CUDA, rocBLAS for HIP, a
// BLAS with the C interface (OpenBLAS, BLIS, MKL, the reference) for the host. KILN_BLAS_LIBRARY names
// another file for it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kiln/device.hpp"
#include "kiln/ops/dtype.hpp"
#include "kiln/ops/layout.hpp"

namespace kiln::ops {

// Matrices are of one dtype: f32, f16, bf16 (sums in f32, rounded once) or f64. Where the operands are
// of f16 or bf16, `out` may be of f32.
//
// Layouts are [rows, columns] or [batch, rows, columns]. An operand without a batch, or with a batch
// stride of 0, is the same for the whole batch. Of the two matrix dims one must have stride 1, and the
// other at least its length: rows may be apart, and any matrix may be transposed. `out` shares no memory
// with the operands.
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
// Thread-safety: run() may be called from several threads; calls take turns.
class MatrixMultiplier {
 public:
  // `stream` must be the device's and outlive the multiplier. While it is captured into a CUDA or HIP
  // graph, products go into the graph; those of a multiplier of another stream do not, and those of the
  // default stream end the capture with an error.
  // Errors: kUnavailable (no library: what was tried, and what to install), kDriver.
  static Result<MatrixMultiplier> open(Device device, StreamRef stream = {});
  MatrixMultiplier(MatrixMultiplier&&) noexcept;
  MatrixMultiplier& operator=(MatrixMultiplier&&) noexcept;
  ~MatrixMultiplier();

  // The file that was opened.
  const std::string& library() const;

  // Starts the product and returns; on the host it is done then.
  // Errors: kInvalidInput (which dtype, shape or stride, and why), kDriver (the library's own name of its
  // status).
  Result<void> run(const Matmul& product) const;

 private:
  struct State;
  explicit MatrixMultiplier(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::ops
