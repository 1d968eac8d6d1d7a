// Products with quantized weights in one call: out = x * weights^T, or silu(x * gate^T) * (x *
// weights^T), for activations in f32, f16 or bf16, any number of them, and for mixtures of experts.
//
//   kiln::ops::QuantizedMatmul product;
//   product.format = kiln::ops::BlockFormat::kQ4_K;
//   product.rows = 14336, product.columns = 4096, product.vectors = tokens;
//   product.weights = up.data(), product.gate = gate.data();
//   product.x = x.data(), product.out = out.data();
//   auto done = launcher.launch(product);
//   std::puts(to_string(*plan(product)).c_str());   // which kernels, and why
//
// Numbers: activations are usually quantized to 8 bits. A single activation of a small matrix stays
// as it is. If the plan uses half_matrix, activations and weights become f16 (HalfRows and
// HalfMatrix in fused_products.hpp).
//
// plan() chooses kernels by shape, types and device, and runs nothing. to_string() of its result has
// a line for each launch:
// "quantized.fused_vector_q4_K<<<7168, 32x2>>>: silu(gate) * product as f16".
// After Launcher::prepare(), a product may be captured into a graph like any launch.
#pragma once

#include "kiln/ops/fused_products.hpp"
#include "kiln/ops/launcher.hpp"

namespace kiln::ops {

struct QuantizedMatmul {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;  // of one matrix
  std::size_t vectors = 1;            // number of activations
  DType x_dtype = DType::kF32;    // f32, f16 or bf16
  DType out_dtype = DType::kF32;  // f32, f16 or bf16
  const void* weights = nullptr;
  const void* gate = nullptr;  // another matrix of the same shape and format, or null
  const void* x = nullptr;     // (vectors, columns)
  void* out = nullptr;         // (vectors, rows)

  // A mixture of experts: `experts` matrices, one after the other, instead of one. `out` is
  // (vectors, slots, rows), and out[v, s] is made with matrix ids[v, s]. All ids must be below
  // `experts`.
  std::size_t experts = 0;
  std::size_t slots = 1;
  MoeInputs inputs = MoeInputs::kOfBatch;  // kOfTask: x is (vectors, slots, columns)
  const void* ids = nullptr;               // u32, (vectors, slots)
};

// Errors (kInvalidInput): as for quantized.hpp, and a format that has no kernel for the shape.
Result<LaunchSequence> plan(const QuantizedMatmul& call, const Gpu& gpu = {});

}  // namespace kiln::ops
