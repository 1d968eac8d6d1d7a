#include "kiln/ops/fill.hpp"

#include <limits>

#include "base/diagnostic.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kFill = rows_of("fill");
constexpr KernelRows kConstSet = rows_of("const_set");
constexpr KernelRows kCopy2d = rows_of("copy2d");

}  // namespace

Result<Launch> plan(const Fill& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kFill, call.value.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count({{call.count}}));
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, true));
  with_storage_of(call.value.dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(FillKernel<T>(), call.buffer, call.value.as<T>(), count);
  });
  return launch;
}

Result<Launch> plan(const ConstSet& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kConstSet, call.value.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  launch.layout = layout_block(call.layout);
  launch.layout_argument = 2;
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, is_contiguous(call.layout)));
  with_storage_of(call.value.dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(ConstSetKernel<T>(), count, call.layout.dims.rank(), nullptr, call.value.as<T>(),
                call.out);
  });
  return launch;
}

Result<Launch> plan(const Copy2d& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kCopy2d, call.dtype));
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

  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, true));
  launch.pass(Copy2dKernel<void>(), call.inp, call.out, call.rows, call.columns, call.inp_stride,
              call.out_stride);
  return launch;
}

}  // namespace kiln::ops
