#include "conv_tiles.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/diagnostic.hpp"
#include "conv_channels.hpp"
#include "conv_description.hpp"
#include "kernels/tuning/convolve.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

using tuning::ConvolveWay;

constexpr KernelRows kMany = rows_of("conv_tiles64"), kFew = rows_of("conv_tiles16");
constexpr KernelRows kManyPatches = rows_of("conv_patches64");
constexpr KernelRows kFewPatches = rows_of("conv_patches16");

ConvolveWay way_of(ConvolutionTiles tiles) {
  switch (tiles) {
    case ConvolutionTiles::kManyChannels: return ConvolveWay::kMany;
    case ConvolutionTiles::kFewChannels: return ConvolveWay::kFew;
    case ConvolutionTiles::kFewChannelsApart: return ConvolveWay::kFewApart;
    case ConvolutionTiles::kPatchesManyChannels: return ConvolveWay::kManyPatches;
    case ConvolutionTiles::kPatchesFewChannels: return ConvolveWay::kFewPatches;
    default: return ConvolveWay::kDirect;
  }
}
const KernelRows& kernels_of(ConvolveWay way) {
  switch (way) {
    case ConvolveWay::kMany: return kMany;
    case ConvolveWay::kManyPatches: return kManyPatches;
    case ConvolveWay::kFewPatches: return kFewPatches;
    default: return kFew;
  }
}
bool is_by_patches(ConvolveWay way) {
  return way == ConvolveWay::kManyPatches || way == ConvolveWay::kFewPatches;
}

// Returns how many elements a dim of a patch has beyond one for each output.
std::size_t reach_of_taps(const Described& all, const tuning::ConvolveDim& dim) {
  std::size_t most = 0;
  for (unsigned i = 0; i < all.classes(dim); ++i) {
    const tuning::ConvolveAxis axis = all.axis(dim, i);
    const std::size_t step = static_cast<std::size_t>(std::abs(axis.tap_step));
    if (axis.taps != 0) most = std::max(most, (axis.taps - 1) * step);
  }
  return most;
}

// The tiles of a class, by patches.
struct PatchTiles {
  unsigned width = 0;  // outputs
  std::size_t count = 0;
};

// Returns the tiles of the width that needs fewest.
Result<PatchTiles> tile_by_patches(const Convolution& call, const Described& all) {
  if (!all.transposed && call.stride != 1) {
    return refused("patches take plain convolutions only with a stride of 1, not of " +
                   std::to_string(call.stride));
  }
  const std::size_t across = reach_of_taps(all, all.columns), down = reach_of_taps(all, all.rows);
  const tuning::ConvolveAxis columns = all.axis(all.columns, 0), rows = all.axis(all.rows, 0);
  PatchTiles best;
  for (unsigned width = 16; width <= tuning::kPatchOutputs; width *= 2) {
    const unsigned height = tuning::kPatchOutputs / width;
    if ((width + across) * (height + down) > tuning::kMaxPatch) continue;
    const std::size_t count =
        all.shape.images * ceil_div(columns.outputs, width) * ceil_div(rows.outputs, height);
    if (best.width == 0 || count < best.count) best = {width, count};
  }
  if (best.width == 0) {
    return refused("the elements that " + std::to_string(tuning::kPatchOutputs) +
                   " outputs read of a channel are beyond " + std::to_string(tuning::kMaxPatch));
  }
  return best;
}

}  // namespace

Result<Launch> plan_tiles(const Convolution& call, const Extents& out) {
  const ConvolveWay way = way_of(call.tiles);
  Launch launch;
  KILN_TRY(set_kernel(launch, kernels_of(way), call.dtype));
  KILN_TRY_ASSIGN(Described all, describe(call, out));
  const tuning::ConvolveTile tile = tuning::convolve_tile(way);
  std::size_t tiles = ceil_div(std::size_t{all.axis(all.rows, 0).outputs} *
                                   all.axis(all.columns, 0).outputs * all.shape.images,
                               tile.outputs);
  launch.block.x = tuning::kConvolveThreads;
  if (is_by_patches(way)) {
    KILN_TRY_ASSIGN(const PatchTiles patches, tile_by_patches(call, all));
    all.shape.tile_width = patches.width;
    tiles = patches.count;
    launch.block.x = tuning::kPatchThreads;
  }
  const std::size_t row_classes = all.shape.row_classes, column_classes = all.shape.column_classes;
  append_words(launch.layout, all.shape);
  for (unsigned i = 0; i < row_classes; ++i) append_words(launch.layout, all.axis(all.rows, i));
  for (unsigned i = 0; i < column_classes; ++i) {
    append_words(launch.layout, all.axis(all.columns, i));
  }
  launch.grid = {static_cast<std::uint32_t>(tiles),
                 static_cast<std::uint32_t>(ceil_div(out[1], tile.channels)),
                 static_cast<std::uint32_t>(row_classes * column_classes)};
  constexpr std::size_t kMaxBlocks = 65535;  // along y
  if (launch.grid.y > kMaxBlocks) return refused("too many output channels");
  launch.layout_argument = 0;
  launch.pass(ConvTilesKernel<void>(), nullptr, call.src, call.kernel, call.dst);
  return launch;
}

ConvolutionWork work_of(const Convolution& call, const Extents& out) {
  const Extents &src = call.src_layout.dims, &kernel = call.kernel_layout.dims;
  const bool by_class = call.kind == ConvolutionKind::kTransposed;
  const auto number = [](std::size_t value) { return static_cast<double>(value); };
  ConvolutionWork work{};
  work.taps = work.classes = 1;
  work.outputs = number(out[0]), work.channels = number(out[1]), work.read = number(src[1]);
  for (std::size_t d = 2; d < out.rank(); ++d) {
    const std::size_t taps = by_class ? ceil_div(kernel[d], call.stride) : kernel[d];
    work.taps *= number(taps);
    work.read *= number(std::min(taps, src[d]));
    work.outputs *= number(out[d]);
    if (by_class) work.classes *= number(std::min(call.stride, out[d]));
  }
  work.terms = work.taps * number(src[1]);
  return work;
}

ConvolutionTiles best_tiles(const Convolution& call, const Extents& out, const Gpu& gpu) {
  if (!kMany.has(call.dtype)) return ConvolutionTiles::kNone;
  const tuning::Spread device = spread_over(gpu);
  // The host widens each f16 for each product: a convolution of 1x16x64x64 by 3x3 to 16 channels
  // takes 17 ms by tiles and 10 ms directly (f32: 6 and 12 ms).
  const bool is_host = device.machine.architecture == tuning::Architecture::kHost;
  if (is_host && call.dtype != DType::kF32) return ConvolutionTiles::kNone;
  const ConvolutionWork work = work_of(call, out);
  const bool transposed = call.kind == ConvolutionKind::kTransposed;
  ConvolutionTiles best = ConvolutionTiles::kNone;
  double least = 0;
  const auto consider = [&](ConvolutionTiles tiles, double time) {
    if (tiles != ConvolutionTiles::kNone && time >= least) return;
    best = tiles;
    least = time;
  };
  for (const ConvolutionTiles tiles :
       {ConvolutionTiles::kNone, ConvolutionTiles::kManyChannels, ConvolutionTiles::kFewChannels,
        ConvolutionTiles::kFewChannelsApart}) {
    // With one channel, no outputs share weights. Their time is still estimated as for shared
    // outputs, unless there are only a few.
    const bool is_wave = work.outputs * work.channels <= 32;
    const bool single_occupancy =
        tiles == ConvolutionTiles::kNone &&
        (is_wave || (work.channels != 1 && work.single_occupancy(device)));
    consider(tiles, single_occupancy
                        ? tuning::convolve_time_alone(work.read, is_wave, transposed)
                        : tuning::convolve_time(way_of(tiles), call.dtype == DType::kF32,
                                                transposed, work, device.multiprocessors));
  }
  if (!kManyPatches.has(call.dtype)) return best;
  const Result<Described> all = describe(call, out);
  if (!all) return best;
  if (has_background_copies(gpu)) {  // not measured on other GPUs
    if (const Result<double> time = channels_time(*all, gpu)) {
      consider(ConvolutionTiles::kChannelsLast, *time);
    }
  }
  const Result<PatchTiles> patches = tile_by_patches(call, *all);
  if (!patches) return best;
  for (const ConvolutionTiles tiles :
       {ConvolutionTiles::kPatchesManyChannels, ConvolutionTiles::kPatchesFewChannels}) {
    const ConvolveWay way = way_of(tiles);
    const std::size_t groups = ceil_div(out[1], tuning::convolve_tile(way).channels);
    const double count =
        static_cast<double>(patches->count) * static_cast<double>(groups) * work.classes;
    consider(tiles,
             tuning::convolve_patch_time(way == ConvolveWay::kManyPatches, all->shape.channels,
                                         work.taps, count / device.multiprocessors));
  }
  return best;
}

}  // namespace kiln::ops
