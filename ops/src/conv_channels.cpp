#include "conv_channels.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "kernels/tuning/convolve.hpp"
#include "kernels/tuning/workspace.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

constexpr KernelRows kChannelsLast = rows_of("conv_channels");

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
  for (const unsigned parts : {1u, 2u, 3u, 4u, 6u, 8u}) {
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
  of.weights = tuning::kWorkspaceCounters + elements * kBytes;
  of.sums = of.weights + taps * groups * rows * tuning::kChannelTile * kBytes;
  copies.workspace_bytes = of.sums;
  if (of.parts != 1) {
    copies.workspace_bytes += std::size_t{of.tiles_down} * of.tiles_across * of.parts *
                              tuning::kChannelTile * tuning::kChannelTile * sizeof(float);
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

}  // namespace kiln::ops
