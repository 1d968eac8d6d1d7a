#include "kiln/ops/binary.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"
#include "view_grid.hpp"

namespace kiln::ops {
namespace {

constexpr auto kBinary = rows_of_each(kBinaryOps);

}  // namespace

Result<Launch> plan(const Binary& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kBinary, call.op), call.dtype));
  const NamedOperand lhs{"lhs", call.lhs_layout}, rhs{"rhs", call.rhs_layout};
  KILN_TRY_ASSIGN(const std::size_t count, common_count({lhs, rhs}));

  const bool contiguous = are_contiguous({lhs, rhs});
  ViewBlock views{{}, call.lhs_layout.dims.rank()};
  if (!contiguous) views = view_block(call.geometry, {lhs, rhs});
  KILN_TRY(require_divisible(views.block, views.rank));
  launch.layout = views.block;
  launch.layout_argument = 2;
  std::size_t num_dims = views.rank;
  if (contiguous) {
    KILN_TRY(set_contiguous_grid(launch, gpu, call.geometry, count, tuning::Grid::kLine,
                                 are_aligned({call.lhs, call.rhs, call.out})));
  } else {
    KILN_TRY_ASSIGN(num_dims,
                    set_view_grid(launch, gpu, call.geometry, count, views, 2, Reads::kRows,
                                  are_aligned({call.lhs, call.rhs, call.out})));
  }
  launch.pass(BinaryKernel<void, void>(), count, num_dims, nullptr, call.lhs, call.rhs, call.out);
  return launch;
}

}  // namespace kiln::ops
