#include "rearranged.hpp"

#include <cstdint>

#include "base/diagnostic.hpp"
#include "kernels/tuning/rearranged.hpp"
#include "kiln/ops/fill.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kSlice = rows_of("slice");

std::size_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

// Recognizes dims [m, a, b] with strides [a b, 1, a]: m matrices of b rows and a columns,
// transposed.
std::optional<Transpose> transpose_of(const Unary& copy, const ViewBlock& view) {
  if (view.rank != 2 && view.rank != 3) return std::nullopt;
  const std::size_t* const dims = view.block.begin();
  const std::size_t* const strides = dims + view.rank;
  const std::size_t last = view.rank - 1, a = dims[last - 1], b = dims[last];
  if (strides[last - 1] != 1 || strides[last] != a) return std::nullopt;
  if (view.rank == 3 && strides[0] != a * b) return std::nullopt;
  return Transpose{copy.dtype, view.rank == 3 ? dims[0] : 1, b, a, copy.inp, copy.out};
}
bool is_faster(const Transpose& call, const Gpu& gpu) {
  const auto element = static_cast<unsigned>(size_of(call.dtype));
  const bool lines =
      (address_of(call.inp) | call.columns * element) % tuning::unit_of_transpose(element) == 0;
  const std::size_t count = call.matrices * call.rows * call.columns;
  const TransposeTiles tiles = tiles_of(call, count);
  return tuning::transposes(count, element, lines || tiles.are_mostly_empty, tiles.count,
                            spread_over(gpu).multiprocessors);
}

// Recognizes [l, c] with strides [s, 1], and [l, c, r] with strides [s, t, 1], s and t multiples of
// r.
std::optional<Places> places_of(const std::size_t* dims, const std::size_t* strides,
                                std::size_t rank) {
  if (rank == 2) return Places{dims[0], strides[0], 1, 1, dims[1]};
  const std::size_t right = dims[2];
  if (rank != 3 || strides[0] % right != 0 || strides[1] % right != 0) return std::nullopt;
  return Places{dims[0], strides[0] / right, right, strides[1] / right, dims[1]};
}
// Recognizes the same views, and also such views behind an outer dim of arrays.
std::optional<Places> places_of(const ViewBlock& view) {
  constexpr std::size_t kMaxArrays = 65535;
  const std::size_t* const dims = view.block.begin();
  const std::size_t* const strides = dims + view.rank;
  if (view.rank < 2 || strides[view.rank - 1] != 1) return std::nullopt;
  std::optional<Places> places = places_of(dims, strides, view.rank);
  if (places || view.rank == 2 || dims[0] > kMaxArrays) return places;
  places = places_of(dims + 1, strides + 1, view.rank - 1);
  if (places) {
    places->arrays = dims[0];
    places->pitch = strides[0];
  }
  return places;
}
// True if all runs begin and end at multiples of sixteen bytes.
bool has_whole_runs(const Unary& copy, const Places& places) {
  const bool is_dense = places.step == 1;
  const std::size_t run = is_dense ? places.count * places.right : places.right;
  const std::size_t ends = (places.left == 1 ? 0 : places.size * places.right) | places.pitch |
                           run | (is_dense ? 0 : places.step * places.right);
  return (address_of(copy.inp) | address_of(copy.out) | ends * size_of(copy.dtype)) % 16 == 0;
}

}  // namespace

TransposeTiles tiles_of(const Transpose& call, std::size_t elements) {
  const std::size_t side = tuning::side_of_transpose(static_cast<unsigned>(size_of(call.dtype)));
  const std::size_t down = (call.columns + side - 1) / side, across = (call.rows + side - 1) / side;
  const std::size_t count = call.matrices * down * across;
  return {count, count * side * side > tuning::kMaxEmptyTile * elements};
}

Result<Launch> plan_places(DType dtype, const Places& places, const void* inp, void* out,
                           const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kSlice, dtype));
  const std::size_t of_array = places.left * places.count * places.right;
  if (places.arrays == 1) {
    KILN_TRY(set_elementwise_grid(launch, gpu, Geometry::kOwn, of_array, true));
  } else {
    const std::size_t units = (of_array * size_of(dtype) + 15) / 16;
    const tuning::Launch along = spread_over(gpu).over(units, tuning::kSliceThreads);
    launch.grid = {along.blocks, static_cast<std::uint32_t>(places.arrays), 1};
    launch.block.x = along.threads;
  }
  launch.pass(SliceKernel<void>(), places.left, places.size, places.right, places.start,
              places.step, places.count, places.pitch, inp, out);
  return launch;
}

Result<std::optional<Launch>> plan_rearranged(const Unary& copy, const ViewBlock& view,
                                              std::size_t count, const Gpu& gpu) {
  const bool always = copy.rearranged == Rearranged::kAlways;
  if (copy.rearranged == Rearranged::kNever || copy.geometry != Geometry::kOwn ||
      view.block.empty() || (!always && (copy.inp == nullptr || copy.inp == copy.out))) {
    return std::optional<Launch>();
  }
  const std::optional<Transpose> transpose = transpose_of(copy, view);
  if (transpose && (always || is_faster(*transpose, gpu))) {
    KILN_TRY_ASSIGN(Launch launch, plan(*transpose, gpu));
    return std::optional<Launch>(std::move(launch));
  }
  const std::optional<Places> places = places_of(view);
  if (!places) return std::optional<Launch>();
  const std::size_t chunks = count * size_of(copy.dtype) / 16;
  if (!always &&
      (!has_whole_runs(copy, *places) || !tuning::slices(chunks, spread_over(gpu).resident()))) {
    return std::optional<Launch>();
  }
  KILN_TRY_ASSIGN(Launch launch, plan_places(copy.dtype, *places, copy.inp, copy.out, gpu));
  return std::optional<Launch>(std::move(launch));
}

}  // namespace kiln::ops
