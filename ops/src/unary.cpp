#include "kiln/ops/unary.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"
#include "rearranged.hpp"
#include "view_grid.hpp"

namespace kiln::ops {
namespace {

constexpr auto kUnary = rows_of_each(kUnaryOps);

}  // namespace

Result<Launch> plan(const Unary& call, const Gpu& gpu) {
  const UnaryOpInfo& op = info(call.op);
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kUnary, call.op), call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_apart(call.layout, call.inp, call.out));
  if (op.has_parameter) KILN_TRY(require_scalar("parameter", call.parameter, call.dtype));

  const bool is_copy = call.op == UnaryOp::kCopy;
  const ViewBlock view = view_block(call.geometry, call.layout);
  if (is_copy) {
    KILN_TRY_ASSIGN(std::optional<Launch> rearranged, plan_rearranged(call, view, count, gpu));
    if (rearranged) return *std::move(rearranged);
  }
  KILN_TRY(require_divisible(view.block, view.rank));
  launch.layout = view.block;
  launch.layout_argument = 2;
  std::size_t num_dims = view.rank;
  if (launch.layout.empty() && is_copy) {
    const auto per_chunk = static_cast<unsigned>(16 / size_of(call.dtype));
    const tuning::Spread spread = spread_over(gpu);
    tuning::Launch blocks = spread.copied_contiguous(count, per_chunk);
    if (are_aligned({call.inp, call.out})) {
      // A block has shared memory for tiles, so a multiprocessor holds few small ones.
      const tuning::Medium medium{false, 4, tuning::Spread::kCopyThreads};
      blocks = spread.chunked(count, per_chunk, medium, blocks);
    }
    KILN_TRY(set_grid(launch, call.geometry, count, blocks));
  } else if (launch.layout.empty()) {
    KILN_TRY(set_contiguous_grid(launch, gpu, call.geometry, count, tuning::Grid::kRows,
                                 are_aligned({call.inp, call.out})));
  } else {
    const Reads reads = is_copy ? Reads::kCopied : Reads::kGroups;
    KILN_TRY_ASSIGN(num_dims, set_view_grid(launch, gpu, call.geometry, count, view, 1, reads,
                                            are_aligned({call.inp, call.out})));
  }
  if (!op.has_parameter) {
    launch.pass(MapKernel<void, void>(), count, num_dims, nullptr, call.inp, call.out);
    return launch;
  }
  with_storage_of(call.dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(ParameterUnaryKernel<T>(), count, num_dims, nullptr, call.parameter.as<T>(),
                call.inp, call.out);
  });
  return launch;
}

}  // namespace kiln::ops
