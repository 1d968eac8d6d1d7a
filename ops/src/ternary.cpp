#include "kiln/ops/ternary.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Where& call, const Gpu&) {
  const bool f8 = call.dtype == DType::kF8E4M3;
  const KernelName root = kernel_name("where", call.condition_dtype);
  KILN_TRY(require_moved_dtype("where", call.dtype));
  if (f8) {
    KILN_TRY(require_dtype("where ... f8e4m3", call.condition_dtype,
                           {DType::kU8, DType::kU32, DType::kI16, DType::kI32, DType::kI64}));
  } else {
    KILN_TRY(require_dtype("where", call.condition_dtype, {DType::kU8, DType::kU32, DType::kI64}));
  }
  const NamedOperand condition{"condition", call.condition_layout};
  const NamedOperand on_true{"on_true", call.true_layout};
  const NamedOperand on_false{"on_false", call.false_layout};
  KILN_TRY_ASSIGN(const std::size_t count, common_count({condition, on_true, on_false}));

  Launch launch;
  launch.module = "ternary";
  launch.kernel = kernel_name(root, call.dtype, F8Spelling::kFp8E4M3);
  launch.layout = layout_block({condition, on_true, on_false});  // never null
  launch.layout_argument = 2;
  KILN_TRY(set_reference_grid(launch, count));
  launch.arguments = {Argument::of(count),        Argument::of(call.condition_layout.dims.rank()),
                      Argument::null(),           Argument::of(call.condition),
                      Argument::of(call.on_true), Argument::of(call.on_false),
                      Argument::of(call.out)};
  return launch;
}

}  // namespace kiln::ops
