#include "kiln/ops/unary.hpp"

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Unary& call) {
  const UnaryOpInfo& op = info(call.op);
  const bool copies = call.op == UnaryOp::kCopy;
  const std::string root = "u" + std::string(op.name);
  KILN_TRY(copies ? require_moved_dtype(root, call.dtype) : require_float_dtype(root, call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  if (op.has_parameter) KILN_TRY(require_scalar("parameter", call.parameter, call.dtype));

  Launch launch;
  launch.module = "unary";
  launch.kernel =
      kernel_name(root, call.dtype, copies ? F8Spelling::kF8E4M3 : F8Spelling::kFp8E4M3);
  launch.layout = layout_block(call.layout);
  launch.layout_argument = 2;
  const auto cost = call.op == UnaryOp::kPowf ? geometry::Cost::kLong : geometry::Cost::kUsual;
  KILN_TRY(set_grid(launch, call.geometry, count, over_view(call.layout, call.dtype, count, cost)));
  launch.arguments = {Argument::of(count), Argument::of(call.layout.dims.rank()), Argument::null()};
  if (op.has_parameter) launch.arguments.push_back(Argument::of(call.parameter));
  launch.arguments.push_back(Argument::of(call.inp));
  launch.arguments.push_back(Argument::of(call.out));
  return launch;
}

}  // namespace kiln::ops
