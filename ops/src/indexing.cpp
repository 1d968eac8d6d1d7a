#include "kiln/ops/indexing.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "kernels/tuning/gather.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr auto kSelect = rows_of_each_first("is");
constexpr auto kGather = rows_of_each_first("gather");
constexpr auto kIndexAdd = rows_of_each_first("ia");
constexpr auto kScatter = rows_of_each_first("s");
constexpr auto kScatterAdd = rows_of_each_first("sa");
constexpr auto kIndexAddAny = rows_of_each_first("ia_any");
constexpr auto kIndexAddSorted = rows_of_each_first("ia_sorted");
constexpr auto kScatterAny = rows_of_each_first("s_any");
constexpr auto kScatterAddAny = rows_of_each_first("sa_any");

template <typename Kernels>
Result<void> set_indexed_kernel(Launch& launch, const Kernels& kernels, DType ids, DType dtype) {
  const KernelRows& rows = of(kernels, ids);
  if (rows.has(dtype)) return set_kernel(launch, rows, dtype);
  return refused("no kernel of '" + std::string(rows.root) + "' takes '" +
                 std::string(name(dtype)) + "' by ids of '" + std::string(name(ids)) + "'");
}

// The size of one dim, and the products of the dims before and after it.
struct Around {
  std::size_t left = 1, size = 1, right = 1;
};
Result<Around> around(const Extents& dims, std::size_t dim) {
  KILN_TRY(element_count({dims}));
  if (dim >= dims.rank()) {
    return refused("ids are along dim " + std::to_string(dim) + " of shape " + to_string(dims) +
                   ", which has " + std::to_string(dims.rank()) + " dims");
  }
  Around parts;
  for (std::size_t d = 0; d < dim; ++d) parts.left *= dims[d];
  parts.size = dims[dim];
  for (std::size_t d = dim + 1; d < dims.rank(); ++d) parts.right *= dims[d];
  return parts;
}

// Returns the number of elements of `dims` with another size in `dim`.
Result<std::size_t> count_with(Extents dims, std::size_t dim, std::size_t size) {
  dims[dim] = size;
  return element_count({dims});
}

// Sets the grid of kernels whose threads walk along the ids. The reference geometry has a thread
// for each element beside the ids' dim. kiln's own geometry also splits the ids into parts that
// different threads walk: as many as the device holds at once, up to `parts`. Each part has a power
// of two of threads.
Result<void> set_walking_grid(Launch& launch, const Gpu& gpu, Geometry geometry,
                              const Around& shape, std::size_t places, std::size_t parts) {
  const tuning::Spread spread = spread_over(gpu);
  std::size_t threads = places;
  std::size_t a_part = 1;
  while (a_part < places && a_part <= spread.resident()) a_part *= 2;
  for (std::size_t part = 2; part <= parts && a_part * part <= spread.resident(); part *= 2) {
    threads = a_part * part;
  }
  constexpr unsigned kThreads = 128;
  return set_grid(launch, geometry, shape.left * shape.right, spread.over(threads, kThreads));
}

// Plans sums in any order or by sorted ids: one thread for each chunk that is moved.
Result<Launch> plan_in_other_order(const IndexAdd& call, const Gpu& gpu, const Around& shape) {
  const bool sorted = call.order == SumOrder::kSorted;
  Launch launch;
  KILN_TRY(set_indexed_kernel(launch, sorted ? kIndexAddSorted : kIndexAddAny, call.ids_dtype,
                              call.dtype));
  const std::size_t count = shape.left * shape.size * shape.right;
  const bool in_chunks = shape.right * size_of(call.dtype) % 16 == 0;
  if (in_chunks) {
    KILN_TRY(set_elementwise_grid(launch, gpu, Geometry::kOwn, count, true, size_of(call.dtype)));
  } else {
    KILN_TRY(set_grid(launch, Geometry::kOwn, count, one_by_one(spread_over(gpu), count)));
  }
  if (sorted) {
    launch.pass(IndexAddSortedKernel<void, void>(), call.ids, call.sorted, shape.size, call.inp,
                call.out, shape.left, call.size, shape.right);
  } else {
    launch.pass(IndexAddKernel<void, void>(), call.ids, shape.size, call.inp, call.out, shape.left,
                shape.size, call.size, shape.right);
  }
  return launch;
}

}  // namespace

Result<Launch> plan(const IndexSelect& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_indexed_kernel(launch, kSelect, call.ids_dtype, call.dtype));
  KILN_TRY_ASSIGN(const Around shape, around(call.dims, call.dim));
  KILN_TRY_ASSIGN(const std::size_t ids, element_count(call.ids_layout));
  KILN_TRY_ASSIGN(const std::size_t count, count_with(call.dims, call.dim, ids));
  launch.layout = layout_block({{"ids", call.ids_layout}});  // never null
  KILN_TRY(require_counted(launch.layout, call.ids_layout.dims.rank()));
  launch.layout_argument = 2;
  const std::size_t bytes = size_of(call.dtype);
  if (shape.right * bytes % 16 == 0) {
    KILN_TRY(
        set_contiguous_grid(launch, gpu, call.geometry, count, tuning::Grid::kLine, false, bytes));
  } else {
    // Measured on an H200, is_u32_f32, in us, blocks of 128 threads -> of 1024: 4097x4097 79.9 ->
    // 74.0; 20000x31 5.53 -> 5.74.
    const tuning::Spread spread = spread_over(gpu);
    const unsigned block =
        count > 8 * spread.resident() ? even_block(spread, spread.resident(), 128, 1024) : 0;
    KILN_TRY(set_grid(launch, call.geometry, count, one_by_one(spread, count, block)));
  }
  launch.pass(IndexSelectKernel<void, void>(), count, call.ids_layout.dims.rank(), nullptr,
              call.ids, call.inp, call.out, shape.left, shape.size, ids, shape.right);
  return launch;
}

Result<Launch> plan(const Gather& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_indexed_kernel(launch, kGather, call.ids_dtype, call.dtype));
  KILN_TRY_ASSIGN(const Around shape, around(call.dims, call.dim));
  KILN_TRY_ASSIGN(const std::size_t count, count_with(call.dims, call.dim, call.count));
  const tuning::Spread spread = spread_over(gpu);
  const std::size_t neighbours = tuning::gathered_together(
      static_cast<unsigned>(size_of(call.dtype)), static_cast<unsigned>(size_of(call.ids_dtype)),
      call.ids_dtype != DType::kU8 && call.ids_dtype != DType::kU32);
  const bool together = (shape.right == 1 ? call.count : shape.right) % neighbours == 0;
  // Neighbours read the same rows, and share a cache in the largest blocks. Measured on an H200,
  // rows of an odd length, in us, blocks of 128 threads -> of 1024: gather_u32_f32 129x4097
  // 5.99 -> 4.79, 4097x4097 118 -> 79.
  const unsigned block = even_block(spread, spread.resident(), 128, 1024);
  KILN_TRY(set_grid(launch, call.geometry, count,
                    together ? spread.strided(count, block) : one_by_one(spread, count, block)));
  launch.pass(GatherKernel<void, void>(), count, call.ids, call.inp, call.out, shape.left,
              shape.size, call.count, shape.right);
  return launch;
}

Result<Launch> plan(const IndexAdd& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Around shape, around(call.dims, call.dim));
  KILN_TRY(count_with(call.dims, call.dim, call.size));
  if (call.order != SumOrder::kKept) return plan_in_other_order(call, gpu, shape);
  Launch launch;
  KILN_TRY(set_indexed_kernel(launch, kIndexAdd, call.ids_dtype, call.dtype));
  // Moves chunks of 16 bytes, or of 8 if elements are bytes, so that ids are read once per wave.
  // With a single id and few places, moves elements instead.
  const std::size_t bytes = size_of(call.dtype), chunk = bytes == 1 ? 8 : 16;
  constexpr std::size_t kFewPlaces = 1 << 15;
  const bool in_chunks = shape.right * bytes % chunk == 0 &&
                         (shape.size != 1 || shape.left * shape.right > kFewPlaces);
  const std::size_t per_row = in_chunks ? shape.right * bytes / chunk : shape.right;
  constexpr std::size_t kMaxParts = 256;
  KILN_TRY(set_walking_grid(launch, gpu, call.geometry, shape, shape.left * per_row,
                            std::min(shape.size, kMaxParts)));
  launch.pass(IndexAddKernel<void, void>(), call.ids, shape.size, call.inp, call.out, shape.left,
              shape.size, call.size, shape.right);
  return launch;
}

Result<Launch> plan(const Scatter& call, const Gpu& gpu) {
  const bool adds = call.op == ScatterOp::kAdd;
  const bool in_any_order = call.order == SumOrder::kAny;
  if (call.order == SumOrder::kSorted) {
    return refused("ids of their own are not taken in sorted order");
  }
  Launch launch;
  KILN_TRY(set_indexed_kernel(
      launch,
      in_any_order ? (adds ? kScatterAddAny : kScatterAny) : (adds ? kScatterAdd : kScatter),
      call.ids_dtype, call.dtype));
  KILN_TRY_ASSIGN(const Around shape, around(call.dims, call.dim));
  KILN_TRY(count_with(call.dims, call.dim, call.size));
  if (in_any_order) {
    const std::size_t count = shape.left * shape.size * shape.right;
    KILN_TRY(set_grid(launch, Geometry::kOwn, count, one_by_one(spread_over(gpu), count)));
    launch.pass(ScatterKernel<void, void>(), call.ids, call.inp, call.out, shape.left, shape.size,
                call.size, shape.right);
    return launch;
  }
  // Every part reads all ids, so there are only a few parts.
  constexpr std::size_t kMaxParts = 8;
  KILN_TRY(set_walking_grid(launch, gpu, call.geometry, shape, shape.left * shape.right,
                            std::min(shape.size, kMaxParts)));
  launch.pass(ScatterKernel<void, void>(), call.ids, call.inp, call.out, shape.left, shape.size,
              call.size, shape.right);
  return launch;
}

}  // namespace kiln::ops
