#include "kiln/ops/binary.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Binary& call, const Gpu&) {
  const std::string_view root = info(call.op).root;
  KILN_TRY(require_moved_dtype(root, call.dtype));
  const NamedOperand lhs{"lhs", call.lhs_layout}, rhs{"rhs", call.rhs_layout};
  KILN_TRY_ASSIGN(const std::size_t count, common_count({lhs, rhs}));

  Launch launch;
  launch.module = "binary";
  launch.kernel = kernel_name(root, call.dtype);
  if (!are_contiguous({lhs, rhs})) launch.layout = layout_block({lhs, rhs});
  launch.layout_argument = 2;
  KILN_TRY(set_reference_grid(launch, count));
  launch.arguments = {Argument::of(count),    Argument::of(call.lhs_layout.dims.rank()),
                      Argument::null(),       Argument::of(call.lhs),
                      Argument::of(call.rhs), Argument::of(call.out)};
  return launch;
}

}  // namespace kiln::ops
