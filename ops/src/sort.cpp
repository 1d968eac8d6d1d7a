#include "kiln/ops/sort.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/diagnostic.hpp"
#include "kernels/tuning/sort.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

// Number of columns that the kernels sort at once, in shared memory that every device has. More
// columns are sorted slice by slice.
constexpr std::uint32_t kMaxAtOnce = 8192;
constexpr std::uint32_t kMaxThreads = 1024;

constexpr std::array kArgSorts = {rows_of("asort_asc"), rows_of("asort_desc")};
constexpr std::array kSorts = {rows_of("sort_asc"), rows_of("sort_desc")};
constexpr KernelRows kLongSort = rows_of("sort_long");

enum class Sorted : std::uint8_t { kColumns, kElements };

// The arguments of both ArgSort and Sort.
struct Rows {
  Sorted sorted;
  SortOrder order;
  DType dtype;
  std::uint32_t rows, columns;
  const void* x;
  void* dst;
};
template <typename Call>
Result<Rows> rows_in(const Call& call, Sorted sorted) {
  KILN_TRY(element_count({{call.rows, call.columns}}));
  constexpr std::uint32_t kMax = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t rows, in_32_bits("rows", call.rows, kMax));
  KILN_TRY_ASSIGN(const std::uint32_t columns, in_32_bits("columns", call.columns, kMax));
  return Rows{sorted, call.order, call.dtype, rows, columns, call.x, call.dst};
}

// Plans one block per row.
Result<Launch> plan_blocks(const Rows& call, Geometry geometry, const Gpu& gpu) {
  Launch launch;
  const bool columns = call.sorted == Sorted::kColumns;
  KILN_TRY(set_kernel(launch, of(columns ? kArgSorts : kSorts, call.order), call.dtype));
  std::uint32_t padded = 1;
  while (padded < std::min(call.columns, kMaxAtOnce)) padded *= 2;

  launch.grid.x = call.rows;
  launch.block.x = std::min(padded, kMaxThreads);
  // Uses whole waves of any width. Columns that are counted or merged have a thread each.
  const auto element = static_cast<unsigned>(size_of(call.dtype));
  const std::uint32_t merged =
      tuning::max_merged(spread_over(gpu).multiprocessors, call.rows, element);
  if (geometry == Geometry::kOwn && padded > merged) {
    launch.block.x = std::clamp(padded / tuning::kSortItems, 64u, kMaxThreads);
  }
  launch.shared_bytes = padded * 4;
  launch.pass(SortKernel<void, void>(), call.x, call.dst, static_cast<std::int32_t>(call.columns),
              static_cast<std::int32_t>(padded));
  return launch;
}

// Plans several blocks per row, in several steps.
Result<Launch> plan_steps(const Rows& call, const tuning::LongSort& how) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kLongSort, call.dtype));
  const auto element = static_cast<std::uint32_t>(size_of(call.dtype));
  launch.grid.x = how.rows * how.parts;
  launch.block.x = how.threads;
  launch.shared_bytes = how.threads * tuning::kSortItems * 4;
  const std::size_t rows = how.rows;
  const std::size_t groups = (how.parts - 1) / tuning::kPartsOfGroup + 1;
  const std::size_t counted = tuning::kSortStates + (how.parts + 2 * groups) * tuning::kDigits;
  const std::size_t record = (element == 8 ? 8 : 4) + 4;
  launch.workspace_bytes = tuning::kWorkspaceCounters + rows * counted * 4 +
                           tuning::copies_of(element) * rows * call.columns * record;
  launch.workspace_argument = 2;
  launch.steps = (call.rows + how.rows - 1) / how.rows * element * tuning::kStepsOfDigit;
  launch.step_argument = 7;
  std::uint32_t order = 0;
  if (call.order == SortOrder::kDescending) order |= tuning::kSortDescending;
  if (call.sorted == Sorted::kElements) order |= tuning::kSortElements;
  launch.pass(SortLongKernel<void>(), call.x, call.dst, nullptr, std::uint64_t{call.rows},
              call.columns, how.parts, order, std::uint32_t{0});
  return launch;
}

Result<Launch> plan_own(const Rows& call, std::uint32_t parts, const Gpu& gpu) {
  if (parts == 0 && call.columns <= kMaxAtOnce) return plan_blocks(call, Geometry::kOwn, gpu);
  tuning::LongSort how =
      tuning::sort_long(spread_over(gpu).multiprocessors, call.rows, call.columns);
  if (parts != 0) how.parts = std::min(parts, call.columns);
  // The counts of all parts of a row are numbered in 32 bits.
  constexpr std::uint32_t kMaxParts = std::uint32_t{1} << 20;
  KILN_TRY(in_32_bits("parts", how.parts, kMaxParts));
  return plan_steps(call, how);
}

}  // namespace

Result<Launch> plan(const ArgSort& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Rows rows, rows_in(call, Sorted::kColumns));
  if (call.geometry == Geometry::kOwn) return plan_own(rows, call.parts, gpu);
  if (rows.columns > kMaxAtOnce) {
    return refused(std::to_string(rows.columns) +
                   " columns are more than the reference geometry sorts")
        .note("it sorts up to " + std::to_string(kMaxAtOnce))
        .hint("use Geometry::kOwn");
  }
  return plan_blocks(rows, Geometry::kReference, gpu);
}
Result<Launch> plan(const Sort& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Rows rows, rows_in(call, Sorted::kElements));
  return plan_own(rows, call.parts, gpu);
}

}  // namespace kiln::ops
