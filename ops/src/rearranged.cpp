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

// dims [m, a, b] with strides [a b, 1, a]: matrices of b rows and a columns, turned.
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
  const std::size_t side = tuning::side_of_transpose(element);
  const std::size_t tiles =
      call.matrices * ((call.rows + side - 1) / side) * ((call.columns + side - 1) / side);
  const bool lines =
      (address_of(call.inp) | call.columns * element) % tuning::unit_of_transpose(element) == 0;
  const std::size_t count = call.matrices * call.rows * call.columns;
  const bool singly = tiles * side * side > tuning::kMostEmptyTile * count;
  return tuning::transposes(count, lines || singly, tiles, spread_over(gpu).multiprocessors);
}

// What slice_<T> takes: of each of `left`, `count` places of `right` elements, a `step` apart, out of
// `size` places.
struct Places {
  std::size_t left, size, right, step, count;
};

// dims [l, c, r] with strides [s, t, 1], s and t multiples of r; or [l, c] with [s, 1].
std::optional<Places> places_of(const ViewBlock& view) {
  if (view.rank != 2 && view.rank != 3) return std::nullopt;
  const std::size_t* const dims = view.block.begin();
  const std::size_t* const strides = dims + view.rank;
  if (strides[view.rank - 1] != 1) return std::nullopt;
  if (view.rank == 2) return Places{dims[0], strides[0], 1, 1, dims[1]};
  const std::size_t right = dims[2];
  if (strides[0] % right != 0 || strides[1] % right != 0) return std::nullopt;
  return Places{dims[0], strides[0] / right, right, strides[1] / right, dims[1]};
}
bool is_faster(const Unary& copy, const ViewBlock& view, std::size_t count) {
  const std::size_t element = size_of(copy.dtype);
  std::size_t ends = view.block.begin()[view.rank - 1];
  for (std::size_t dim = 0; dim + 1 < view.rank; ++dim) ends |= view.block.begin()[view.rank + dim];
  const bool whole = (address_of(copy.inp) | address_of(copy.out) | ends * element) % 16 == 0;
  return tuning::slices(count, whole, static_cast<unsigned>(element));
}

}  // namespace

Result<std::optional<Launch>> plan_rearranged(const Unary& copy, const ViewBlock& view,
                                              std::size_t count, const Gpu& gpu) {
  const bool always = copy.rearranged == Rearranged::kAlways;
  if (copy.rearranged == Rearranged::kNever || copy.geometry != Geometry::kOwn ||
      view.block.empty() || (!always && copy.inp == copy.out)) {
    return std::optional<Launch>();
  }
  const std::optional<Transpose> transpose = transpose_of(copy, view);
  if (transpose && (always || is_faster(*transpose, gpu))) {
    KILN_TRY_ASSIGN(Launch launch, plan(*transpose, gpu));
    return std::optional<Launch>(std::move(launch));
  }
  const std::optional<Places> places = places_of(view);
  if (places && (always || is_faster(copy, view, count))) {
    Launch launch;
    KILN_TRY(set_kernel(launch, kSlice, copy.dtype));
    KILN_TRY(set_elementwise_grid(launch, gpu, Geometry::kOwn, count, true));
    launch.pass(SliceKernel<void>(), places->left, places->size, places->right, std::size_t{0},
                places->step, places->count, copy.inp, copy.out);
    return std::optional<Launch>(std::move(launch));
  }
  return std::optional<Launch>();
}

}  // namespace kiln::ops
