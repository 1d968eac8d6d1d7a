#include "kiln/ops/quantized.hpp"

#include <algorithm>

#include "kernels/tuning/dequantize.hpp"
#include "kernels/tuning/fused_products.hpp"
#include "kernels/tuning/quantized.hpp"
#include "quantized_plan.hpp"

namespace kiln::ops {
namespace {

#define KILN_F32_ROW(format, suffix, ...) KILN_SET(format, "dequantize_block_" #suffix "_f32")
constexpr FormatFamily kDequantizeF32 = [] {
  FormatFamily family = none_of("dequantize_block");
  KILN_EACH_DEQUANTIZE_OF_BLOCKS(KILN_F32_ROW)
  KILN_EACH_DEQUANTIZE_OF_VALUES(KILN_F32_ROW)
  KILN_EACH_DEQUANTIZE_OF_GRID(KILN_F32_ROW)
  KILN_EACH_OWN_FORMAT(KILN_F32_ROW)
  return family;
}();
#undef KILN_F32_ROW
#define KILN_F16_ROW(format, suffix, ...) KILN_SET(format, "dequantize_block_" #suffix "_f16")
constexpr FormatFamily kDequantizeF16 = [] {
  FormatFamily family = none_of("dequantize_block");
  KILN_EACH_DEQUANTIZE_OF_BLOCKS(KILN_F16_ROW)
  KILN_EACH_DEQUANTIZE_OF_VALUES(KILN_F16_ROW)
  KILN_EACH_DEQUANTIZE_OF_GRID(KILN_F16_ROW)
  KILN_EACH_OWN_FORMAT(KILN_F16_ROW)
  return family;
}();
#undef KILN_F16_ROW

#define KILN_ROW(format, suffix) KILN_SET(format, "get_rows_" #suffix)
constexpr FormatFamily kGetRows = [] {
  FormatFamily family = none_of("get_rows");
  KILN_EACH_GET_ROWS(KILN_ROW)
  return family;
}();
#undef KILN_ROW

#define KILN_ROW(format, suffix) KILN_SET(format, "dequantize_mul_mat_vec_" #suffix)
constexpr FormatFamily kF32Vector = [] {
  FormatFamily family = none_of("dequantize_mul_mat_vec");
  KILN_EACH_DEQUANTIZE_MUL_MAT_VEC(KILN_ROW)
  KILN_EACH_DEQUANTIZE_MUL_MAT_VEC_OF_GRID(KILN_ROW)
  return family;
}();
#undef KILN_ROW

// The kernel for one vector. The kernels for more vectors follow it. Some formats have only the
// first.
#define KILN_ROW(format, suffix, ...) KILN_SET(format, "mul_mat_vec_" #suffix "_q8_1_cuda1")
constexpr FormatFamily kMulMatVec = [] {
  FormatFamily family = none_of("mul_mat_vec");
  KILN_EACH_MUL_MAT(KILN_ROW)
  return family;
}();
constexpr FormatFamily kMulMatOneVec = [] {
  FormatFamily family = kMulMatVec;
  KILN_EACH_OWN_FORMAT(KILN_ROW)
  return family;
}();
#undef KILN_ROW

#define KILN_ROW(format, suffix, ...) KILN_SET(format, "mul_mat_" #suffix)
constexpr FormatFamily kMulMat = [] {
  FormatFamily family = none_of("mul_mat");
  KILN_EACH_MUL_MAT(KILN_ROW)
  return family;
}();
#undef KILN_ROW

#define KILN_ROW(format, suffix) KILN_SET(format, "indexed_moe_forward_" #suffix "_q8_1")
constexpr FormatFamily kIndexedMoe = [] {
  FormatFamily family = none_of("indexed_moe_forward");
  KILN_EACH_INDEXED_MOE(KILN_ROW)
  return family;
}();
#undef KILN_ROW

constexpr KernelRows kQuantize = rows_of("quantize_q8_1");
constexpr KernelRows kGetFloatRows = rows_of("get_rows");

// Parameters of the launches of a format.
struct FormatLaunch {
  // dequantize_block: threads per block of values; 0: the kernel takes `k` instead
  std::uint32_t grid_threads = 0;
  // dequantize_block: parts of a block of values; kiln's own launch decodes one or two at once
  std::uint32_t slices = 0;
  bool counts_values = false;                     // dequantize_block: `k` counts values, not blocks
  std::uint32_t tile_rows = 0, tile_vectors = 0;  // mul_mat
};
constexpr auto kFormatLaunches = [] {
  std::array<FormatLaunch, std::size(kBlockFormats)> launches{};
#define KILN_OF(format) launches[static_cast<std::size_t>(BlockFormat::k##format)]
#define KILN_VALUES_ROW(format, ...) KILN_OF(format).counts_values = true;
#define KILN_GRID_ROW(format, suffix, threads, block_slices) \
  KILN_OF(format).grid_threads = threads;                    \
  KILN_OF(format).slices = block_slices;
#define KILN_TILE_ROW(format, suffix, rows, vectors) \
  KILN_OF(format).tile_rows = rows;                  \
  KILN_OF(format).tile_vectors = vectors;
  KILN_EACH_DEQUANTIZE_OF_VALUES(KILN_VALUES_ROW)
  KILN_EACH_DEQUANTIZE_OF_GRID(KILN_GRID_ROW)
  KILN_EACH_MUL_MAT(KILN_TILE_ROW)
#undef KILN_OF
#undef KILN_VALUES_ROW
#undef KILN_GRID_ROW
#undef KILN_TILE_ROW
  return launches;
}();
constexpr const FormatLaunch& launch_of(BlockFormat format) {
  return kFormatLaunches[static_cast<std::size_t>(format)];
}

bool goes_streamed(const MulMatVec& call, const Gpu& gpu, std::uint32_t rows,
                   std::uint32_t columns) {
  return kFusedVector.has(call.format) && tuning::streams_fused_format(block_bytes(call.format)) &&
         streams_rows(call.format, gpu, {call.weights, call.activations}, rows, columns);
}

bool has_long_blocks(BlockFormat format) { return info(format).values > 32; }
bool goes_held(const Q8_1Product& call, const Gpu& gpu, std::uint32_t rows, std::uint32_t columns,
               std::int32_t padded) {
  return reinterpret_cast<std::uintptr_t>(call.activations) % 16 == 0 && padded % 128 == 0 &&
         holds_vectors(call.format, gpu, call.weights, rows, columns, call.vectors);
}
constexpr unsigned kBlock = 256;
// Sets the grid for rows chosen by ids. In the reference geometry, a thread does `reference_values`
// values.
Result<void> set_rows_grid(Launch& launch, Geometry geometry, std::size_t ids, std::size_t columns,
                           std::uint32_t reference_threads, std::size_t reference_values) {
  KILN_TRY_ASSIGN(launch.grid.x, in_32_bits("ids", ids, kMaxSigned));
  launch.block.x = kBlock;
  // Few rows are split like the reference's; many rows use fewer blocks.
  constexpr std::size_t kMany = 1u << 22, kValuesOfThread = 16;
  std::size_t of_block = kBlock * (ids * columns < kMany ? reference_values : kValuesOfThread);
  if (geometry == Geometry::kReference) {
    launch.block.x = reference_threads;
    of_block = reference_threads * reference_values;
  }
  const std::size_t blocks = columns / of_block + (columns % of_block != 0);
  launch.grid.y = static_cast<std::uint32_t>(std::min<std::size_t>(blocks, kMaxAlongY));
  return {};
}

Result<std::int64_t> row_length(std::size_t ids, std::size_t columns) {
  KILN_TRY(element_count({{ids, columns}}));
  // The pieces of a row are counted in 32 bits.
  KILN_TRY_ASSIGN(const std::int32_t length, parameter("columns", columns));
  return std::int64_t{length};
}

}  // namespace

Result<Launch> plan(const QuantizeQ8_1& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kQuantize, DType::kF32));
  KILN_TRY(element_count({{call.rows, call.columns}}));
  KILN_TRY_ASSIGN(const std::int32_t columns, parameter("columns", call.columns));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY_ASSIGN(launch.grid.y, along_y("rows", call.rows));
  // A thread does four values in kiln's own geometry, and one in the reference geometry.
  const std::size_t threads = call.geometry == Geometry::kReference
                                  ? static_cast<std::size_t>(padded)
                                  : static_cast<std::size_t>(padded) / 4;
  launch.grid.x = divide_up(threads, kBlock);
  launch.block.x = kBlock;
  launch.pass(QuantizeKernel<void>(), call.x, call.out, columns, padded);
  return launch;
}

Result<Launch> plan(const DequantizeBlocks& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(require_dtype("dequantize_block", call.dtype, {DType::kF32, DType::kF16}));
  KILN_TRY(
      set_kernel(launch, call.dtype == DType::kF16 ? kDequantizeF16 : kDequantizeF32, call.format));
  KILN_TRY(element_count({{call.count}}));
  KILN_TRY(require_blocks(call.format, "tensors", call.count));
  const FormatLaunch& format = launch_of(call.format);
  const std::size_t blocks = call.count / info(call.format).values;
  const bool is_small = format.grid_threads != 0
                            ? call.count <= tuning::kSmallTensor
                            : call.count * size_of(call.dtype) <= tuning::kSmallOutput;
  const bool is_own = call.geometry == Geometry::kOwn && !is_small;
  if (format.grid_threads != 0) {
    // The reference has one block of threads per block of values. kiln's own geometry joins as many
    // of them as divide their number. For large tensors they lie along y, with a thread for each
    // part that is decoded at once.
    launch.block.x = format.grid_threads;
    std::size_t of_block = 1;
    if (is_own) {
      const bool is_large = call.count >= tuning::kLargeTensor;
      const std::uint32_t pieces = format.slices / (call.dtype == DType::kF16 ? 2 : 1);
      const std::uint32_t threads = is_large ? pieces : format.grid_threads;
      while (of_block * threads < kBlock && blocks % (2 * of_block) == 0) of_block *= 2;
      const auto count = static_cast<std::uint32_t>(of_block);
      if (is_large && count != 1) {
        launch.block = {pieces, count, 1};
      } else {
        launch.block.x = format.grid_threads * count;
      }
    }
    KILN_TRY_ASSIGN(launch.grid.x, in_32_bits("blocks", blocks / of_block, kMaxSigned));
    launch.pass(DequantizeOfGridKernel<void>(), call.blocks, call.out);
    return launch;
  }
  KILN_TRY_ASSIGN(const std::int32_t k, format.counts_values ? parameter("values", call.count)
                                                             : parameter("blocks", blocks));
  if (is_own) {
    constexpr std::size_t kValuesOfThread = 8;
    const std::size_t threads = call.count / kValuesOfThread;
    launch.block.x = kBlock;
    const bool is_resident = call.dtype == DType::kF16 && call.format != BlockFormat::kQ8_0 &&
                             threads >= tuning::kManyDequantized;
    launch.grid.x =
        is_resident ? spread_over(gpu).over(threads, kBlock).blocks : divide_up(threads, kBlock);
  } else {
    launch.block.x = format.counts_values ? kBlock : kWave;
    launch.grid.x = divide_up(call.count, format.counts_values ? 512 : 256);
  }
  launch.pass(DequantizeKernel<void>(), call.blocks, call.out, k);
  return launch;
}

Result<Launch> plan(const GetRows& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kGetRows, call.format));
  KILN_TRY_ASSIGN(const std::int64_t columns, row_length(call.count, call.columns));
  KILN_TRY(require_blocks(call.format, "rows", call.columns));
  const FormatLaunch& format = launch_of(call.format);
  if (format.grid_threads != 0) {
    KILN_TRY(set_rows_grid(launch, call.geometry, call.count, call.columns, format.grid_threads,
                           info(call.format).values / format.grid_threads));
  } else {
    KILN_TRY(set_rows_grid(launch, call.geometry, call.count, call.columns, kBlock, 2));
  }
  const std::uint64_t bytes =
      call.row_bytes != 0 ? call.row_bytes : row_bytes(call.format, call.columns);
  launch.pass(GetRowsKernel<void>(), call.table, call.ids, call.out, columns, bytes);
  return launch;
}

Result<Launch> plan(const GetFloatRows& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kGetFloatRows, call.dtype));
  KILN_TRY_ASSIGN(const std::int64_t columns, row_length(call.count, call.columns));
  KILN_TRY(set_rows_grid(launch, call.geometry, call.count, call.columns, kBlock, 1));
  const std::uint64_t bytes =
      call.row_bytes != 0 ? call.row_bytes : call.columns * size_of(call.dtype);
  launch.pass(GetRowsKernel<void>(), call.table, call.ids, call.out, columns, bytes);
  return launch;
}

Result<Launch> plan(const DequantizeMulMatVec& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kF32Vector, call.format));
  KILN_TRY_ASSIGN(const Matrix matrix, matrix_of(call.format, call.rows, call.columns));
  launch.grid.x = static_cast<std::uint32_t>(matrix.rows);
  launch.block.x = kWave;
  if (call.geometry == Geometry::kOwn) {
    const auto columns = static_cast<std::uint32_t>(matrix.columns);
    const bool is_long = has_long_blocks(call.format);
    launch.block.y = tuning::float_vector_threads(launch.grid.x, columns, is_long) / kWave;
  }
  if (call.format == BlockFormat::kQ5_K) {
    launch.pass(F32VectorOfGridKernel(), call.weights, call.x, call.dst, matrix.columns);
  } else {
    launch.pass(F32VectorKernel(), call.weights, call.x, call.dst, matrix.columns, matrix.rows);
  }
  return launch;
}

void drop_fifth_argument(Launch& launch) {
  constexpr std::size_t kTaken = 4;
  const bool is_of_q5_k = launch.module == "quantized" &&
                          launch.kernel.text() == std::string_view("dequantize_mul_mat_vec_q5_k");
  if (is_of_q5_k && launch.arguments.size() == kTaken + 1) launch.arguments.resize(kTaken);
}

bool has_kernels(BlockFormat format, std::size_t vectors) {
  return kMulMat.has(format) || kFusedVector.has(format) ||
         (kMulMatOneVec.has(format) && vectors <= 1);
}

Result<Launch> plan(const MulMatVec& call, const Gpu& gpu) {
  Launch launch;
  const bool takes_several = kMulMatVec.has(call.format);
  const std::size_t most = takes_several ? kMaxVectors : 1;
  if (kMulMatOneVec.has(call.format) && (call.vectors < 1 || call.vectors > most)) {
    return refused("no kernel of 'mul_mat_vec' takes " + std::to_string(call.vectors) +
                   " vectors with blocks of " + format_name(call.format))
        .note("it takes 1" + (takes_several ? " to " + std::to_string(most) : std::string()))
        .hint(takes_several ? "use MulMat" : "use QuantizedMatmul");
  }
  KILN_TRY(set_kernel(launch, kMulMatOneVec, call.format, call.vectors - 1));
  KILN_TRY_ASSIGN(const Matrix matrix, matrix_of(call.format, call.rows, call.columns));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY_ASSIGN(const std::int32_t stride, result_stride(call.rows, call.dst_stride));
  const auto rows = static_cast<std::uint32_t>(matrix.rows);
  const auto columns = static_cast<std::uint32_t>(matrix.columns);
  const auto vectors = static_cast<std::uint32_t>(call.vectors);
  const bool is_long = has_long_blocks(call.format);
  launch.block.x = kWave;
  if (call.geometry == Geometry::kOwn && goes_held(call, gpu, rows, columns, padded)) {
    return plan(HeldVectors{call}, gpu);
  }
  if (call.geometry == Geometry::kOwn && vectors == 1 && goes_streamed(call, gpu, rows, columns)) {
    KILN_TRY(set_kernel(launch, kFusedVector, call.format));
    set_streamed_blocks(launch, call.format, gpu, columns);
    constexpr const void* kNoMatrix = nullptr;
    constexpr const std::uint32_t* kNoExperts = nullptr;
    launch.pass(FusedVectorKernel(), call.weights, kNoMatrix, call.activations, kNoExperts,
                static_cast<void*>(call.dst), matrix.columns, matrix.rows, padded, stride,
                std::int32_t{1}, std::uint32_t{tuning::kFloatF32});
    return launch;
  }
  if (call.geometry == Geometry::kReference) {
    launch.grid.x = divide_up(rows, vectors == 1 ? 1 : 2);
    launch.block.y = vectors <= 4 ? 4 : 2;
  } else if (vectors == 1 && columns <= tuning::kColumnsOfWave && rows <= tuning::kFewShortRows) {
    launch.block.y = 4;
    launch.grid.x = tuning::vector_blocks(rows, 1, launch.block.y);
  } else if (vectors == 1 && rows <= tuning::kFewRows) {
    launch.grid.x = rows;
    launch.block.y = 4;
  } else if (vectors <= 4 || !is_long) {
    const unsigned threads =
        tuning::vector_threads(rows, columns, vectors, block_bytes(call.format));
    const unsigned at_once = vectors == 1 ? tuning::kSingleVectorRowsAtOnce : tuning::kRowsAtOnce;
    const bool is_by_wave =
        columns <= tuning::kColumnsOfWave && rows > at_once * (tuning::kFewGroups - 1);
    launch.grid.x = tuning::vector_blocks(rows, at_once, is_by_wave ? threads / kWave : 1);
    launch.block.y = threads / kWave;
  } else {
    constexpr std::uint32_t kFragmentRows = 16;
    const bool by_units = tuning::goes_by_units(rows, columns, vectors);
    launch.grid.x = divide_up(rows, by_units ? kFragmentRows : tuning::kFewRowsAtOnce);
    launch.grid.y = by_units || rows > tuning::kFewRows ? 1 : 2;
    launch.block.y = 4;
  }
  launch.pass(VectorsKernel(), call.weights, call.activations, call.dst, matrix.columns,
              matrix.rows, padded, stride);
  return launch;
}

Result<Launch> plan(const MulMat& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kMulMat, call.format));
  KILN_TRY_ASSIGN(const Matrix matrix, matrix_of(call.format, call.rows, call.columns));
  KILN_TRY(element_count({{call.vectors}}));
  KILN_TRY_ASSIGN(const std::int32_t vectors, parameter("vectors", call.vectors));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY_ASSIGN(const std::int32_t stride, result_stride(call.rows, call.dst_stride));
  if (call.geometry == Geometry::kOwn && call.vectors <= kMaxVectors &&
      goes_held(call, gpu, static_cast<std::uint32_t>(matrix.rows),
                static_cast<std::uint32_t>(matrix.columns), padded)) {
    return plan(HeldVectors{call}, gpu);
  }
  launch.block = {kWave, 4, 1};
  std::uint32_t rows = launch_of(call.format).tile_rows;
  std::uint32_t of_vectors = launch_of(call.format).tile_vectors;
  if (call.geometry == Geometry::kOwn) {
    const tuning::Tile tile =
        tuning::tile_of(static_cast<std::uint32_t>(matrix.rows), divide_up(call.vectors, 64),
                        spread_over(gpu).multiprocessors);
    rows = tile.rows;
    of_vectors = tile.vectors;
    launch.block.y = tile.threads / kWave;
  }
  launch.grid.x = divide_up(call.rows, rows);
  KILN_TRY_ASSIGN(launch.grid.y, along_y("tiles of vectors", divide_up(call.vectors, of_vectors)));
  launch.pass(MatrixKernel(), call.weights, call.activations, call.dst, matrix.columns, matrix.rows,
              vectors, padded, stride);
  return launch;
}

Result<Launch> plan(const HeldVectors& call, const Gpu& gpu) {
  constexpr std::uint32_t kTileRows = 16;
  Launch launch;
  if (call.vectors < 1 || call.vectors > kMaxVectors) {
    return refused("no kernel of 'held_vectors' takes " + std::to_string(call.vectors) + " vectors")
        .note("it takes 1 to " + std::to_string(kMaxVectors))
        .hint("use MulMat");
  }
  KILN_TRY(set_kernel(launch, kHeldVectors, call.format));
  KILN_TRY_ASSIGN(const Matrix matrix, matrix_of(call.format, call.rows, call.columns));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY_ASSIGN(const std::int32_t stride, result_stride(call.rows, call.dst_stride));
  if (call.columns % tuning::kHeldColumns != 0 || padded % 128 != 0 ||
      reinterpret_cast<std::uintptr_t>(call.activations) % 16 != 0 ||
      !is_held_aligned(call.format, call.weights, call.rows, call.columns)) {
    return refused("vectors are held of rows of a multiple of " +
                   std::to_string(tuning::kHeldColumns) + " columns, at multiples of 16 bytes")
        .hint("use MulMat");
  }
  launch.block = {kWave, held_waves(call.format, gpu, call.columns), 1};
  launch.grid.x = std::min(divide_up(call.rows, kTileRows), spread_over(gpu).multiprocessors);
  launch.shared_bytes = tuning::held_bytes(held_row(call.format), launch.block.y);
  if (launch.block.y == 0) {
    // Other devices use a block of four waves for each row.
    launch.block.y = 4;
    launch.grid.x = static_cast<std::uint32_t>(matrix.rows);
  }
  launch.pass(MatrixKernel(), call.weights, call.activations, call.dst, matrix.columns, matrix.rows,
              static_cast<std::int32_t>(call.vectors), padded, stride);
  return launch;
}

Result<Launch> plan(const IndexedMoe& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kIndexedMoe, call.format));
  KILN_TRY_ASSIGN(const Matrix matrix, matrix_of(call.format, call.rows, call.columns));
  KILN_TRY(element_count({{call.batches, call.slots}}));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  const auto rows = static_cast<std::uint32_t>(matrix.rows);
  const auto columns = static_cast<std::uint32_t>(matrix.columns);
  launch.grid.x = rows;
  KILN_TRY_ASSIGN(launch.grid.y, along_y("batches", call.batches));
  KILN_TRY_ASSIGN(launch.grid.z, along_y("slots", call.slots));
  launch.block.x = kWave;
  launch.block.y = 4;
  if (call.geometry == Geometry::kOwn) {
    const std::uint64_t tasks = std::uint64_t{launch.grid.y} * launch.grid.z;
    constexpr unsigned kAtOnce = tuning::kSingleVectorRowsAtOnce;
    const std::uint64_t groups = tasks * tuning::vector_blocks(rows, kAtOnce, 1);
    const bool is_by_wave = columns <= tuning::kColumnsOfWave && groups >= tuning::kFewGroups;
    launch.block.y =
        tuning::expert_threads(rows * tasks, columns, block_bytes(call.format)) / kWave;
    launch.grid.x = tuning::vector_blocks(rows, kAtOnce, is_by_wave ? launch.block.y : 1);
  }
  const auto batches = static_cast<std::int32_t>(call.batches);
  const auto slots = static_cast<std::int32_t>(call.slots);
  // Number of rows of activations per batch.
  const std::int32_t input_rows = call.inputs == MoeInputs::kOfBatch ? 1 : slots;
  launch.pass(MoeKernel(), call.weights, call.activations, call.experts, call.dst, matrix.rows,
              matrix.columns, batches, slots, padded, input_rows);
  return launch;
}

}  // namespace kiln::ops
