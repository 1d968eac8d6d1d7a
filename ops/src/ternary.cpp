#include "kiln/ops/ternary.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr auto kWhere = rows_of_each_first("where");

}  // namespace

Result<Launch> plan(const Where& call, const Gpu& gpu) {
  Launch launch;
  if (!of(kWhere, call.condition_dtype).has(call.dtype)) {
    return Error{ErrorCode::kInvalidInput,
                 "no kernel of 'where' takes '" + std::string(name(call.dtype)) +
                     "' on a condition of '" + std::string(name(call.condition_dtype)) + "'",
                 {},
                 {}};
  }
  KILN_TRY(set_kernel(launch, of(kWhere, call.condition_dtype), call.dtype));
  const NamedOperand condition{"condition", call.condition_layout};
  const NamedOperand on_true{"on_true", call.true_layout};
  const NamedOperand on_false{"on_false", call.false_layout};
  KILN_TRY_ASSIGN(const std::size_t count, common_count({condition, on_true, on_false}));

  const ViewBlock views = view_block(call.geometry, {condition, on_true, on_false});
  launch.layout = views.block;  // never null
  launch.layout_argument = 2;
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count,
                                are_contiguous({condition, on_true, on_false})));
  launch.pass(WhereKernel<void, void>(), count, views.rank, nullptr, call.condition, call.on_true,
              call.on_false, call.out);
  return launch;
}

}  // namespace kiln::ops
