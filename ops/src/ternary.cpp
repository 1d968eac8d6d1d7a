#include "kiln/ops/ternary.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/diagnostic.hpp"
#include "kernels/tuning/tiles.hpp"
#include "operands.hpp"
#include "plan.hpp"
#include "tiling.hpp"
#include "view_grid.hpp"

namespace kiln::ops {
namespace {

constexpr auto kWhere = rows_of_each_first("where");
constexpr auto kWhereTiles = rows_of_each_first("where_tiles");

// Returns a type of that size whose kernel moves the elements.
DType of_size(std::size_t bytes) {
  return bytes == 1   ? DType::kU8
         : bytes == 2 ? DType::kF16
         : bytes == 4 ? DType::kF32
                      : DType::kF64;
}

// True if all arrays begin where where_<C>_<T> may access a chunk.
bool may_go_by_chunks(const Where& call) {
  const std::size_t wide = size_of(call.condition_dtype), size = size_of(call.dtype);
  const std::size_t chunk = 16 / std::max(wide, size);
  return are_aligned({call.condition}, chunk * wide) &&
         are_aligned({call.on_true, call.on_false, call.out}, chunk * size);
}

// True if the neighbouring elements of some view lie in another dim than the output's.
bool are_turned(const ViewBlock& views) {
  for (std::size_t view = 1; view <= 3 && views.rank != 0; ++view) {
    if (views.block[(view + 1) * views.rank - 1] > 1) return true;
  }
  return false;
}

// Plans the launch of views tile by tile. Returns nothing if they are not moved that way. Measured
// on an H200, own geometry, not turned, in us, by tiles -> by elements of a table: where_u8_f32 of
// 1000x1001 narrowed 6.2 -> 3.9, of 8x512x513x33 permuted 541 -> 347; where_u32_f32 of 4099x4097
// narrowed 84 -> 90.
Result<std::optional<Launch>> plan_tiles(const Where& call, const ViewBlock& views,
                                         std::size_t count, const tuning::Spread& spread) {
  const KernelRows& rows = of(kWhereTiles, call.condition_dtype);
  const DType dtype = rows.has(call.dtype) ? call.dtype : of_size(size_of(call.dtype));
  const bool always = call.tiles == Tiles::kAlways;
  const auto is_input = [&](const void* array) {
    return array == call.condition || array == call.on_true || array == call.on_false;
  };
  if (!rows.has(dtype) || call.tiles == Tiles::kNever || call.geometry != Geometry::kOwn ||
      (!always && (count <= spread.resident() || is_input(call.out) || !are_turned(views)))) {
    return std::optional<Launch>();
  }
  // If all elements have eight bytes, tiles pay off only for large views. Measured on an H100, own
  // geometry, where_i64_f64, in us, by elements -> by tiles: 8x224x224x3 channels first 22.3 ->
  // 17.9; but 299x1283 transposed 7.2 -> 8.6.
  const bool are_wide = std::min(size_of(call.condition_dtype), size_of(call.dtype)) == 8;
  if (!always && are_wide && count <= spread.twice()) return std::optional<Launch>();
  const std::size_t side = tuning::kTileSide;
  const Tiling tiling = tiling_of(views, 3, count, side, side);
  if (!serves(tiling, call.tiles, count, side * side)) return std::optional<Launch>();
  Launch launch;
  KILN_TRY(set_kernel(launch, rows, dtype));
  set_tile_grid(launch, tiling);
  const std::array<const TiledDim*, 4> dims = {&tiling.across, &tiling.down, &tiling.y, &tiling.z};
  for (const TiledDim* dim : dims) launch.layout.push_back(dim->size);
  for (std::size_t input = 0; input < 3; ++input) {
    for (const TiledDim* dim : dims) launch.layout.push_back(dim->in[input]);
  }
  launch.layout_argument = 0;
  launch.pass(WhereTilesKernel<void, void>(), nullptr, tiling.down.out, tiling.y.out, tiling.z.out,
              call.condition, call.on_true, call.on_false, call.out);
  return std::optional<Launch>(std::move(launch));
}

}  // namespace

Result<Launch> plan(const Where& call, const Gpu& gpu) {
  if (!of(kWhere, call.condition_dtype).has(call.dtype)) {
    return refused("no kernel of 'where' takes '" + std::string(name(call.dtype)) +
                   "' on a condition of '" + std::string(name(call.condition_dtype)) + "'");
  }
  const NamedOperand condition{"condition", call.condition_layout};
  const NamedOperand on_true{"on_true", call.true_layout};
  const NamedOperand on_false{"on_false", call.false_layout};
  KILN_TRY_ASSIGN(const std::size_t count, common_count({condition, on_true, on_false}));

  const bool contiguous = are_contiguous({condition, on_true, on_false});
  const ViewBlock views = view_block(call.geometry, {condition, on_true, on_false});
  if (!contiguous) {
    KILN_TRY(require_counted(views.block, views.rank));
    KILN_TRY_ASSIGN(std::optional<Launch> tiled, plan_tiles(call, views, count, spread_over(gpu)));
    if (tiled) return *std::move(tiled);
  }

  Launch launch;
  KILN_TRY(set_kernel(launch, of(kWhere, call.condition_dtype), call.dtype));
  // The reference's kernels have a layout even if all operands are contiguous.
  if (!contiguous || call.geometry != Geometry::kOwn) launch.layout = views.block;
  launch.layout_argument = 2;
  std::size_t num_dims = views.rank;
  if (contiguous) {
    KILN_TRY(
        set_contiguous_grid(launch, gpu, call.geometry, count, tuning::Grid::kLine,
                            are_aligned({call.condition, call.on_true, call.on_false, call.out})));
  } else {
    KILN_TRY_ASSIGN(num_dims, set_view_grid(launch, gpu, call.geometry, count, views, 3,
                                            Reads::kChosen, may_go_by_chunks(call)));
  }
  launch.pass(WhereKernel<void, void>(), count, num_dims, nullptr, call.condition, call.on_true,
              call.on_false, call.out);
  return launch;
}

}  // namespace kiln::ops
