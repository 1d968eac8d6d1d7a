#include "kiln/ops/reduce.hpp"

#include <algorithm>
#include <limits>

#include "base/diagnostic.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr auto kReduce = rows_of_each(kReduceOps);
constexpr KernelRows kSum = rows_of("sum");

Error invalid(std::string what) { return Error{ErrorCode::kInvalidInput, std::move(what), {}, {}}; }

// An error unless `over` names dims of the layout, each once.
Result<void> require_dims(const Layout& layout, const Extents& over) {
  bool seen[kMaxRank] = {};
  if (over.empty()) return invalid("no dim is reduced").hint("name the dims in 'over'");
  for (const std::size_t dim : over) {
    if (dim >= layout.dims.rank()) {
      return invalid("dim " + std::to_string(dim) + " is reduced of shape " +
                     to_string(layout.dims) + ", which has " + std::to_string(layout.dims.rank()) +
                     " dims");
    }
    if (seen[dim]) return invalid("dim " + std::to_string(dim) + " is reduced twice");
    seen[dim] = true;
  }
  return {};
}

// The dims that stay, in their order, then those that are reduced, in the order of `over`.
Layout reduced_last(const Layout& layout, const Extents& over) {
  const Extents strides = strides_of(layout);
  Layout view{layout.dims, strides};
  std::size_t at = 0;
  const auto move = [&](std::size_t dim) {
    view.dims[at] = layout.dims[dim];
    view.strides[at] = strides[dim];
    ++at;
  };
  for (std::size_t dim = 0; dim < layout.dims.rank(); ++dim) {
    if (std::find(over.begin(), over.end(), dim) == over.end()) move(dim);
  }
  for (const std::size_t dim : over) move(dim);
  return view;
}

// Our own geometry: by what the kernel finds in the view (kernels/families/reduce.cuh).
tuning::Launch own_geometry(const Gpu& gpu, const Layout& view, std::size_t kept, std::size_t rows,
                            std::size_t each, std::size_t element) {
  const tuning::Spread device = spread_over(gpu);
  const std::size_t rank = view.dims.rank();
  const bool dense = rank == 0 || view.strides[rank - 1] == 1;
  if (!dense && kept != 0 && view.strides[kept - 1] == 1 && rank == kept + 1 &&
      rows * each >= tuning::kAcross) {
    return tuning::across_rows(device, rows, each);
  }
  return tuning::over_rows(device, rows, dense ? (each * element + 15) / 16 : each, 4);
}

}  // namespace

Result<Launch> plan(const Reduce& call, const Gpu& gpu) {
  const ReduceOpInfo& op = info(call.op);
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kReduce, call.op), call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_dims(call.layout, call.over));
  if (gives_index(call.op) && call.over.rank() != 1) {
    return invalid("'" + std::string(op.root) + "' is over " + to_string(call.over) +
                   ", and an index is along one dim");
  }
  std::size_t each = 1;  // elements of one result
  for (const std::size_t dim : call.over) each *= call.layout.dims[dim];
  if (gives_index(call.op))
    KILN_TRY(in_32_bits("columns", each, std::numeric_limits<std::uint32_t>::max()));
  constexpr std::uint32_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
  KILN_TRY_ASSIGN(const std::uint32_t blocks, in_32_bits("results", count / each, kMostBlocks));

  const Layout view = reduced_last(call.layout, call.over);
  launch.layout = layout_block({{"src", view}});  // never null
  launch.layout_argument = 3;
  if (call.geometry == Geometry::kOwn && each != 0) {
    const tuning::Launch own = own_geometry(gpu, view, view.dims.rank() - call.over.rank(), blocks,
                                            each, size_of(call.dtype));
    launch.grid.x = own.blocks;
    launch.block.x = own.threads;
  } else {
    launch.grid.x = blocks;
    launch.block.x = 1;
    while (launch.block.x < std::min<std::size_t>(each, 1024)) launch.block.x *= 2;
  }
  launch.pass(ReduceKernel<void, void>(), count, each, view.dims.rank(), nullptr, call.src,
              call.dst);
  return launch;
}

Result<Launch> plan(const SumInto& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kSum, call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));
  KILN_TRY(require_dims(call.layout, call.over));

  launch.layout = layout_block({{"inp", call.layout}});
  // Of each summed dim its size, then its stride in row-major order, the outermost first: removed
  // in that order, the dims inside keep theirs.
  Extents over = call.over;
  std::sort(&over[0], &over[0] + over.rank());
  const Extents strides = strides_of({call.layout.dims});
  for (const std::size_t dim : over) launch.layout.push_back(call.layout.dims[dim]);
  for (const std::size_t dim : over) launch.layout.push_back(strides[dim]);
  launch.layout_argument = 3;
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, false));
  launch.pass(SumIntoKernel<void>(), count, call.layout.dims.rank(), over.rank(), nullptr, call.inp,
              call.out);
  return launch;
}

}  // namespace kiln::ops
