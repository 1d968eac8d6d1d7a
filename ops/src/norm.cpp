#include "kiln/ops/norm.hpp"

#include <limits>

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kSoftmax = rows_of("softmax");

struct Rows {
  std::uint32_t rows;
  std::int32_t columns;
};

// The rows of a call, in the numbers that a kernel takes.
Result<Rows> rows_of_call(std::string_view root, DType dtype, std::size_t rows,
                          std::size_t columns) {
  KILN_TRY(require_dtype(root, dtype, {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}));
  KILN_TRY(element_count({{rows, columns}}));
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t row_count, in_32_bits("rows", rows, kMost));
  KILN_TRY_ASSIGN(const std::uint32_t column_count, in_32_bits("columns", columns, kMost));
  return Rows{row_count, static_cast<std::int32_t>(column_count)};
}

// The norms' launch: a block a row; the kernel is told its size.
void set_norm_grid(Launch& launch, const Rows& rows) {
  launch.grid.x = rows.rows;
  launch.block.x = rows.columns < 1024 ? 32 : 1024;
}

}  // namespace

Result<Launch> plan(const Softmax& call, const Gpu&) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kSoftmax, call.dtype));
  KILN_TRY_ASSIGN(const Rows rows, rows_of_call("softmax", call.dtype, call.rows, call.columns));
  launch.grid.x = rows.rows;
  launch.block = {1, 32, 1};
  launch.pass(SoftmaxKernel<void>(), call.src, call.dst, rows.columns);
  return launch;
}

Result<Launch> plan(const RmsNorm& call, const Gpu&) {
  KILN_TRY_ASSIGN(const Rows rows, rows_of_call("rmsnorm", call.dtype, call.rows, call.columns));
  Launch launch;
  launch.module = "reduce";
  launch.kernel = kernel_name("rmsnorm", call.dtype);
  set_norm_grid(launch, rows);
  launch.arguments = {Argument::of(call.src),
                      Argument::of(call.dst),
                      Argument::of(call.alpha),
                      Argument::of(rows.columns),
                      Argument::of(static_cast<std::int32_t>(launch.block.x)),
                      Argument::of(call.epsilon)};
  return launch;
}

Result<Launch> plan(const LayerNorm& call, const Gpu&) {
  KILN_TRY_ASSIGN(const Rows rows, rows_of_call("layernorm", call.dtype, call.rows, call.columns));
  Launch launch;
  launch.module = "reduce";
  launch.kernel = kernel_name("layernorm", call.dtype);
  set_norm_grid(launch, rows);
  launch.arguments = {
      Argument::of(call.src),     Argument::of(call.dst),
      Argument::of(call.alpha),   Argument::of(call.beta),
      Argument::of(rows.columns), Argument::of(static_cast<std::int32_t>(launch.block.x)),
      Argument::of(call.epsilon)};
  return launch;
}

}  // namespace kiln::ops
