#include "kiln/ops/affine.hpp"

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"
#include "view_grid.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kAffine = rows_of("affine");

}  // namespace

Result<Launch> plan(const Affine& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_apart(call.layout, call.inp, call.out));
  KILN_TRY(require_scalar("mul", call.mul, call.dtype));
  KILN_TRY(require_scalar("add", call.add, call.dtype));

  Launch launch;
  KILN_TRY(set_kernel(launch, kAffine, call.dtype));
  const ViewBlock view = view_block(call.geometry, call.layout);
  KILN_TRY(require_divisible(view.block, view.rank));
  launch.layout = view.block;
  launch.layout_argument = 2;
  std::size_t num_dims = view.rank;
  if (launch.layout.empty()) {
    KILN_TRY(set_contiguous_grid(launch, gpu, call.geometry, count, tuning::Grid::kRows,
                                 are_aligned({call.inp, call.out})));
  } else {
    KILN_TRY_ASSIGN(num_dims, set_view_grid(launch, gpu, call.geometry, count, view, 1,
                                            Reads::kGroups, are_aligned({call.inp, call.out})));
  }
  with_storage_of(call.dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(AffineKernel<T>(), count, num_dims, nullptr, call.inp, call.out, call.mul.as<T>(),
                call.add.as<T>());
  });
  return launch;
}

}  // namespace kiln::ops
