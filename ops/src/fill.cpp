#include "kiln/ops/fill.hpp"

#include <algorithm>
#include <limits>

#include "base/diagnostic.hpp"
#include "kernels/tuning/fill.hpp"
#include "kernels/tuning/transpose.hpp"
#include "operands.hpp"
#include "plan.hpp"
#include "rearranged.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kFill = rows_of("fill");
constexpr KernelRows kConstSet = rows_of("const_set");
constexpr KernelRows kCopy2d = rows_of("copy2d");
constexpr KernelRows kArange = rows_of("arange");
constexpr KernelRows kTranspose = rows_of("transpose");

unsigned per_chunk(DType dtype) { return static_cast<unsigned>(16 / size_of(dtype)); }

// Sets the grid of a contiguous fill. Of more elements, threads that have some fill the rest.
Result<void> set_fill_grid(Launch& launch, Geometry geometry, std::size_t count, DType dtype) {
  constexpr std::size_t kMaxSpread = std::size_t{1} << 40;  // up to 2^30 blocks
  const auto bytes = static_cast<unsigned>(size_of(dtype));
  return set_grid(launch, geometry, count, tuning::filled(std::min(count, kMaxSpread), bytes));
}

}  // namespace

Result<Launch> plan(const Fill& call, const Gpu& /*any*/) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kFill, call.value.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count({{call.count}}));
  KILN_TRY(set_fill_grid(launch, call.geometry, count, call.value.dtype));
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
  const ViewBlock view = view_block(call.geometry, call.layout);
  KILN_TRY(require_divisible(view.block, view.rank));
  launch.layout = view.block;
  launch.layout_argument = 2;
  if (is_contiguous(call.layout)) {
    KILN_TRY(set_fill_grid(launch, call.geometry, count, call.value.dtype));
  } else {
    KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, false));
  }
  with_storage_of(call.value.dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(ConstSetKernel<T>(), count, view.rank, nullptr, call.value.as<T>(), call.out);
  });
  return launch;
}

Result<Launch> plan(const Copy2d& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kCopy2d, call.dtype));
  const Layout rows{{call.rows, call.columns}, {call.inp_stride, 1}};
  KILN_TRY_ASSIGN(const std::size_t count, element_count(rows));
  if (call.rows > 1 && call.out_stride < call.columns) {
    return refused("rows of " + std::to_string(call.columns) +
                   " elements would overlap: they lie " + std::to_string(call.out_stride) +
                   " apart in 'out'");
  }
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return refused("shape " + to_string(rows.dims) + " has more elements than copy2d can count")
        .note("it counts elements in 32 bits")
        .hint("copy fewer rows at a time");
  }

  // The kernel moves 16-byte units if it can. Otherwise it moves elements, which need more threads.
  const unsigned unit = per_chunk(call.dtype);
  const std::size_t pitches = call.rows > 1 ? call.inp_stride | call.out_stride : 0;
  if ((call.columns | pitches) % unit == 0) {
    KILN_TRY(set_grid(launch, call.geometry, count,
                      tuning::copied_by_chunks(spread_over(gpu), count, unit)));
  } else {
    // Measured on an H200, in us, a thread for every four elements -> for each: 501x777, f32 4.21 ->
    // 3.43, u8 3.82 -> 3.02; 129x4097 4.38 -> 3.90, 3.89 -> 3.45; but 1023x1023 5.39 -> 6.17.
    const tuning::Spread spread = spread_over(gpu);
    const std::size_t resident = spread.resident();
    // The kernel's limit is lower than two rounds where 1536 threads share a multiprocessor.
    const std::size_t most =
        std::min<std::size_t>(2 * resident, 1024ull * tuning::row_copy_blocks(spread.machine));
    const bool are_few = call.columns % unit != 0 && count > resident && count <= most;
    KILN_TRY(set_grid(launch, call.geometry, count,
                      are_few ? tuning::chunk_each(count, 1, 1024) : spread.strided(count)));
  }
  launch.pass(Copy2dKernel<void>(), call.inp, call.out, call.rows, call.columns, call.inp_stride,
              call.out_stride);
  return launch;
}

Result<Launch> plan(const Arange& call, const Gpu& gpu) {
  const DType dtype = call.start.dtype;
  Launch launch;
  KILN_TRY(set_kernel(launch, kArange, dtype));
  KILN_TRY(require_scalar("step", call.step, dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count({{call.count}}));
  KILN_TRY(set_contiguous_grid(launch, gpu, Geometry::kOwn, count, tuning::Grid::kLine, false));
  with_storage_of(dtype, [&](auto element) {
    using T = decltype(element);
    launch.pass(ArangeKernel<T>(), count, call.start.as<T>(), call.step.as<T>(), call.out);
  });
  return launch;
}

Result<Launch> plan(const Transpose& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kTranspose, call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count,
                  element_count({{call.matrices, call.rows, call.columns}}));
  // One block per tile, or one thread per element if tiles would be mostly empty.
  const TransposeTiles tiles = tiles_of(call, count);
  constexpr std::size_t kMaxBlocks = 1u << 30;  // kernels loop over the remaining tiles
  launch.block.x = tuning::kTransposeThreads;
  launch.grid.x = tiles.are_mostly_empty
                      ? spread_over(gpu).over(count, tuning::kTransposeThreads).blocks
                      : static_cast<std::uint32_t>(std::min(tiles.count, kMaxBlocks));
  launch.pass(TransposeKernel<void>(), call.matrices, call.rows, call.columns, call.inp, call.out);
  return launch;
}

Result<Launch> plan(const Slice& call, const Gpu& gpu) {
  KILN_TRY(element_count({call.dims}));
  if (call.dim >= call.dims.rank()) {
    return refused("dim " + std::to_string(call.dim) + " is sliced of shape " +
                   to_string(call.dims) + ", which has " + std::to_string(call.dims.rank()) +
                   " dims");
  }
  const std::size_t size = call.dims[call.dim];
  Extents out = call.dims;
  out[call.dim] = call.count;
  KILN_TRY(element_count({out}));
  if (call.step == 0 || call.start >= size ||
      (call.count - 1) > (size - 1 - call.start) / call.step) {
    return refused("a slice of " + std::to_string(call.count) + " places from " +
                   std::to_string(call.start) + " on in steps of " + std::to_string(call.step) +
                   " does not fit into " + std::to_string(size));
  }
  std::size_t left = 1, right = 1;
  for (std::size_t d = 0; d < call.dim; ++d) left *= call.dims[d];
  for (std::size_t d = call.dim + 1; d < call.dims.rank(); ++d) right *= call.dims[d];
  const Places places{left, size, right, call.step, call.count, 1, 0, call.start};
  return plan_places(call.dtype, places, call.inp, call.out, gpu);
}

}  // namespace kiln::ops
