// quantized: weights in the blocks of GGUF files, to floats and times vectors.
//
// A matrix has `rows` rows of `columns` values, in whole blocks of its format, one behind the other
// without padding. Products take activations in Q8_1, which QuantizeQ8_1 makes: blocks of 32 signed
// bytes with their step and the sum of the values, rows padded to `padded` values. No kernel reads
// behind the last block of an operand.
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
  std::uint32_t gguf_type;  // in a GGUF file
  std::size_t values;       // of a block
  std::size_t bytes;        // of a block
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
// Of a row of `columns` values, which are whole blocks.
constexpr std::size_t row_bytes(BlockFormat format, std::size_t columns) {
  return columns / info(format).values * info(format).bytes;
}

// Activations: values that a row of `columns` is padded to, and the bytes of `rows` such rows.
constexpr std::size_t padded_columns(std::size_t columns) { return (columns + 511) / 512 * 512; }
constexpr std::size_t q8_1_bytes(std::size_t rows, std::size_t columns) {
  return rows * padded_columns(columns) / 32 * 36;
}

// quantize_q8_1: of every 32 values the step is their largest magnitude / 127, and a quant is
// value / step to the nearest whole number, halves away from zero. The padding is 0.
struct QuantizeQ8_1 {
  std::size_t rows = 1, columns = 0;
  std::size_t padded = 0;   // a multiple of 32; 0: padded_columns(columns)
  const void* x = nullptr;  // f32, rows one behind the other
  void* out = nullptr;      // Q8_1, of sixteen-byte alignment or better
  Geometry geometry = Geometry::kOwn;
};

// dequantize_block_<format>_<T>, for f32 and f16, which is rounded from f32.
struct DequantizeBlocks {
  BlockFormat format = BlockFormat::kQ4_0;
  DType dtype = DType::kF32;
  std::size_t count = 0;  // values, in whole blocks
  const void* blocks = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// get_rows_<format>: out[i, :] = row ids[i] of a table, in f32. Ids are not checked.
struct GetRows {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t count = 0;  // of ids
  std::size_t columns = 0;
  std::size_t row_bytes = 0;  // from row to row; 0: rows lie one behind the other
  const void* table = nullptr;
  const void* ids = nullptr;  // u32
  void* out = nullptr;        // f32
  Geometry geometry = Geometry::kOwn;
};
// The same of a table of f32, f16 or bf16.
struct GetFloatRows {
  DType dtype = DType::kF32;
  std::size_t count = 0;  // of ids
  std::size_t columns = 0;
  std::size_t row_bytes = 0;  // from row to row; 0: rows lie one behind the other
  const void* table = nullptr;
  const void* ids = nullptr;  // u32
  void* out = nullptr;        // f32
  Geometry geometry = Geometry::kOwn;
};

// dequantize_mul_mat_vec_<format>: dst[row] = the row times x, in f32. Not of Q8_K.
struct DequantizeMulMatVec {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;
  const void* weights = nullptr;
  const void* x = nullptr;  // f32
  void* dst = nullptr;      // f32
  Geometry geometry = Geometry::kOwn;
};

// dst[v * dst_stride + row] = the row times activation v, for so many vectors.
struct Q8_1Product {
  BlockFormat format = BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;
  std::size_t vectors = 1;
  std::size_t padded = 0;      // as in QuantizeQ8_1
  std::size_t dst_stride = 0;  // 0: rows
  const void* weights = nullptr;
  const void* activations = nullptr;  // Q8_1
  void* dst = nullptr;                // f32
};

// mul_mat_vec_<format>_q8_1_cuda<vectors>: a product with 1 to 8 activations. Whole numbers inside a block, f32 across blocks. Not of Q8_K; of IQ4_NL and
// MXFP4 for one.
struct MulMatVec : Q8_1Product {
  Geometry geometry = Geometry::kOwn;
};

// mul_mat_<format>: the same for any number of activations.
struct MulMat : Q8_1Product {
  Geometry geometry = Geometry::kOwn;
};

// held_vectors_<format>: the same for 1 to 8 activations, of Q4_0 to Q5_0, Q8_0 and Q4_K to Q6_K and
// rows of a multiple of 256 columns. The matrix begins and ends at a multiple of sixteen bytes, as
// activations do, padded to a multiple of 128. MulMatVec and MulMat choose it where it is faster.
struct HeldVectors : Q8_1Product {};

// The original's host passes five arguments to dequantize_mul_mat_vec_q5_k, which takes four. Takes
// the fifth, the rows, off such a launch, and leaves all others as they are.
void drop_fifth_argument(Launch& launch);

enum class MoeInputs : std::uint8_t {
  kOfBatch,  // an activation for each batch, which all its slots share
  kOfTask,   // an activation for each slot of each batch
};

// indexed_moe_forward_<format>_q8_1, for Q2_K to Q6_K and Q8_0: with task = batch * slots + slot,
// dst[task, row] = row `row` of expert experts[task] times its activation. Experts are matrices of
// (rows, columns), one behind the other; their numbers are not checked.
struct IndexedMoe {
  BlockFormat format = BlockFormat::kQ8_0;
  std::size_t rows = 0, columns = 0;  // of an expert
  std::size_t batches = 1, slots = 1;
  MoeInputs inputs = MoeInputs::kOfBatch;
  std::size_t padded = 0;  // as in QuantizeQ8_1
  const void* weights = nullptr;
  const void* activations = nullptr;  // Q8_1
  const void* experts = nullptr;      // u32, (batches, slots)
  void* dst = nullptr;                // f32
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the format that has no kernel, rows that are no whole blocks, and
// what the kernel or a launch cannot count.
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
