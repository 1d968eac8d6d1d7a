#include "conv_channels.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "kernels/tuning/convolve.hpp"
#include "kernels/tuning/workspace.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kChannelsLast = rows_of("conv_channels");

// A convolution over copies whose channels lie side by side, or over planes.
struct Copies {
  tuning::ConvolveChannels of;
  std::size_t workspace_bytes;
  std::size_t threads;  // that make the copies
  double time;          // estimated, in ns
};

// True if the kernel can read image and weights as they are: windows of 1x1 that take every element,
// with strides of whole chunks of 16 bytes.
bool reads_planes(const Described& all, const Gpu& gpu) {
  const tuning::ConvolveShape& shape = all.shape;
  const auto is_plain = [](const tuning::ConvolveDim& dim) {
    return dim.taps == 1 && dim.stride == 1 && dim.padding == 0;
  };
  constexpr std::size_t kMax = std::size_t{1} << 32;
  return has_background_copies(gpu) && is_plain(all.rows) && is_plain(all.columns) &&
         shape.channels % tuning::kChannelSpan == 0 && shape.in_stride == 1 &&
         all.columns.image_stride == 1 &&
         (all.rows.size == 1 || all.rows.image_stride == all.columns.size) &&
         (shape.outputs_of_channel | shape.out_stride | shape.channel_stride | shape.image_stride) %
                 8 ==
             0 &&
         std::size_t{shape.out_stride} * shape.channels_out < kMax &&
         std::size_t{shape.channel_stride} * tuning::kChannelSpan < kMax;
}

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
  of.reads_planes = reads_planes(all, gpu) ? 1 : 0;
  const double tiles = 1.0 * of.tiles_down * of.tiles_across;
  const std::size_t copied = of.reads_planes ? 0 : (elements + weights) * tuning::kChannelSpan;
  for (const unsigned parts : {1u, 2u, 3u, 4u, 6u, 8u}) {
    const double time = tuning::convolve_channel_time(
        tiles, static_cast<double>(taps * groups), static_cast<double>(copied),
        all.shape.channels_out <= tuning::kChannelTile / 2, parts, spread_over(gpu).multiprocessors,
        has_warp_groups(gpu));
    if (of.parts != 0 && time >= copies.time) continue;
    of.parts = parts, copies.time = time;
  }
  of.stages = 2 * tuning::channel_bytes(3) <= gpu.max_shared_bytes ? 3
              : tuning::channel_bytes(2) <= gpu.max_shared_bytes   ? 2
                                                                   : 1;
  constexpr std::size_t kBytes = 2 * tuning::kChannelSpan;
  of.weights = tuning::kWorkspaceCounters + elements * kBytes;
  of.sums = of.weights + taps * groups * rows * tuning::kChannelTile * kBytes;
  copies.workspace_bytes = of.sums;
  if (of.reads_planes != 0) {
    of.sums = tuning::kWorkspaceCounters;
    copies.workspace_bytes = 0;
  }
  if (of.parts != 1) {
    copies.workspace_bytes = of.sums + std::size_t{of.tiles_down} * of.tiles_across * of.parts *
                                           tuning::kChannelTile * tuning::kChannelTile *
                                           sizeof(float);
  }
  return copies;
}

}  // namespace

Result<double> channels_time(const Described& all, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Copies copies, copies_of(all, gpu));
  return copies.time;
}

Result<Launch> plan_channels(const Convolution& call, const Extents& out, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kChannelsLast, call.dtype));
  KILN_TRY_ASSIGN(const Described all, describe(call, out));
  KILN_TRY_ASSIGN(const Copies copies, copies_of(all, gpu));
  const tuning::ConvolveChannels& of = copies.of;
  append_words(launch.layout, all.shape);
  append_words(launch.layout, all.axis(all.rows, 0));
  append_words(launch.layout, all.axis(all.columns, 0));
  append_words(launch.layout, of);
  const std::size_t tiles = std::size_t{of.tiles_down} * of.tiles_across * of.parts;
  const std::size_t copying = std::min(ceil_div(copies.threads, tuning::kChannelThreads),
                                       std::size_t{2} * spread_over(gpu).multiprocessors);
  const bool copies_first = of.reads_planes == 0;
  launch.grid.x = static_cast<std::uint32_t>(copies_first ? std::max(tiles, copying) : tiles);
  launch.block.x = tuning::kChannelThreads;
  launch.shared_bytes = tuning::channel_bytes(of.stages);
  launch.workspace_bytes = copies.workspace_bytes;
  launch.workspace_argument = 4;
  launch.steps = (copies_first ? 1u : 0u) + (of.parts == 1 ? 1 : 2);
  launch.step_argument = 5;
  launch.layout_argument = 0;
  launch.pass(ConvChannelsKernel<void>(), nullptr, call.src, call.kernel, call.dst, nullptr,
              std::uint32_t{0});
  return launch;
}

}  // namespace kiln::ops
