#include "kiln/ops/cast.hpp"

#include <optional>

#include "base/diagnostic.hpp"
#include "kernels/tuning/tiles.hpp"
#include "operands.hpp"
#include "plan.hpp"
#include "tiling.hpp"
#include "view_grid.hpp"

namespace kiln::ops {
namespace {

constexpr auto kCast = rows_of_each_first("cast");
constexpr auto kCastTiles = rows_of_each_first("cast_tiles");

// Plans the launch of a view tile by tile. Returns nothing if it goes element by element.
Result<std::optional<Launch>> plan_tiles(const Cast& call, const ViewBlock& view, std::size_t count,
                                         const tuning::Spread& spread) {
  const KernelRows& rows = of(kCastTiles, call.from);
  const bool always = call.tiles == Tiles::kAlways;
  if (!rows.has(call.to) || call.tiles == Tiles::kNever || call.geometry != Geometry::kOwn ||
      view.block.empty() || view.rank == 0 || (!always && call.inp == call.out)) {
    return std::optional<Launch>();
  }
  const bool turned = view.block[2 * view.rank - 1] > 1;
  // Measured on an H200, own geometry, cast_bf16_f16 transposed, in us, by elements -> by tiles:
  // 512x512 3.6 -> 3.2; 384x384 3.3 -> 3.1; 256x256 2.7 -> 2.9.
  if (!always && count <= spread.resident() / (turned ? 2 : 1)) return std::optional<Launch>();
  const std::size_t length = tuning::kTileLength, lines = tuning::kTileLines;
  const Tiling tiling =
      turned ? tiling_of(view, 1, count, lines, length) : tiling_of(view, 1, count, length, lines);
  if (!serves(tiling, call.tiles, count, length * lines)) return std::optional<Launch>();
  const TiledDim& along = turned ? tiling.down : tiling.across;
  const TiledDim& beside = turned ? tiling.across : tiling.down;
  Launch launch;
  KILN_TRY(set_kernel(launch, rows, call.to));
  set_tile_grid(launch, tiling);
  launch.pass(CastTilesKernel<void, void>(), along.size, beside.size, along.in[0], beside.in[0],
              along.out, beside.out, tiling.y.in[0], tiling.y.out, tiling.z.in[0], tiling.z.out,
              call.inp, call.out);
  return std::optional<Launch>(std::move(launch));
}

// True if a view should rather go by whole chunks of its rows than by tiles. Measured on an H200,
// own geometry, in us, by tiles -> by chunks: cast_f16_bf16 narrowed, 1024x1024 in the cache 3.0 ->
// 2.2, 4096x4096 from memory 31 -> 18.5; cast_f32_f16 3.0 -> 2.7, 33 -> 26; cast_bf16_f32 3.0 ->
// 2.8, 35 -> 28, but of 8x32x32x64 permuted 2.3 -> 2.4.
bool prefers_rows(const Cast& call, const OwnKernel& own, const Gpu& gpu, const ViewBlock& view,
                  std::size_t count, bool aligned) {
  if (call.tiles == Tiles::kAlways || view.block.empty() || view.rank == 0) return false;
  const bool is_wider = size_of(call.to) > size_of(call.from);
  return (!is_wider || count > 2 * spread_over(gpu).resident()) &&
         casts_by_rows(own, gpu, view, aligned);
}

}  // namespace

Result<Launch> plan(const Cast& call, const Gpu& gpu) {
  if (!has_cast(call.from, call.to)) {
    return refused("no kernel casts '" + std::string(name(call.from)) + "' to '" +
                   std::string(name(call.to)) + "'");
  }
  KILN_TRY_ASSIGN(const std::size_t count, element_count(call.layout));

  const ViewBlock view = view_block(call.geometry, call.layout);
  KILN_TRY(require_counted(view.block, view.rank));
  const bool aligned = are_aligned({call.inp, call.out});
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kCast, call.from), call.to));
  if (!prefers_rows(call, kOwnKernels[launch.own_kernel], gpu, view, count, aligned)) {
    KILN_TRY_ASSIGN(std::optional<Launch> tiled, plan_tiles(call, view, count, spread_over(gpu)));
    if (tiled) return *std::move(tiled);
  }

  launch.layout = view.block;
  launch.layout_argument = 2;
  std::size_t num_dims = view.rank;
  if (launch.layout.empty()) {
    KILN_TRY(set_contiguous_grid(launch, gpu, call.geometry, count, tuning::Grid::kLine, false));
  } else {
    KILN_TRY_ASSIGN(num_dims, set_view_grid(launch, gpu, call.geometry, count, view, 1,
                                            Reads::kSingly, aligned));
  }
  launch.pass(MapKernel<void, void>(), count, num_dims, nullptr, call.inp, call.out);
  return launch;
}

}  // namespace kiln::ops
