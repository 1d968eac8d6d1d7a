#include "kiln/ops/affine.hpp"

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Affine& call) {
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_scalar("mul", call.mul, call.dtype));
  KILN_TRY(require_scalar("add", call.add, call.dtype));

  Launch launch;
  launch.module = "affine";
  launch.kernel = kernel_name("affine", call.dtype);
  launch.layout = layout_block(call.layout);
  launch.layout_argument = 2;
  KILN_TRY(set_grid(launch, call.geometry, count, over_view(call.layout, call.dtype, count)));
  launch.arguments = {
      Argument::of(count),    Argument::of(call.layout.dims.rank()),
      Argument::null(),       Argument::of(call.inp),
      Argument::of(call.out), Argument::of(call.mul),
      Argument::of(call.add),
  };
  return launch;
}

}  // namespace kiln::ops
