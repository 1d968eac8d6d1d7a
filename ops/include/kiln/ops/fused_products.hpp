// Kernels that kiln adds for products with quantized weights. Unlike those of quantized.hpp, they
// take activations and give results as f32, f16 or bf16, join two matrices as silu(gate x) *
// (weights x), and sort the tasks of mixtures of experts by expert. They exist for Q4_0, Q8_0,
// Q4_K, Q5_K, Q6_K and MXFP4. quantized_matmul.hpp chooses among them.
//
// A task is the product of one activation (a vector) and one matrix. Task t reads activation t /
// tasks_of_vector and, if there are `experts`, matrix experts[t]. The experts' matrices lie one
// after the other. Results are computed in f32 and rounded once.
#pragma once

#include "kiln/ops/quantized.hpp"

namespace kiln::ops {

// quantize_rows_q8_1_<T>: like QuantizeQ8_1, for f32, f16 or bf16. With `order`, row i of `out` is
// made from row order[i] / each of `x`.
struct QuantizeRows {
  DType dtype = DType::kF32;
  std::size_t rows = 1, columns = 0;  // rows of `out`
  std::size_t padded = 0;       // columns of `out`, a multiple of 32; 0: padded_columns(columns)
  const void* x = nullptr;      // rows without gaps
  const void* order = nullptr;  // u32 for each row of `out`, or null
  std::size_t each = 1;         // number of tasks that share a row of `x`; unused without `order`
  void* out = nullptr;  // Q8_1 blocks
};

// Fields that all products have.
struct FusedProduct {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;  // of one matrix
  const void* weights = nullptr;
  DType dst_dtype = DType::kF32;
  std::size_t dst_stride = 0;  // elements from the results of a task to the next's; 0: rows
  void* dst = nullptr;
};

// fused_vector_<format>: for a few tasks. Each task reads its matrix from memory.
struct FusedVector : FusedProduct {
  const void* gate = nullptr;  // another matrix of the same shape, or null
  std::size_t tasks = 1, tasks_of_vector = 1;
  std::size_t padded = 0;             // as for QuantizeQ8_1
  const void* activations = nullptr;  // Q8_1 blocks
  const void* experts = nullptr;      // u32 for each task, or null
};

// fused_float_vector_<format>: the same for activations that are not quantized. Each activation
// must begin at a multiple of four values.
struct FusedFloatVector : FusedProduct {
  const void* gate = nullptr;  // another matrix of the same shape, or null
  std::size_t tasks = 1, tasks_of_vector = 1;
  DType x_dtype = DType::kF32;
  std::size_t x_stride = 0;  // elements from one activation to the next; 0: columns
  const void* x = nullptr;
  const void* experts = nullptr;  // u32 for each task, or null
};

// rank_experts: sorts tasks by expert, and groups up to `tile` tasks of the same expert into tiles.
// A task whose id is not below `experts` is in no tile; `order` ends with a 0 for each such task.
// FusedMatrix takes tiles of kExpertTile tasks, HalfMatrix of kHalfExpertTile.
inline constexpr std::size_t kExpertTile = 64, kHalfExpertTile = 128;
struct RankExperts {
  std::size_t tasks = 0, experts = 0;
  std::size_t tile = kExpertTile;
  const void* ids = nullptr;  // u32 for each task: its expert
  void* order = nullptr;      // u32 for each task
  void* tiles = nullptr;      // three u32 for each of expert_tiles(tasks, experts, tile)
  void* places = nullptr;     // u32 for each task: where HalfRows puts its activation; may be null
};
// Number of tiles that RankExperts writes; some may be empty.
constexpr std::size_t expert_tiles(std::size_t tasks, std::size_t experts,
                                   std::size_t tile = kExpertTile) {
  return tasks / tile + experts;
}
// Size of one entry of RankExperts::tiles.
inline constexpr std::size_t kExpertTileBytes = 12;

// fused_matrix_<format>: for any number of activations. The activations of a tile share what is
// read of the matrix. With the order and the tiles of RankExperts, there are `experts` matrices,
// and activation i belongs to task order[i]; QuantizeRows with the same order makes such
// activations. With `gates`, the result is silu(gates) * product.
struct FusedMatrix : FusedProduct {
  const void* gates = nullptr;  // f32, laid out like `dst`, or null
  std::size_t vectors = 1;
  std::size_t padded = 0;             // as for QuantizeQ8_1
  const void* activations = nullptr;  // Q8_1 blocks
  std::size_t experts = 0;            // 0: one matrix
  const void* order = nullptr;  // from RankExperts, if there are experts
  const void* tiles = nullptr;  // the same
};

// half_matrix_<format>: for many activations in f16, which HalfRows writes in chunks. Weights,
// scales and offsets of blocks are rounded to f16; those beyond 65504 become infinite, and their
// results may be NaN. Sums are f32. With `gates`, the result is silu(gates) * product. With the
// order and the tiles of RankExperts, there are `experts` matrices, `vectors` is the number of
// tasks, and HalfRows puts the tasks' activations at their places.
struct HalfMatrix : FusedProduct {
  const void* gates = nullptr;  // f32, laid out like `dst`, or null
  std::size_t vectors = 1;
  const void* x = nullptr;       // f16, half_chunk_bytes() bytes, aligned to 16
  const void* scales = nullptr;  // f32 for each activation, which multiplies its results, or null
  std::size_t experts = 0;       // 0: one matrix
  const void* order = nullptr;  // from RankExperts, if there are experts
  const void* tiles = nullptr;  // the same
};

// join_products: dst = values or, with gates, silu(gates) * values, element by element. With
// `scales`, gates and values of each row are first multiplied by the row's scale.
struct JoinProducts {
  std::size_t rows = 1, columns = 0;
  const void* gates = nullptr;   // f32, or null
  const void* values = nullptr;  // f32
  const void* scales = nullptr;  // f32 for each row, or null
  DType dst_dtype = DType::kF32;
  void* dst = nullptr;  // may be `values` if the results are f32
};

// half_rows_<T>: converts rows of f32, f16 or bf16 to f16. Each row is multiplied by a power of
// two, so that it neither overflows in f16 nor loses bits. The factor is 1 if the row's largest
// finite magnitude is 0 or from 2^-6 to 65504. NaN and infinities do not change.
struct HalfRows {
  DType dtype = DType::kF32;
  std::size_t rows = 1, columns = 0;
  const void* x = nullptr;  // rows without gaps
  void* out = nullptr;      // f16
  void* scales = nullptr;   // f32 for each row: the inverse of its factor
  // Writes the rows in chunks, as HalfMatrix reads them (kernels/tuning/half_products.hpp), instead
  // of one after the other. `out` then has half_chunk_bytes() bytes, aligned to 16.
  bool in_chunks = false;
  // With in_chunks and the places of RankExperts: each row of `x` is the activation of `each`
  // consecutive tasks. `out` and `scales` then have half_task_rows() rows.
  const void* places = nullptr;
  std::size_t each = 1;
};
// Size of `rows` activations in chunks, in bytes.
std::size_t half_chunk_bytes(std::size_t rows, std::size_t columns);
// Number of rows that the activations of all tasks take in chunks.
std::size_t half_task_rows(std::size_t tasks, std::size_t experts);

// Errors: as for quantized.hpp.
Result<Launch> plan(const QuantizeRows& call, const Gpu& gpu = {});
Result<Launch> plan(const FusedVector& call, const Gpu& gpu = {});
Result<Launch> plan(const FusedFloatVector& call, const Gpu& gpu = {});
Result<Launch> plan(const RankExperts& call, const Gpu& gpu = {});
Result<Launch> plan(const FusedMatrix& call, const Gpu& gpu = {});
// Also kInvalidInput if a block of the device has too little shared memory.
Result<Launch> plan(const HalfMatrix& call, const Gpu& gpu = {});
Result<Launch> plan(const JoinProducts& call, const Gpu& gpu = {});
Result<Launch> plan(const HalfRows& call, const Gpu& gpu = {});

}  // namespace kiln::ops
