#include "kiln/ops/cast.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr auto kCast = rows_of_each_first("cast");

}  // namespace

Result<Launch> plan(const Cast& call, const Gpu& gpu) {
  if (!has_cast(call.from, call.to)) {
    return Error{ErrorCode::kInvalidInput,
                 "no kernel casts '" + std::string(name(call.from)) + "' to '" +
                     std::string(name(call.to)) + "'",
                 {},
                 {}};
  }
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));

  Launch launch;
  KILN_TRY(set_kernel(launch, of(kCast, call.from), call.to));
  const ViewBlock view = view_block(call.geometry, call.layout);
  launch.layout = view.block;
  launch.layout_argument = 2;
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, is_contiguous(call.layout)));
  launch.pass(MapKernel<void, void>(), count, view.rank, nullptr, call.inp, call.out);
  return launch;
}

}  // namespace kiln::ops
