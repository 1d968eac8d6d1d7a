#include "kiln/ops/fused_products.hpp"

#include <algorithm>

#include "kernels/tuning/fused_products.hpp"
#include "kernels/tuning/half_products.hpp"
#include "kernels/tuning/quantized.hpp"
#include "quantized_plan.hpp"

namespace kiln::ops {
namespace {

#define KILN_FAMILY(constant, root)      \
  constexpr FormatFamily constant = [] { \
    FormatFamily family = none_of(root); \
    KILN_EACH_FUSED(KILN_ROW)            \
    return family;                       \
  }();
#define KILN_ROW(format, suffix) KILN_SET(format, "fused_float_vector_" #suffix)
KILN_FAMILY(kFloatVector, "fused_float_vector")
#undef KILN_ROW
#define KILN_ROW(format, suffix) KILN_SET(format, "fused_matrix_" #suffix)
KILN_FAMILY(kMatrix, "fused_matrix")
#undef KILN_ROW
#define KILN_ROW(format, suffix) KILN_SET(format, "half_matrix_" #suffix)
KILN_FAMILY(kHalfMatrix, "half_matrix")
#undef KILN_ROW
#undef KILN_FAMILY

static_assert(kHalfExpertTile == tuning::kHalfTileVectors);

constexpr KernelRows kQuantizeRows = rows_of("quantize_rows_q8_1");
constexpr KernelRows kRankExperts = rows_of("rank_experts");
constexpr KernelRows kJoinProducts = rows_of("join_products");
constexpr KernelRows kHalfRows = rows_of("half_rows");

Result<std::uint32_t> float_type(std::string_view root, DType dtype) {
  KILN_TRY(require_dtype(root, dtype, {DType::kF32, DType::kF16, DType::kBF16}));
  if (dtype == DType::kF32) return std::uint32_t{tuning::kFloatF32};
  return std::uint32_t{dtype == DType::kF16 ? tuning::kFloatF16 : tuning::kFloatBf16};
}

// The parameters that kernels get for a FusedProduct.
struct Numbers {
  std::int32_t rows, columns, stride;
  std::uint32_t type;
};
Result<Numbers> numbers_of(std::string_view root, const FusedProduct& call) {
  KILN_TRY_ASSIGN(const Matrix matrix, matrix_of(call.format, call.rows, call.columns));
  KILN_TRY_ASSIGN(const std::int32_t stride, result_stride(call.rows, call.dst_stride));
  KILN_TRY_ASSIGN(const std::uint32_t type, float_type(root, call.dst_dtype));
  return Numbers{matrix.rows, matrix.columns, stride, type};
}

// The matrices of a call. Of two matrices, the gate comes first. Kernels count the rows of both
// together.
struct Matrices {
  const void *first, *second;
  std::uint32_t rows;
};
template <typename Call>
Result<Matrices> matrices_of(const Call& call) {
  const bool is_pair = call.gate != nullptr;
  KILN_TRY_ASSIGN(const std::uint32_t rows,
                  in_32_bits("rows", call.rows * (is_pair ? 2 : 1), kMaxSigned));
  return Matrices{is_pair ? call.gate : call.weights, is_pair ? call.weights : nullptr, rows};
}

// Sets one block for every kRowsAtOnce rows. If there are few rows, more threads share them.
void set_row_blocks(Launch& launch, std::uint32_t rows, std::uint32_t columns) {
  launch.grid.x = divide_up(rows, tuning::kRowsAtOnce);
  launch.block.x = kWave;
  launch.block.y = tuning::fused_threads(rows, columns) / kWave;
}

Result<std::int32_t> tasks_of_vector(std::size_t tasks) {
  if (tasks == 0) return refused("an activation has no tasks");
  return parameter("tasks of an activation", tasks);
}

}  // namespace

Result<Launch> plan(const QuantizeRows& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kQuantizeRows, call.dtype));
  KILN_TRY(element_count({{call.rows, call.columns}}));
  KILN_TRY_ASSIGN(const std::int32_t columns, parameter("columns", call.columns));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY_ASSIGN(const std::int32_t each, tasks_of_vector(call.each));
  KILN_TRY_ASSIGN(launch.grid.y, along_y("rows", call.rows));
  constexpr unsigned kBlock = 256, kValuesOfThread = 4;
  launch.grid.x = divide_up(static_cast<std::size_t>(padded) / kValuesOfThread, kBlock);
  launch.block.x = kBlock;
  launch.pass(QuantizeRowsKernel<void>(), call.x, call.order, call.out, columns, padded,
              static_cast<std::uint32_t>(each));
  return launch;
}

Result<Launch> plan(const FusedVector& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kFusedVector, call.format));
  KILN_TRY_ASSIGN(const Numbers numbers, numbers_of("fused_vector", call));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY_ASSIGN(const std::int32_t of_vector, tasks_of_vector(call.tasks_of_vector));
  KILN_TRY_ASSIGN(const Matrices matrices, matrices_of(call));
  KILN_TRY(element_count({{call.tasks}}));
  const auto columns = static_cast<std::uint32_t>(numbers.columns);
  if (call.tasks == 1 && call.experts == nullptr &&
      tuning::streams_fused_format(block_bytes(call.format)) &&
      streams_rows(call.format, gpu, {matrices.first, matrices.second, call.activations},
                   matrices.rows, columns, matrices.second != nullptr)) {
    set_streamed_blocks(launch, call.format, gpu, columns);
  } else {
    set_row_blocks(launch, matrices.rows, columns);
  }
  KILN_TRY_ASSIGN(launch.grid.y, along_y("tasks", call.tasks));
  launch.pass(FusedVectorKernel(), matrices.first, matrices.second, call.activations, call.experts,
              call.dst, numbers.columns, numbers.rows, padded, numbers.stride, of_vector,
              numbers.type);
  return launch;
}

Result<Launch> plan(const FusedFloatVector& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kFloatVector, call.format));
  KILN_TRY_ASSIGN(const Numbers numbers, numbers_of("fused_float_vector", call));
  KILN_TRY_ASSIGN(const std::uint32_t x_type, float_type("fused_float_vector", call.x_dtype));
  KILN_TRY_ASSIGN(const std::int32_t of_vector, tasks_of_vector(call.tasks_of_vector));
  const std::size_t x_stride = call.x_stride != 0 ? call.x_stride : call.columns;
  if (x_stride % 4 != 0 || x_stride < call.columns ||
      reinterpret_cast<std::uintptr_t>(call.x) % (4 * size_of(call.x_dtype)) != 0) {
    return refused("activations at " + std::to_string(reinterpret_cast<std::uintptr_t>(call.x)) +
                   " that are " + std::to_string(x_stride) + " values apart, of " +
                   std::to_string(call.columns))
        .note("'fused_float_vector' takes what begins at multiples of four values")
        .hint("use QuantizeRows and FusedVector");
  }
  KILN_TRY_ASSIGN(const std::int32_t narrow_stride, parameter("values of a row", x_stride));
  KILN_TRY_ASSIGN(const Matrices matrices, matrices_of(call));
  KILN_TRY(element_count({{call.tasks}}));
  set_row_blocks(launch, matrices.rows, static_cast<std::uint32_t>(numbers.columns));
  KILN_TRY_ASSIGN(launch.grid.y, along_y("tasks", call.tasks));
  launch.pass(FusedFloatVectorKernel(), matrices.first, matrices.second, call.x, call.experts,
              call.dst, numbers.columns, numbers.rows, narrow_stride, numbers.stride, of_vector,
              x_type, numbers.type);
  return launch;
}

Result<Launch> plan(const RankExperts& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kRankExperts, DType::kU32));
  if (call.tile == 0) return refused("'rank_experts' makes tiles of no tasks");
  KILN_TRY_ASSIGN(const std::int32_t tile, parameter("tasks of a tile", call.tile));
  KILN_TRY(element_count({{call.experts}}));
  KILN_TRY_ASSIGN(const std::int32_t tasks, parameter("tasks", call.tasks));
  KILN_TRY_ASSIGN(launch.grid.x, in_32_bits("experts", call.experts, kMaxSigned));
  launch.block.x = call.tasks <= 256 ? 64 : 512;
  launch.pass(RankExpertsKernel(), call.ids, call.order, call.tiles, call.places,
              static_cast<std::uint32_t>(tasks), static_cast<std::uint32_t>(tile));
  return launch;
}

Result<Launch> plan(const FusedMatrix& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kMatrix, call.format));
  KILN_TRY_ASSIGN(const Numbers numbers, numbers_of("fused_matrix", call));
  KILN_TRY(element_count({{call.vectors}}));
  KILN_TRY_ASSIGN(const std::int32_t vectors, parameter("vectors", call.vectors));
  KILN_TRY_ASSIGN(const std::int32_t padded, padded_row(call.columns, call.padded));
  KILN_TRY(parameter("experts", call.experts));
  const std::size_t tiles = call.experts == 0 ? divide_up(call.vectors, kExpertTile)
                                              : expert_tiles(call.vectors, call.experts);
  const tuning::Tile tile = tuning::tile_of(static_cast<std::uint32_t>(numbers.rows), tiles,
                                            spread_over(gpu).multiprocessors);
  launch.grid.x = divide_up(call.rows, tile.rows);
  KILN_TRY_ASSIGN(launch.grid.y, along_y("tiles of vectors", tiles));
  launch.block = {kWave, tile.threads / kWave, 1};
  launch.pass(FusedMatrixKernel(), call.weights, call.gates, call.activations, call.order,
              call.tiles, call.dst, numbers.columns, numbers.rows, vectors, padded, numbers.stride,
              numbers.type);
  return launch;
}

Result<Launch> plan(const HalfMatrix& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kHalfMatrix, call.format));
  KILN_TRY_ASSIGN(const Numbers numbers, numbers_of("half_matrix", call));
  KILN_TRY(element_count({{call.vectors, call.columns}}));
  KILN_TRY(parameter("experts", call.experts));
  // With experts, as many vectors as their tiles have room for.
  const std::size_t count =
      call.experts == 0
          ? call.vectors
          : expert_tiles(call.vectors, call.experts, kHalfExpertTile) * kHalfExpertTile;
  KILN_TRY_ASSIGN(const std::int32_t vectors, parameter("vectors", count));
  KILN_TRY(parameter("rows of all experts", call.rows * std::max<std::size_t>(call.experts, 1)));
  const bool has_groups = has_warp_groups(gpu);
  const unsigned of_tile = tuning::half_vectors(has_groups);
  const std::uint32_t tiles = divide_up(count, of_tile);
  tuning::HalfBlock block =
      tuning::half_block(call.rows, tiles, spread_over(gpu).multiprocessors, has_groups);
  // Without background copies, only one step is held at a time, and blocks are small.
  const unsigned stages = has_background_copies(gpu) ? 2 : 1;
  if (stages == 1) block = {tuning::kHalfThreads, 1};
  const BlockFormatInfo& of = info(call.format);
  const auto bytes = [&] {
    return tuning::half_bytes(block_bytes(call.format), static_cast<unsigned>(of.values),
                              block.threads, block.parts, of_tile, stages);
  };
  while (bytes() > gpu.max_shared_bytes && block.threads > tuning::kHalfThreads) {
    block.threads /= 2;
  }
  launch.shared_bytes = bytes();
  if (launch.shared_bytes > gpu.max_shared_bytes) {
    return refused("'half_matrix' of " + std::string(of.name) + " takes " +
                   std::to_string(launch.shared_bytes) +
                   " bytes of shared memory, and a block of '" + std::string(gpu.target) +
                   "' has " + std::to_string(gpu.max_shared_bytes))
        .hint("use QuantizeRows and FusedMatrix");
  }
  launch.grid = {divide_up(call.rows, block.threads / 2),
                 std::min<std::uint32_t>(std::max(tiles, 1u), kMaxAlongY), 1};
  launch.block.x = block.threads * block.parts + tuning::half_copying_threads(has_groups);
  launch.pass(HalfMatrixKernel(), call.weights, call.gates, call.x, call.scales, call.order,
              call.tiles, call.dst, numbers.columns, numbers.rows, vectors, numbers.stride,
              numbers.type, std::uint32_t{block.parts}, std::uint32_t{block.threads});
  return launch;
}

Result<Launch> plan(const JoinProducts& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kJoinProducts, DType::kF32));
  KILN_TRY(element_count({{call.rows, call.columns}}));
  KILN_TRY_ASSIGN(const std::uint32_t rows, in_32_bits("rows", call.rows, kMaxSigned));
  KILN_TRY_ASSIGN(const std::uint32_t type, float_type("join_products", call.dst_dtype));
  // A single row is shared by blocks that fill the device. Otherwise a block takes up to kPart
  // columns of a row, or more of a row of more than 2^42 columns.
  constexpr std::size_t kPart = 4096, kMaxParts = std::size_t{1} << 30;
  launch.block.x = 256;
  launch.grid.x = call.rows == 1 ? spread_over(gpu).over(call.columns / 4 + 1, 256).blocks
                                 : divide_up(std::min(call.columns, kPart * kMaxParts), kPart);
  launch.grid.y = static_cast<std::uint32_t>(std::min<std::size_t>(call.rows, kMaxAlongY));
  launch.pass(JoinProductsKernel(), call.gates, call.values, call.scales, call.dst, rows,
              static_cast<std::uint64_t>(call.columns), type);
  return launch;
}

std::size_t half_chunk_bytes(std::size_t rows, std::size_t columns) {
  return tuning::half_values(rows, columns) * size_of(DType::kF16);
}
std::size_t half_task_rows(std::size_t tasks, std::size_t experts) {
  return tuning::half_task_vectors(tasks, experts);
}

Result<Launch> plan(const HalfRows& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kHalfRows, call.dtype));
  if (call.places != nullptr && !call.in_chunks) {
    return refused("'half_rows' puts rows to places only where they go in chunks");
  }
  KILN_TRY(element_count({{call.rows, call.columns}}));
  KILN_TRY_ASSIGN(launch.grid.x, in_32_bits("rows", call.rows, kMaxSigned));
  KILN_TRY_ASSIGN(const std::int32_t columns, parameter("columns", call.columns));
  KILN_TRY_ASSIGN(const std::int32_t each, tasks_of_vector(call.each));
  launch.block.x = 256;
  launch.pass(HalfRowsKernel<void>(), call.x, call.out, call.scales, call.places,
              static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(each),
              std::uint32_t{call.in_chunks});
  return launch;
}

}  // namespace kiln::ops
