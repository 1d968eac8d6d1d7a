#include "kiln/ops/norm.hpp"

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

// The rows of a call, in the numbers that a kernel takes.
Result<Rows> rows_of_call(std::size_t rows, std::size_t columns) {
  KILN_TRY(element_count({{rows, columns}}));
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t row_count, in_32_bits("rows", rows, kMost));
  KILN_TRY_ASSIGN(const std::uint32_t column_count, in_32_bits("columns", columns, kMost));
  return Rows{row_count, static_cast<std::int32_t>(column_count)};
}

// Most rows for a block: where not all have as many, the columns share their number with those that
// the last one lacks.
std::uint32_t most_for_a_block(const Rows& rows, std::uint32_t most) {
  return rows.columns >> tuning::kColumnBits == 0 ? most : 1;
}

// Blocks of `each` rows, the last one of fewer; what a kernel then takes for the columns.
std::int32_t share_blocks(Launch& launch, const Rows& rows, std::uint32_t each) {
  launch.grid.x = (rows.rows + each - 1) / each;
  const std::uint32_t missing = launch.grid.x * each - rows.rows;
  return tuning::columns_and_missing(static_cast<std::uint32_t>(rows.columns), missing);
}

// The norms' launch. The reference has a block a row; ours as many threads as a row has pieces of
// sixteen bytes, or fewer where there are rows enough, and short rows share a block. Gives what the
// kernel takes for the columns.
std::int32_t set_norm_grid(Launch& launch, const Gpu& gpu, Geometry geometry, DType dtype,
                           const Rows& rows, bool centered) {
  launch.grid.x = rows.rows;
  if (geometry == Geometry::kReference) {
    launch.block.x = rows.columns < 1024 ? 32 : 1024;
    return rows.columns;
  }
  constexpr std::uint32_t kMostThreads = 1024, kTeam = 32, kSharedBlock = 256;
  const auto columns = static_cast<std::uint32_t>(rows.columns);
  const auto count = static_cast<std::uint32_t>(16 / size_of(dtype));
  const std::uint32_t pieces = columns % count == 0 ? columns / count : (columns - 1) / 4 + 1;
  const bool many_rows = rows.rows >= 4 * gpu.multiprocessors;
  // A thread has one piece. Where the device has fewer threads than there are pieces, it has two
  // that it keeps, or four where the row then fits a wave and would not fill two. Of a row that is
  // no whole pieces it has two or more chunks of four elements, or single elements: sixteen, or of
  // eight bytes eight.
  const bool whole = columns % count == 0;
  const bool fills = std::uint64_t{rows.rows} * pieces >= spread_over(gpu).resident();
  std::uint32_t walked = 1;
  if (fills && whole) {
    walked = pieces > 64 && pieces < 128 ? 4 : 2;
  } else if (fills && tuning::norms_loosely(16 / count, centered)) {
    walked = pieces > 32 ? count : count == 8 || pieces > 4 ? 2 : 1;
  } else if (fills && pieces > 32) {
    walked = count == 2 ? 2 : 4;
  }
  std::uint32_t wanted = (pieces + walked - 1) / walked;
  // Of a short row that is not one piece two elements, where there are threads enough.
  constexpr std::uint32_t kFew = tuning::kNormElements;
  const std::uint64_t lanes = std::uint64_t{rows.rows} * columns / kFew;
  if (columns != count && columns <= kFew * kTeam && lanes <= spread_over(gpu).resident()) {
    wanted = (columns + kFew - 1) / kFew;
  }
  launch.block.x = 1;
  while (launch.block.x < wanted && launch.block.x < kMostThreads) launch.block.x *= 2;
  if (launch.block.x > kTeam) return rows.columns;
  if (!many_rows) {
    launch.block.x = kTeam;
    return rows.columns;
  }
  launch.block.y = most_for_a_block(rows, kSharedBlock / launch.block.x);
  return share_blocks(launch, rows, launch.block.y);
}

// Softmax's own launch, of as many rows as threads along x.
std::int32_t set_softmax_grid(Launch& launch, const Gpu& gpu, DType dtype, const Rows& rows) {
  const auto size = static_cast<unsigned>(size_of(dtype));
  const auto columns = static_cast<std::uint32_t>(rows.columns);
  const tuning::Spread device = spread_over(gpu);
  // The kernel moves pieces of 16 bytes, or of few short rows elements.
  const std::size_t whole = (std::size_t{columns} * size + 15) / 16;
  const bool few = rows.rows * whole <= device.resident() / 8;
  const bool singly = few && columns <= 32 * tuning::softmax_elements(size);
  if (singly && rows.rows <= 2 * gpu.multiprocessors) return rows.columns;  // the reference's
  const std::size_t pieces = singly ? columns : whole;
  const bool many = rows.rows * whole > device.resident();
  // Where there are few rows, less for each thread; f64 is computed by all that one keeps.
  constexpr unsigned kKept = tuning::kSoftmaxPieces;
  unsigned each_thread = many || size == 8 ? kKept : size == 2 ? 1 : 2;
  const unsigned of_lane = many ? tuning::softmax_walked(size) : kKept;
  // The reference's.
  if (many && pieces <= std::size_t{32} * of_lane &&
      tuning::softmax_alone(device.machine.architecture, std::size_t{columns} * size / 16)) {
    return rows.columns;
  }
  const auto launch_by = [&](unsigned each) {
    return tuning::over_rows(device, rows.rows, pieces, each, of_lane);
  };
  tuning::Launch own = launch_by(each_thread);
  // Unless blocks would then take turns: a multiprocessor has registers for 1024 threads. H200, f16, us by
  // one and so: 300x5120 10.5, 5.1; 1000x1500 8.0, 5.2; 150x8192 8.0, 5.3; 600x2048 5.9, 4.5.
  while (each_thread < kKept &&
         std::uint64_t{own.blocks} * own.threads > 1024u * gpu.multiprocessors) {
    own = launch_by(each_thread *= 2);
  }
  const std::uint32_t most = most_for_a_block(rows, own.threads);
  std::uint32_t each = 1;
  while (each < most && rows.rows > std::uint64_t{each} * own.blocks) each *= 2;
  launch.block = {each, own.threads / each, 1};
  return share_blocks(launch, rows, each);
}

// Several blocks for each row, in two steps: the launch, but for what the kernel takes.
Result<Launch> launch_parts(const KernelRows& kernels, DType dtype, const Rows& rows,
                            const tuning::Split& split) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kernels, dtype));
  KILN_TRY_ASSIGN(launch.grid.x,
                  in_32_bits("parts", std::size_t{rows.rows} * split.parts, 1u << 24));
  launch.block.x = split.launch.threads;
  constexpr std::size_t kMostOfState = 16;
  launch.workspace_bytes =
      tuning::kWorkspaceCounters + std::size_t{rows.rows} * split.parts * kMostOfState;
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

// Of either norm; none where a row has one block.
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

// A thread for each row, which a block of so many has in shared memory.
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
