// Products with quantized weights by our own kernels, beside those of the ABI (quantized.hpp):
// activations and results of f32, f16 or bf16, two matrices joined as silu(gate x) * (weights x),
// and mixtures of experts whose tasks are sorted by expert. For Q4_0, Q8_0, Q4_K, Q5_K, Q6_K and
// MXFP4. quantized_matmul.hpp chooses among them.
//
// A task is a product with one activation, number task / tasks_of_vector; with `experts`, of matrix
// experts[task] of several, one behind the other. Results are rounded once, from f32.
#pragma once

#include "kiln/ops/quantized.hpp"

namespace kiln::ops {

// quantize_rows_q8_1_<T>: as QuantizeQ8_1, of f32, f16 or bf16; with `order`, row i of the result
// is row order[i] / each of x.
struct QuantizeRows {
  DType dtype = DType::kF32;
  std::size_t rows = 1, columns = 0;
  std::size_t padded = 0;       // a multiple of 32; 0: padded_columns(columns)
  const void* x = nullptr;      // rows one behind the other
  const void* order = nullptr;  // u32
  std::size_t each = 1;
  void* out = nullptr;  // Q8_1
};

// What the products share.
struct FusedProduct {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;  // of a matrix
  const void* weights = nullptr;
  DType dst_dtype = DType::kF32;
  std::size_t dst_stride = 0;  // from task to task; 0: rows
  void* dst = nullptr;
};

// fused_vector_<format>: a few tasks, each of which reads its matrix.
struct FusedVector : FusedProduct {
  const void* gate = nullptr;  // another matrix of the same shape, or null
  std::size_t tasks = 1, tasks_of_vector = 1;
  std::size_t padded = 0;             // as in QuantizeQ8_1
  const void* activations = nullptr;  // Q8_1
  const void* experts = nullptr;      // u32, or null
};

// fused_float_vector_<format>: the same with activations that are not quantized. These and their
// rows begin at multiples of four values.
struct FusedFloatVector : FusedProduct {
  const void* gate = nullptr;  // another matrix of the same shape, or null
  std::size_t tasks = 1, tasks_of_vector = 1;
  DType x_dtype = DType::kF32;
  std::size_t x_stride = 0;  // from activation to activation; 0: columns
  const void* x = nullptr;
  const void* experts = nullptr;  // u32, or null
};

// rank_experts: tasks in the order of their experts, and tiles of up to `tile` of them that
// have one expert. A task whose number is that of no expert is in no tile, and
// the order ends with a 0 for it. FusedMatrix takes tiles of kExpertTile, HalfMatrix of
// kHalfExpertTile.
inline constexpr std::size_t kExpertTile = 64, kHalfExpertTile = 128;
struct RankExperts {
  std::size_t tasks = 0, experts = 0;
  std::size_t tile = kExpertTile;
  const void* ids = nullptr;  // u32, an expert for each task
  void* order = nullptr;      // u32, for each task
  void* tiles = nullptr;      // three u32 for each of expert_tiles()
  void* places = nullptr;     // u32, for each task where HalfRows puts its activation; may be null
};
constexpr std::size_t expert_tiles(std::size_t tasks, std::size_t experts,
                                   std::size_t tile = kExpertTile) {
  return tasks / tile + experts;
}
inline constexpr std::size_t kExpertTileBytes = 12;

// fused_matrix_<format>: any number of activations, of which a tile shares what is read of the
// matrix. With the order and the tiles of RankExperts: activation i is that of task order[i], which
// QuantizeRows makes by the same order, and `experts` matrices lie one behind the other. With
// `gates`: silu(gate) * product.
struct FusedMatrix : FusedProduct {
  const void* gates = nullptr;  // f32, where the results are, or null
  std::size_t vectors = 1;
  std::size_t padded = 0;             // as in QuantizeQ8_1
  const void* activations = nullptr;  // Q8_1
  std::size_t experts = 0;            // 0: one matrix
  const void* order = nullptr;
  const void* tiles = nullptr;
};

// half_matrix_<format>: many activations of f16, as HalfRows leaves them in chunks. Weights, their
// scales and their offsets are rounded to f16; beyond 65504 each of these is infinite,
// and what comes of it no number. Sums are f32. `scales`: one for each activation, or null. With
// `gates`: silu(gate) * product. With the order and the tiles of RankExperts: `vectors` are tasks,
// whose activations HalfRows puts to their places, and `experts` matrices lie one behind the other.
struct HalfMatrix : FusedProduct {
  const void* gates = nullptr;  // f32, where the results are, or null
  std::size_t vectors = 1;
  const void* x = nullptr;       // f16, half_chunk_bytes() from a multiple of 16 on
  const void* scales = nullptr;  // f32, or null
  std::size_t experts = 0;       // 0: one matrix
  const void* order = nullptr;
  const void* tiles = nullptr;
};

// join_products: dst = values, or, with gates, silu(gates) * values, element by element. With
// `scales` gates and values of each row are multiplied by its scale before.
struct JoinProducts {
  std::size_t rows = 1, columns = 0;
  const void* gates = nullptr;   // f32, or null
  const void* values = nullptr;  // f32
  const void* scales = nullptr;  // f32, one for each row, or null
  DType dst_dtype = DType::kF32;
  void* dst = nullptr;  // of f32: may be `values`
};

// half_rows_<T>: rows of f32, f16 or bf16 as f16, each times a power of two that keeps f16 from
// overflowing and from losing bits: 1 where the row's largest finite magnitude is 2^-6 to 65504, or
// 0. NaN and infinities stay what they are.
struct HalfRows {
  DType dtype = DType::kF32;
  std::size_t rows = 1, columns = 0;
  const void* x = nullptr;  // rows one behind the other
  void* out = nullptr;      // f16
  void* scales = nullptr;   // f32, for each row what undoes its factor
  // As HalfMatrix takes them (kernels/tuning/half_products.hpp), and not one behind the other: `out`
  // has half_chunk_bytes(), from a multiple of 16 on.
  bool in_chunks = false;
  // With the places of RankExperts, and chunks: a row of x is that of `each` neighbouring tasks;
  // `out` and `scales` have half_task_rows().
  const void* places = nullptr;
  std::size_t each = 1;
};
std::size_t half_chunk_bytes(std::size_t rows, std::size_t columns);
std::size_t half_task_rows(std::size_t tasks, std::size_t experts);

// Errors as those of quantized.hpp.
Result<Launch> plan(const QuantizeRows& call, const Gpu& gpu = {});
Result<Launch> plan(const FusedVector& call, const Gpu& gpu = {});
Result<Launch> plan(const FusedFloatVector& call, const Gpu& gpu = {});
Result<Launch> plan(const RankExperts& call, const Gpu& gpu = {});
Result<Launch> plan(const FusedMatrix& call, const Gpu& gpu = {});
// kInvalidInput, too, on a device whose blocks have too little shared memory.
Result<Launch> plan(const HalfMatrix& call, const Gpu& gpu = {});
Result<Launch> plan(const JoinProducts& call, const Gpu& gpu = {});
Result<Launch> plan(const HalfRows& call, const Gpu& gpu = {});

}  // namespace kiln::ops
