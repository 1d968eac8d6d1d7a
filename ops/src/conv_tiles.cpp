#include "conv_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/diagnostic.hpp"
#include "kernels/tuning/convolve.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

using tuning::ConvolveWay;

constexpr KernelRows kMany = rows_of("conv_tiles64"), kFew = rows_of("conv_tiles16");
constexpr KernelRows kManyPatches = rows_of("conv_patches64");
constexpr KernelRows kFewPatches = rows_of("conv_patches16");
constexpr KernelRows kChannelsLast = rows_of("conv_channels");

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

// The kernels' parameters, as 64-bit numbers. With one spatial dim, an image has one row.
struct Described {
  tuning::ConvolveShape shape;
  tuning::ConvolveDim rows, columns;
  bool transposed;

  std::size_t classes(const tuning::ConvolveDim& dim) const {
    return transposed ? dim.classes() : 1;
  }
  tuning::ConvolveAxis axis(const tuning::ConvolveDim& dim, unsigned number) const {
    return transposed ? dim.transposed(number) : dim.plain();
  }
};

// Returns the distance between the first and the last element, or at least 2^32 if 32 bits cannot
// hold it.
std::size_t reach(const Layout& layout, std::size_t first_dim) {
  const Extents strides = strides_of(layout);
  constexpr std::size_t kMax = std::size_t{1} << 32;
  std::size_t sum = 0;
  for (std::size_t d = first_dim; d < layout.dims.rank(); ++d) {
    if (layout.dims[d] == 1 || strides[d] == 0) continue;
    if (strides[d] >= kMax || layout.dims[d] >= kMax / strides[d]) return kMax;
    sum += (layout.dims[d] - 1) * strides[d];
  }
  return sum;
}

// Returns an error if a number of the dim is too large.
Result<void> require_dim(const Convolution& call, std::size_t size, std::size_t size_out,
                         std::size_t taps) {
  if (taps > tuning::kConvolveTaps) {
    return refused("a window of " + std::to_string(taps) + " is beyond " +
                   std::to_string(tuning::kConvolveTaps));
  }
  constexpr std::size_t kMax = 1u << 30;
  for (const std::size_t number : {size, size_out, call.stride, call.padding, call.dilation}) {
    if (number >= kMax) return refused(std::to_string(number) + " is beyond 2^30");
  }
  if (call.dilation * taps >= kMax || call.stride * size_out >= 2 * kMax) {
    return refused("places in the image are beyond 32 bits");
  }
  return {};
}

Result<Described> describe(const Convolution& call, const Extents& out) {
  const Extents &src = call.src_layout.dims, &kernel = call.kernel_layout.dims;
  const Extents src_strides = strides_of(call.src_layout);
  const Extents kernel_strides = strides_of(call.kernel_layout);
  constexpr std::size_t kMax = std::size_t{1} << 32;
  if (reach(call.src_layout, 1) >= kMax || reach(call.kernel_layout, 0) >= kMax) {
    return refused("elements of an image or of the kernel are apart by more than 32 bits count");
  }
  const bool transposed = call.kind == ConvolutionKind::kTransposed;
  const std::size_t of_channel = out[2] * (out.rank() == 4 ? out[3] : 1);
  if (of_channel * src[0] >= kMax / 2) return refused("a channel has too many outputs");
  const auto dim = [&](std::size_t d, std::size_t out_stride) {
    const auto number = [](std::size_t value) { return static_cast<unsigned>(value); };
    return tuning::ConvolveDim{number(src[d]),         number(out[d]),
                               number(kernel[d]),      number(call.stride),
                               number(call.padding),   number(call.dilation),
                               number(src_strides[d]), number(kernel_strides[d]),
                               number(out_stride)};
  };
  const std::size_t last = out.rank() - 1;
  for (std::size_t d = 2; d <= last; ++d) KILN_TRY(require_dim(call, src[d], out[d], kernel[d]));
  Described all{};
  all.transposed = transposed;
  all.columns = dim(last, 1);
  all.rows = last == 3 ? dim(2, out[3]) : tuning::ConvolveDim{1, 1, 1, 1, 0, 1, 0, 0, 0};
  const auto number = [](std::size_t value) { return static_cast<unsigned>(value); };
  all.shape = {src_strides[0],
               number(src[0]),
               number(src[1]),
               number(out[1]),
               all.rows.size,
               all.columns.size,
               number(src_strides[1]),
               number(kernel_strides[transposed ? 1 : 0]),
               number(kernel_strides[transposed ? 0 : 1]),
               number(all.classes(all.rows)),
               number(all.classes(all.columns)),
               call.tiles == ConvolutionTiles::kFewChannelsApart ? 1u : 0u,
               0,
               of_channel};
  constexpr std::size_t kWords = 5 * kMaxRank, kOfAxis = sizeof(tuning::ConvolveAxis) / 8;
  const std::size_t classes = std::size_t{all.shape.row_classes} + all.shape.column_classes;
  if (sizeof all.shape / 8 + classes * kOfAxis > kWords) {
    return refused("a stride of " + std::to_string(call.stride) + " makes too many classes");
  }
  return all;
}

template <typename T>
void append(LayoutBlock& block, const T& value) {
  static_assert(sizeof value % sizeof(std::size_t) == 0);
  std::array<std::size_t, sizeof value / sizeof(std::size_t)> words;
  std::memcpy(words.data(), &value, sizeof value);
  block.append(words.begin(), words.end());
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

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

// A convolution over copies whose channels lie side by side.
struct Copies {
  tuning::ConvolveChannels of;
  std::size_t workspace_bytes;
  std::size_t threads;  // that make the copies
  double time;          // estimated, in ns
};

Result<Copies> copies_of(const Described& all, const Gpu& gpu) {
  if (all.transposed) return refused("copies of channels suit plain convolutions only");
  const tuning::ConvolveAxis y = all.axis(all.rows, 0), x = all.axis(all.columns, 0);
  const auto read = [](const tuning::ConvolveAxis& axis) {
    return std::size_t{axis.outputs - 1} * axis.step +
           std::size_t{axis.taps - 1} * static_cast<unsigned>(axis.tap_step) + 1;
  };
  const std::size_t lines = read(y), places = read(x), taps = std::size_t{y.taps} * x.taps;
  const std::size_t groups = ceil_div(all.shape.channels, tuning::kChannelSpan);
  const std::size_t rows = ceil_div(all.shape.channels_out, tuning::kChannelTile);
  // In groups of kChannelSpan elements.
  constexpr std::size_t kMax = (std::size_t{1} << 32) / tuning::kChannelSpan;
  if (lines >= kMax / places || lines * places >= kMax / groups ||
      lines * places * groups >= kMax / all.shape.images ||
      taps * groups >= kMax / (rows * tuning::kChannelTile)) {
    return refused("a copy has more elements than 32 bits count");
  }
  const std::size_t elements = lines * places * groups * all.shape.images;
  const std::size_t weights = taps * groups * all.shape.channels_out;
  const std::size_t outputs = all.shape.images * all.shape.outputs_of_channel;

  Copies copies{};
  tuning::ConvolveChannels& of = copies.of;
  const auto number = [](std::size_t value) { return static_cast<unsigned>(value); };
  of.lines = number(lines), of.places = number(places);
  of.channels = number(groups * tuning::kChannelSpan);
  of.outputs = number(outputs);
  of.tiles_down = number(rows);
  of.tiles_across = number(ceil_div(outputs, tuning::kChannelTile));
  copies.threads = elements + weights;
  const double tiles = 1.0 * of.tiles_down * of.tiles_across;
  for (const unsigned parts : {1u, 2u, 4u}) {
    const double time = tuning::convolve_channel_time(
        tiles, static_cast<double>(taps * groups),
        static_cast<double>((elements + weights) * tuning::kChannelSpan),
        all.shape.channels_out <= tuning::kChannelTile / 2, parts, spread_over(gpu).multiprocessors,
        has_warp_groups(gpu));
    if (of.parts != 0 && time >= copies.time) continue;
    of.parts = parts, copies.time = time;
  }
  of.stages = 2 * tuning::channel_bytes(3) <= gpu.max_shared_bytes ? 3
              : tuning::channel_bytes(2) <= gpu.max_shared_bytes   ? 2
                                                                   : 1;
  constexpr std::size_t kBytes = 2 * tuning::kChannelSpan;
  of.weights = elements * kBytes;
  of.sums = of.weights + taps * groups * rows * tuning::kChannelTile * kBytes;
  copies.workspace_bytes = of.sums;
  if (of.parts != 1) {
    copies.workspace_bytes += std::size_t{of.tiles_down} * of.tiles_across * of.parts *
                              tuning::kChannelTile * tuning::kChannelTile * sizeof(float);
  }
  return copies;
}

}  // namespace

Result<Launch> plan_channels(const Convolution& call, const Extents& out, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kChannelsLast, call.dtype));
  KILN_TRY_ASSIGN(const Described all, describe(call, out));
  KILN_TRY_ASSIGN(const Copies copies, copies_of(all, gpu));
  const tuning::ConvolveChannels& of = copies.of;
  append(launch.layout, all.shape);
  append(launch.layout, all.axis(all.rows, 0));
  append(launch.layout, all.axis(all.columns, 0));
  append(launch.layout, of);
  const std::size_t tiles = std::size_t{of.tiles_down} * of.tiles_across * of.parts;
  const std::size_t copying = std::min(ceil_div(copies.threads, tuning::kChannelThreads),
                                       std::size_t{2} * spread_over(gpu).multiprocessors);
  launch.grid.x = static_cast<std::uint32_t>(std::max(tiles, copying));
  launch.block.x = tuning::kChannelThreads;
  launch.shared_bytes = tuning::channel_bytes(of.stages);
  launch.workspace_bytes = copies.workspace_bytes;
  launch.workspace_argument = 4;
  launch.steps = of.parts == 1 ? 2 : 3;
  launch.step_argument = 5;
  launch.layout_argument = 0;
  launch.pass(ConvChannelsKernel<void>(), nullptr, call.src, call.kernel, call.dst, nullptr,
              std::uint32_t{0});
  return launch;
}

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
  append(launch.layout, all.shape);
  for (unsigned i = 0; i < row_classes; ++i) append(launch.layout, all.axis(all.rows, i));
  for (unsigned i = 0; i < column_classes; ++i) append(launch.layout, all.axis(all.columns, i));
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
  // Not measured on other GPUs.
  const bool has_copies = sm_of(gpu) >= 80;
  if (const Result<Copies> copies = copies_of(*all, gpu); copies && has_copies) {
    consider(ConvolutionTiles::kChannelsLast, copies->time);
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
