#include "kiln/ops/cast.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Cast& call, const Gpu&) {
  if (!has_cast(call.from, call.to)) {
    return Error{ErrorCode::kInvalidInput,
                 "no kernel casts '" + std::string(name(call.from)) + "' to '" +
                     std::string(name(call.to)) + "'",
                 {},
                 {}};
  }
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));

  Launch launch;
  launch.module = "cast";
  launch.kernel = kernel_name(kernel_name("cast", call.from), call.to);
  launch.layout = layout_block(call.layout);
  launch.layout_argument = 2;
  KILN_TRY(set_reference_grid(launch, count));
  launch.arguments = {Argument::of(count), Argument::of(call.layout.dims.rank()), Argument::null(),
                      Argument::of(call.inp), Argument::of(call.out)};
  return launch;
}

}  // namespace kiln::ops
