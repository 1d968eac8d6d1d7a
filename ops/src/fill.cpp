#include "kiln/ops/fill.hpp"

#include <limits>

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {

Result<Launch> plan(const Fill& call) {
  KILN_TRY(require_moved_dtype("fill", call.value.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count({{call.count}}));

  Launch launch;
  launch.module = "fill";
  launch.kernel = kernel_name("fill", call.value.dtype);
  KILN_TRY(set_grid(launch, call.geometry, count, over_view({{count}}, call.value.dtype, count)));
  launch.arguments = {Argument::of(call.buffer), Argument::of(call.value), Argument::of(count)};
  return launch;
}

Result<Launch> plan(const ConstSet& call) {
  KILN_TRY(require_moved_dtype("const_set", call.value.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));

  Launch launch;
  launch.module = "fill";
  launch.kernel = kernel_name("const_set", call.value.dtype);
  launch.layout = layout_block(call.layout);
  launch.layout_argument = 2;
  KILN_TRY(set_grid(launch, call.geometry, count, over_view(call.layout, call.value.dtype, count)));
  launch.arguments = {Argument::of(count), Argument::of(call.layout.dims.rank()), Argument::null(),
                      Argument::of(call.value), Argument::of(call.out)};
  return launch;
}

Result<Launch> plan(const Copy2d& call) {
  KILN_TRY(require_moved_dtype("copy2d", call.dtype));
  const Layout rows{{call.rows, call.columns}, {call.inp_stride, 1}};
  KILN_TRY_ASSIGN(const std::size_t count, element_count(rows));
  if (call.rows > 1 && call.out_stride < call.columns) {
    return Error{ErrorCode::kInvalidInput,
                 "rows of " + std::to_string(call.columns) + " elements would overlap: they lie " +
                     std::to_string(call.out_stride) + " apart in 'out'",
                 {},
                 {}};
  }
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return Error{ErrorCode::kInvalidInput,
                 "shape " + to_string(rows.dims) + " has more elements than copy2d can count",
                 {},
                 {}}
        .note("it counts elements in 32 bits")
        .hint("copy fewer rows at a time");
  }

  Launch launch;
  launch.module = "fill";
  launch.kernel = kernel_name("copy2d", call.dtype);
  const auto bytes = static_cast<std::uint32_t>(size_of(call.dtype));
  KILN_TRY(set_grid(launch, call.geometry, count, geometry::rows(call.rows, call.columns, bytes)));
  launch.arguments = {Argument::of(call.inp),        Argument::of(call.out),
                      Argument::of(call.rows),       Argument::of(call.columns),
                      Argument::of(call.inp_stride), Argument::of(call.out_stride)};
  return launch;
}

}  // namespace kiln::ops
