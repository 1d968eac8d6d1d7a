#include "kiln/ops/norm.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/diagnostic.hpp"
#include "kernels/tuning/rows.hpp"
#include "kernels/tuning/split.hpp"
#include "kernels/tuning/workspace.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kSoftmax = rows_of("softmax");
constexpr KernelRows kSoftmaxLong = rows_of("softmax_long");
constexpr KernelRows kSoftmaxStaged = rows_of("softmax_staged");
constexpr KernelRows kRmsNorm = rows_of("rmsnorm");
constexpr KernelRows kLayerNorm = rows_of("layernorm");
constexpr KernelRows kNormLong = rows_of("norm_long");

struct Rows {
  std::uint32_t rows;
  std::int32_t columns;
};

// Converts the rows and columns of a call to the kernel's types, with checks.
Result<Rows> rows_of_call(std::size_t rows, std::size_t columns) {
  KILN_TRY(element_count({{rows, columns}}));
  constexpr std::uint32_t kMax = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t row_count, in_32_bits("rows", rows, kMax));
  KILN_TRY_ASSIGN(const std::uint32_t column_count, in_32_bits("columns", columns, kMax));
  return Rows{row_count, static_cast<std::int32_t>(column_count)};
}

// Returns the largest number of rows per block. With several rows per block, the kernel's columns
// parameter also encodes how many rows the last block lacks. It has room for that only if there are
// fewer than 2^kColumnBits columns.
std::uint32_t max_for_a_block(const Rows& rows, std::uint32_t most) {
  return rows.columns >> tuning::kColumnBits == 0 ? most : 1;
}

// Sets a grid of blocks with `each` rows; the last block may have fewer. Returns the kernel's
// columns parameter.
std::int32_t share_blocks(Launch& launch, const Rows& rows, std::uint32_t each) {
  launch.grid.x = (rows.rows + each - 1) / each;
  const std::uint32_t missing = launch.grid.x * each - rows.rows;
  return tuning::columns_and_missing(static_cast<std::uint32_t>(rows.columns), missing);
}

// Sets the grid of a norm and returns the kernel's columns parameter. The reference geometry has
// one block per row. In kiln's own geometry, a row has a thread for each 16-byte piece, or fewer
// threads if there are many rows, and short rows share a block.
std::int32_t set_norm_grid(Launch& launch, const Gpu& gpu, Geometry geometry, DType dtype,
                           const Rows& rows, bool centered) {
  launch.grid.x = rows.rows;
  if (geometry == Geometry::kReference) {
    launch.block.x = rows.columns < 1024 ? 32 : 1024;
    return rows.columns;
  }
  constexpr std::uint32_t kMaxThreads = 1024, kTeam = 32, kSharedBlock = 256;
  const auto columns = static_cast<std::uint32_t>(rows.columns);
  const auto count = static_cast<std::uint32_t>(16 / size_of(dtype));
  const std::uint32_t pieces = columns % count == 0 ? columns / count : (columns - 1) / 4 + 1;
  const tuning::Spread device = spread_over(gpu);
  const bool many_rows = rows.rows >= 4 * device.multiprocessors;
  // A thread has one piece, unless the device then has too few threads. In a row of whole pieces, a
  // thread then keeps two, or four if the row fits a wave and would not fill two. In any other row,
  // a thread has two or more chunks of four elements, or single elements: 16, or 8 if they have
  // eight bytes.
  //
  // Measured on an H200, in us, operands in the cache and in memory, a thread for each piece -> for
  // two: rmsnorm_f16 512x4096 3.67 -> 3.23, 4.46 -> 4.56; 300x5120 3.94 -> 3.08, 5.37 -> 4.27.
  constexpr std::uint32_t kOfWave = 128;
  const bool whole = columns % count == 0;
  const std::uint64_t all = std::uint64_t{rows.rows} * pieces;
  const bool fills = all >= device.resident();
  const bool fills_half = pieces > kOfWave && 2 * all >= device.resident();
  std::uint32_t walked = 1;
  if (whole && (fills || fills_half)) {
    walked = pieces > 64 && pieces < 128 ? 4 : 2;
  } else if (fills && tuning::norms_loosely(16 / count, centered)) {
    walked = pieces > 32 ? count : count == 8 || pieces > 4 ? 2 : 1;
  } else if (fills && pieces > 32) {
    walked = count == 2 ? 2 : 4;
  }
  std::uint32_t wanted = (pieces + walked - 1) / walked;
  // In a short row that is not exactly one piece, a thread has two elements if there are enough
  // threads.
  constexpr std::uint32_t kFew = tuning::kNormElements;
  const std::uint64_t lanes = std::uint64_t{rows.rows} * columns / kFew;
  if (columns != count && columns <= kFew * kTeam && lanes <= device.resident()) {
    wanted = (columns + kFew - 1) / kFew;
  }
  launch.block.x = 1;
  while (launch.block.x < wanted && launch.block.x < kMaxThreads) launch.block.x *= 2;
  // rmsnorm_f32 300x5120, in the cache, 5.33 -> 4.37
  if (whole && fills && launch.block.x == kMaxThreads && wanted <= kMaxThreads * 5 / 8) {
    launch.block.x = kMaxThreads / 2;
  }
  if (launch.block.x > kTeam) return rows.columns;
  if (!many_rows) {
    launch.block.x = kTeam;
    return rows.columns;
  }
  launch.block.y = max_for_a_block(rows, kSharedBlock / launch.block.x);
  return share_blocks(launch, rows, launch.block.y);
}

// Sets kiln's own grid for softmax. A block takes as many rows as it has threads along x.
std::int32_t set_softmax_grid(Launch& launch, const Gpu& gpu, DType dtype, const Rows& rows) {
  const auto size = static_cast<unsigned>(size_of(dtype));
  const auto columns = static_cast<std::uint32_t>(rows.columns);
  const tuning::Spread device = spread_over(gpu);
  // The kernel moves 16-byte pieces, or single elements if there are few short rows.
  const std::size_t whole = (std::size_t{columns} * size + 15) / 16;
  const bool few = rows.rows * whole <= device.resident() / 8;
  const bool singly = few && columns <= 32 * tuning::softmax_elements(size);
  // the reference geometry
  if (singly && rows.rows <= 2 * device.multiprocessors) return rows.columns;
  const std::size_t pieces = singly ? columns : whole;
  const bool many = rows.rows * whole > device.resident();
  // A thread gets as many pieces as it can keep, or half as many of a short row if rows are few.
  // Measured on an H200, f16, own geometry, in us, a thread for each piece -> this: 1x8192
  // 4.28 -> 2.93; 132x4096 3.31 -> 2.92; f32, for two pieces -> this: 64x8192 5.68 -> 5.07; 1x1024
  // 2.42 -> 2.42, for four 2.48.
  constexpr unsigned kKept = tuning::kSoftmaxPieces, kShort = 256;
  const bool is_short = pieces <= kShort && rows.rows <= device.multiprocessors;
  const unsigned each = is_short && size != 8 ? kKept / 2 : kKept;
  const unsigned of_lane = many ? tuning::softmax_walked(size) : kKept;
  const bool aligned = std::size_t{columns} * size % 16 == 0;
  // The reference geometry is faster here.
  if (many && aligned && pieces <= std::size_t{32} * of_lane &&
      tuning::softmax_alone(device.machine.architecture, pieces)) {
    return rows.columns;
  }
  const tuning::Launch own = tuning::over_rows(device, rows.rows, pieces, each, of_lane);
  std::uint32_t threads = own.threads, of_block = 1;
  if (many && pieces <= std::size_t{32} * of_lane) {
    // Blocks exit after a row for each team, or after a few if rows are not aligned. Measured on an
    // H200, in us, by resident blocks -> this: f32 131072x128 37.9 -> 34.6; 1048576x64 152 -> 132;
    // 131072x333 99.7 -> 92.8; f16 131072x128 19.7 -> 18.5.
    std::uint32_t lanes = 1;
    while (lanes < 32 && lanes * kKept < pieces) lanes *= 2;
    threads = 128;
    const std::uint32_t several = aligned || lanes < 16 ? 1 : lanes / 8;
    of_block = std::min(max_for_a_block(rows, threads), threads / lanes * several);
  } else if (!many || threads > tuning::kSoftmaxExits) {
    const std::uint32_t most = max_for_a_block(rows, threads);
    while (of_block < most && rows.rows > std::uint64_t{of_block} * own.blocks) of_block *= 2;
  }
  launch.block = {of_block, threads / of_block, 1};
  return share_blocks(launch, rows, of_block);
}

// Plans two steps with several blocks per row. The caller passes the kernel's arguments.
Result<Launch> launch_parts(const KernelRows& kernels, DType dtype, const Rows& rows,
                            const tuning::Split& split) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kernels, dtype));
  KILN_TRY_ASSIGN(launch.grid.x,
                  in_32_bits("parts", std::size_t{rows.rows} * split.parts, 1u << 24));
  launch.block.x = split.launch.threads;
  constexpr std::size_t kMaxStateBytes = 16;
  launch.workspace_bytes =
      tuning::kWorkspaceCounters + std::size_t{rows.rows} * split.parts * kMaxStateBytes;
  launch.steps = 2;
  return launch;
}

Result<Launch> plan_parts(const Softmax& call, const Rows& rows, const tuning::Split& split) {
  KILN_TRY_ASSIGN(Launch launch, launch_parts(kSoftmaxLong, call.dtype, rows, split));
  launch.workspace_argument = 2;
  launch.step_argument = 6;
  launch.pass(SoftmaxLongKernel<void>(), call.src, call.dst, nullptr,
              static_cast<std::uint32_t>(rows.columns), split.parts, split.each, std::uint32_t{0});
  return launch;
}

// Plans several blocks per row for either norm. Returns nothing if a row gets one block.
template <typename Norm>
Result<std::optional<Launch>> plan_parts(const Norm& call, const void* beta, bool centered,
                                         const Rows& rows, const Gpu& gpu) {
  if (call.geometry != Geometry::kOwn) return std::optional<Launch>();
  const auto size = static_cast<unsigned>(size_of(call.dtype));
  const tuning::Split split =
      tuning::norm_parts(spread_over(gpu), rows.rows, call.columns, size, call.parts);
  if (split.parts <= 1) return std::optional<Launch>();
  KILN_TRY_ASSIGN(Launch launch, launch_parts(kNormLong, call.dtype, rows, split));
  launch.workspace_argument = 4;
  launch.step_argument = 10;
  launch.pass(NormLongKernel<void>(), call.src, call.dst, call.alpha, beta, nullptr,
              static_cast<std::uint32_t>(rows.columns), split.parts, split.each,
              std::uint32_t{centered}, call.epsilon, std::uint32_t{0});
  return std::optional<Launch>(std::move(launch));
}

// Plans one thread per row. A block stages its `block` rows in shared memory.
Result<Launch> plan_staged(const Softmax& call, const Rows& rows, std::uint32_t block) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kSoftmaxStaged, call.dtype));
  const auto columns = static_cast<std::uint32_t>(rows.columns);
  launch.grid.x = (rows.rows + block - 1) / block;
  launch.block.x = block;
  launch.shared_bytes = block * columns * static_cast<std::uint32_t>(size_of(call.dtype));
  launch.pass(SoftmaxStagedKernel<void>(), call.src, call.dst, rows.rows, columns);
  return launch;
}

}  // namespace

Result<Launch> plan(const Softmax& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kSoftmax, call.dtype));
  KILN_TRY_ASSIGN(const Rows rows, rows_of_call(call.rows, call.columns));
  launch.grid.x = rows.rows;
  launch.block = {1, 32, 1};
  std::int32_t columns = rows.columns;
  if (call.geometry == Geometry::kOwn) {
    const tuning::Spread device = spread_over(gpu);
    const auto size = static_cast<unsigned>(size_of(call.dtype));
    const tuning::Split split =
        tuning::softmax_parts(device, rows.rows, call.columns, size, call.parts);
    if (split.parts > 1) return plan_parts(call, rows, split);
    const auto count = static_cast<std::uint32_t>(rows.columns);
    const std::uint32_t staged = tuning::staged_rows(device, rows.rows, count, size);
    if (call.parts == 0 && staged != 0) return plan_staged(call, rows, staged);
    columns = set_softmax_grid(launch, gpu, call.dtype, rows);
  }
  launch.pass(SoftmaxKernel<void>(), call.src, call.dst, columns);
  return launch;
}

Result<Launch> plan(const RmsNorm& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kRmsNorm, call.dtype));
  KILN_TRY_ASSIGN(const Rows rows, rows_of_call(call.rows, call.columns));
  KILN_TRY_ASSIGN(std::optional<Launch> parts, plan_parts(call, nullptr, false, rows, gpu));
  if (parts) return *std::move(parts);
  const std::int32_t columns = set_norm_grid(launch, gpu, call.geometry, call.dtype, rows, false);
  launch.pass(RmsNormKernel<void>(), call.src, call.dst, call.alpha, columns,
              static_cast<std::int32_t>(launch.block.x), call.epsilon);
  return launch;
}

Result<Launch> plan(const LayerNorm& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kLayerNorm, call.dtype));
  KILN_TRY_ASSIGN(const Rows rows, rows_of_call(call.rows, call.columns));
  KILN_TRY_ASSIGN(std::optional<Launch> parts, plan_parts(call, call.beta, true, rows, gpu));
  if (parts) return *std::move(parts);
  const std::int32_t columns = set_norm_grid(launch, gpu, call.geometry, call.dtype, rows, true);
  launch.pass(LayerNormKernel<void>(), call.src, call.dst, call.alpha, call.beta, columns,
              static_cast<std::int32_t>(launch.block.x), call.epsilon);
  return launch;
}

}  // namespace kiln::ops
