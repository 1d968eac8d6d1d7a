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

constexpr std::array kArgSorts = {rows_of("asort_asc"), rows_of("asort_desc")};
constexpr std::array kSorts = {rows_of("sort_asc"), rows_of("sort_desc")};

// Of ArgSort and Sort alike.
template <typename Call>
Result<Launch> plan_rows(const Call& call, Geometry geometry,
                         const std::array<KernelRows, 2>& kernels) {
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kernels, call.order), call.dtype));
  KILN_TRY(element_count({{call.rows, call.columns}}));
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t rows, in_32_bits("rows", call.rows, kMost));
  KILN_TRY_ASSIGN(const std::uint32_t columns, in_32_bits("columns", call.columns, kMost));
  if (geometry == Geometry::kReference && columns > kMostAtOnce) {
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
  if (geometry == Geometry::kOwn) {
    launch.block.x = std::clamp(padded / kColumnsOfThread, std::min(padded, 64u), kMostThreads);
  }
  launch.shared_bytes = padded * 4;
  launch.pass(SortKernel<void, void>(), call.x, call.dst, static_cast<std::int32_t>(columns),
              static_cast<std::int32_t>(padded));
  return launch;
}

}  // namespace

Result<Launch> plan(const ArgSort& call, const Gpu&) {
  return plan_rows(call, call.geometry, kArgSorts);
}
Result<Launch> plan(const Sort& call, const Gpu&) {
  return plan_rows(call, Geometry::kOwn, kSorts);
}

}  // namespace kiln::ops
