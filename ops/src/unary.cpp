#include "kiln/ops/unary.hpp"

#include <array>
#include <iterator>

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr auto kUnary = [] {
  std::array<KernelRows, std::size(kUnaryOps)> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = rows_of("unary", "u", kUnaryOps[i].name);
  return rows;
}();

}  // namespace

Result<Launch> plan(const Unary& call, const Gpu& gpu) {
  const UnaryOpInfo& op = info(call.op);
  Launch launch;
  KILN_TRY(set_kernel(launch, kUnary[static_cast<std::size_t>(call.op)], call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  if (op.has_parameter) KILN_TRY(require_scalar("parameter", call.parameter, call.dtype));

  launch.layout = layout_block(call.layout);
  launch.layout_argument = 2;
  KILN_TRY(set_grid(launch, call.geometry, count,
                    over_elements(gpu, is_contiguous(call.layout), count, size_of(call.dtype))));
  const std::size_t rank = call.layout.dims.rank();
  with_storage_of(call.dtype, [&](auto element) {
    using T = decltype(element);
    if (op.has_parameter) {
      launch.pass(ParameterUnaryKernel<T>(), count, rank, nullptr, call.parameter.as<T>(), call.inp,
                  call.out);
    } else {
      launch.pass(UnaryKernel<T>(), count, rank, nullptr, call.inp, call.out);
    }
  });
  return launch;
}

}  // namespace kiln::ops
