// quantized: weights in the block formats of GGUF files. Kernels convert them to floats, and
// multiply them with vectors.
//
// A matrix has `rows` rows of `columns` values. A row consists of whole blocks of its format, and
// rows follow each other without gaps. Most products take activations in Q8_1, which QuantizeQ8_1
// makes: blocks of 32 signed bytes with their step and the sum of the values. A row of activations
// is padded to `padded` values. No kernel reads past the last block of an operand.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/ops/tables/quantized.hpp"

namespace kiln::ops {

// Formats of weights.
enum class BlockFormat : std::uint8_t {
#define KILN_ROW(format, ...) k##format,
  KILN_EACH_BLOCK_FORMAT(KILN_ROW)
#undef KILN_ROW
};

struct BlockFormatInfo {
  BlockFormat format;
  std::string_view name;    // "Q4_K"
  std::uint32_t gguf_type;  // the format's number in GGUF files
  std::size_t values;       // per block
  std::size_t bytes;        // per block
};

inline constexpr BlockFormatInfo kBlockFormats[] = {
#define KILN_ROW(format, name, gguf_type, values, bytes) \
  {BlockFormat::k##format, name, gguf_type, values, bytes},
    KILN_EACH_BLOCK_FORMAT(KILN_ROW)
#undef KILN_ROW
};

constexpr const BlockFormatInfo& info(BlockFormat format) {
  return kBlockFormats[static_cast<std::size_t>(format)];
}
// Returns the bytes of a row of `columns` values, a multiple of the format's block.
constexpr std::size_t row_bytes(BlockFormat format, std::size_t columns) {
  return columns / info(format).values * info(format).bytes;
}

// For activations: the number of values that a row of `columns` is padded to by default, and the
// bytes of `rows` such rows in Q8_1.
constexpr std::size_t padded_columns(std::size_t columns) { return (columns + 511) / 512 * 512; }
constexpr std::size_t q8_1_bytes(std::size_t rows, std::size_t columns) {
  return rows * padded_columns(columns) / 32 * 36;
}

// quantize_q8_1: each block of 32 values has the step (largest magnitude) / 127. A quant is value /
// step, rounded to the nearest integer, halves away from zero. The padding is 0.
struct QuantizeQ8_1 {
  std::size_t rows = 1, columns = 0;
  std::size_t padded = 0;   // columns of `out`, a multiple of 32; 0: padded_columns(columns)
  const void* x = nullptr;  // f32, rows without gaps
  void* out = nullptr;      // Q8_1 blocks, aligned to 16 bytes or more
  Geometry geometry = Geometry::kOwn;
};

// dequantize_block_<format>_<T>, for f32 and f16. f16 results are rounded from f32.
struct DequantizeBlocks {
  BlockFormat format = BlockFormat::kQ4_0;
  DType dtype = DType::kF32;
  std::size_t count = 0;  // number of values, whole blocks
  const void* blocks = nullptr;
  void* out = nullptr;  // `count` elements of `dtype`
  Geometry geometry = Geometry::kOwn;
};

// get_rows_<format>: out[i, :] = row ids[i] of a table, as f32. Ids are not checked. Not for Q8_K,
// IQ4_NL and MXFP4.
struct GetRows {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t count = 0;  // number of ids
  std::size_t columns = 0;
  std::size_t row_bytes = 0;  // bytes from one row of the table to the next; 0: no gaps
  const void* table = nullptr;
  const void* ids = nullptr;  // u32
  void* out = nullptr;        // f32, (count, columns)
  Geometry geometry = Geometry::kOwn;
};
// The same for a table of f32, f16 or bf16.
struct GetFloatRows {
  DType dtype = DType::kF32;
  std::size_t count = 0;  // number of ids
  std::size_t columns = 0;
  std::size_t row_bytes = 0;  // bytes from one row of the table to the next; 0: no gaps
  const void* table = nullptr;
  const void* ids = nullptr;  // u32
  void* out = nullptr;        // f32, (count, columns)
  Geometry geometry = Geometry::kOwn;
};

// dequantize_mul_mat_vec_<format>: dst[row] = dot product of the row and x, in f32. Not for
// Q8_K, IQ4_NL and MXFP4.
struct DequantizeMulMatVec {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;
  const void* weights = nullptr;
  const void* x = nullptr;  // f32, `columns` values
  void* dst = nullptr;      // f32, `rows` values
  Geometry geometry = Geometry::kOwn;
};

// Fields of products with activations in Q8_1:
// dst[v * dst_stride + row] = dot product of the row and activation v, for v < vectors.
struct Q8_1Product {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;
  std::size_t vectors = 1;
  std::size_t padded = 0;      // as for QuantizeQ8_1
  std::size_t dst_stride = 0;  // elements from one activation's results to the next's; 0: rows
  const void* weights = nullptr;
  const void* activations = nullptr;  // Q8_1 blocks
  void* dst = nullptr;                // f32
};

// mul_mat_vec_<format>_q8_1_cuda<vectors>: a product with 1 to 8 activations. Sums within a block
// are integers, sums of blocks are f32. Not for Q8_K; IQ4_NL and MXFP4 only with one activation.
struct MulMatVec : Q8_1Product {
  Geometry geometry = Geometry::kOwn;
};

// mul_mat_<format>: the same for any number of activations. Not for Q8_K, IQ4_NL and MXFP4.
struct MulMat : Q8_1Product {
  Geometry geometry = Geometry::kOwn;
};

// held_vectors_<format>: the same for 1 to 8 activations, for Q4_0 to Q5_0, Q8_0 and Q4_K to Q6_K,
// and rows of a multiple of 256 columns. `padded` is a multiple of 128. The activations, and the
// start and the end of the matrix, are aligned to 16 bytes. With Geometry::kOwn, MulMatVec and
// MulMat choose this kernel if it is faster.
struct HeldVectors : Q8_1Product {};

// candle's host passes five arguments to dequantize_mul_mat_vec_q5_k, which takes four. Removes the
// fifth, the number of rows, from such a launch. Does not change other launches.
void drop_fifth_argument(Launch& launch);

enum class MoeInputs : std::uint8_t {
  kOfBatch,  // one activation for each batch, shared by all its slots
  kOfTask,   // one activation for each slot of each batch
};

// indexed_moe_forward_<format>_q8_1, for Q2_K to Q6_K and Q8_0. With task = batch * slots + slot,
// dst[task, row] = dot product of row `row` of expert experts[task] and the task's activation.
// Experts are matrices of (rows, columns), one after the other. Their numbers are not checked.
struct IndexedMoe {
  BlockFormat format = BlockFormat::kQ8_0;
  std::size_t rows = 0, columns = 0;  // of one expert's matrix
  std::size_t batches = 1, slots = 1;
  MoeInputs inputs = MoeInputs::kOfBatch;
  std::size_t padded = 0;  // as for QuantizeQ8_1
  const void* weights = nullptr;
  const void* activations = nullptr;  // Q8_1 blocks
  const void* experts = nullptr;      // u32, (batches, slots)
  void* dst = nullptr;                // f32, (batches, slots, rows)
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput): a format without such a kernel, rows that are not whole blocks, and sizes
// that the kernel or a launch cannot count.
Result<Launch> plan(const QuantizeQ8_1& call, const Gpu& gpu = {});
Result<Launch> plan(const DequantizeBlocks& call, const Gpu& gpu = {});
Result<Launch> plan(const GetRows& call, const Gpu& gpu = {});
Result<Launch> plan(const GetFloatRows& call, const Gpu& gpu = {});
Result<Launch> plan(const DequantizeMulMatVec& call, const Gpu& gpu = {});
Result<Launch> plan(const MulMatVec& call, const Gpu& gpu = {});
Result<Launch> plan(const MulMat& call, const Gpu& gpu = {});
Result<Launch> plan(const HeldVectors& call, const Gpu& gpu = {});
Result<Launch> plan(const IndexedMoe& call, const Gpu& gpu = {});

}  // namespace kiln::ops
