#include "kiln/ops/sort.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

// Columns that the kernels sort at once, in shared memory that every device has. Of more they sort
// slice after slice.
constexpr std::uint32_t kMostAtOnce = 8192;
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kColumnsOfThread = 8;

constexpr std::array kSorts = {rows_of("asort_asc"), rows_of("asort_desc")};

}  // namespace

Result<Launch> plan(const ArgSort& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kSorts, call.order), call.dtype));
  KILN_TRY(element_count({{call.rows, call.columns}}));
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t rows, in_32_bits("rows", call.rows, kMost));
  KILN_TRY_ASSIGN(const std::uint32_t columns, in_32_bits("columns", call.columns, kMost));
  if (call.geometry == Geometry::kReference && columns > kMostAtOnce) {
    return Error{ErrorCode::kInvalidInput,
                 std::to_string(columns) + " columns are more than the reference geometry sorts",
                 {},
                 {}}
        .note("it sorts up to " + std::to_string(kMostAtOnce))
        .hint("use Geometry::kOwn");
  }
  std::uint32_t padded = 1;
  while (padded < std::min(columns, kMostAtOnce)) padded *= 2;

  launch.grid.x = rows;
  launch.block.x = std::min(padded, kMostThreads);
  // Whole waves of any width; up to 64 columns have a thread each.
  if (call.geometry == Geometry::kOwn) {
    launch.block.x = std::clamp(padded / kColumnsOfThread, std::min(padded, 64u), kMostThreads);
  }
  launch.shared_bytes = padded * 4;
  launch.pass(SortKernel<void>(), call.x, call.dst, static_cast<std::int32_t>(columns),
              static_cast<std::int32_t>(padded));
  return launch;
}

}  // namespace kiln::ops
