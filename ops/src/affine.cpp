#include "kiln/ops/affine.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kAffine = rows_of("affine");

}  // namespace

Result<Launch> plan(const Affine& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_scalar("mul", call.mul, call.dtype));
  KILN_TRY(require_scalar("add", call.add, call.dtype));

  Launch launch;
  KILN_TRY(set_kernel(launch, kAffine, call.dtype));
  const ViewBlock view = view_block(call.geometry, call.layout);
  launch.layout = view.block;
  launch.layout_argument = 2;
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, is_contiguous(call.layout)));
  with_storage_of(call.dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(AffineKernel<T>(), count, view.rank, nullptr, call.inp, call.out, call.mul.as<T>(),
                call.add.as<T>());
  });
  return launch;
}

}  // namespace kiln::ops
