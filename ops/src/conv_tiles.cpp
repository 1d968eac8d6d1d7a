#include "conv_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/diagnostic.hpp"
#include "kernels/tuning/convolve.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

using tuning::ConvolveWay;

constexpr KernelRows kMany = rows_of("conv_tiles64"), kFew = rows_of("conv_tiles16");

ConvolveWay way_of(ConvolutionTiles tiles) {
  switch (tiles) {
    case ConvolutionTiles::kManyChannels: return ConvolveWay::kMany;
    case ConvolutionTiles::kFewChannels: return ConvolveWay::kFew;
    case ConvolutionTiles::kFewChannelsApart: return ConvolveWay::kFewApart;
    default: return ConvolveWay::kDirect;
  }
}

Error invalid(std::string what) { return Error{ErrorCode::kInvalidInput, std::move(what), {}, {}}; }

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
    return invalid("a window of " + std::to_string(taps) + " is beyond " +
                   std::to_string(tuning::kConvolveTaps));
  }
  constexpr std::size_t kMax = 1u << 30;
  for (const std::size_t number : {size, size_out, call.stride, call.padding, call.dilation}) {
    if (number >= kMax) return invalid(std::to_string(number) + " is beyond 2^30");
  }
  if (call.dilation * taps >= kMax || call.stride * size_out >= 2 * kMax) {
    return invalid("places in the image are beyond 32 bits");
  }
  return {};
}

Result<Described> describe(const Convolution& call, const Extents& out) {
  const Extents &src = call.src_layout.dims, &kernel = call.kernel_layout.dims;
  const Extents src_strides = strides_of(call.src_layout);
  const Extents kernel_strides = strides_of(call.kernel_layout);
  constexpr std::size_t kMax = std::size_t{1} << 32;
  if (reach(call.src_layout, 1) >= kMax || reach(call.kernel_layout, 0) >= kMax) {
    return invalid("elements of an image or of the kernel are apart by more than 32 bits count");
  }
  const bool transposed = call.kind == ConvolutionKind::kTransposed;
  const std::size_t of_channel = out[2] * (out.rank() == 4 ? out[3] : 1);
  if (of_channel * src[0] >= kMax / 2) return invalid("a channel has too many outputs");
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

}  // namespace

Result<Launch> plan_tiles(const Convolution& call, const Extents& out) {
  const ConvolveWay way = way_of(call.tiles);
  Launch launch;
  KILN_TRY(set_kernel(launch, way == ConvolveWay::kMany ? kMany : kFew, call.dtype));
  KILN_TRY_ASSIGN(const Described all, describe(call, out));
  const std::size_t row_classes = all.shape.row_classes, column_classes = all.shape.column_classes;
  constexpr std::size_t kWords = 5 * kMaxRank, kOfAxis = sizeof(tuning::ConvolveAxis) / 8;
  if (sizeof all.shape / 8 + (row_classes + column_classes) * kOfAxis > kWords) {
    return invalid("a stride of " + std::to_string(call.stride) + " makes too many classes");
  }
  append(launch.layout, all.shape);
  for (unsigned i = 0; i < row_classes; ++i) append(launch.layout, all.axis(all.rows, i));
  for (unsigned i = 0; i < column_classes; ++i) append(launch.layout, all.axis(all.columns, i));
  const std::size_t most = std::size_t{all.axis(all.rows, 0).outputs} *
                           all.axis(all.columns, 0).outputs * all.shape.images;
  const tuning::ConvolveTile tile = tuning::convolve_tile(way);
  launch.grid = {static_cast<std::uint32_t>(ceil_div(most, tile.outputs)),
                 static_cast<std::uint32_t>(ceil_div(out[1], tile.channels)),
                 static_cast<std::uint32_t>(row_classes * column_classes)};
  constexpr std::size_t kMaxBlocks = 65535;  // along y
  if (launch.grid.y > kMaxBlocks) return invalid("too many output channels");
  launch.block.x = tuning::kConvolveThreads;
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
  for (const ConvolutionTiles tiles :
       {ConvolutionTiles::kNone, ConvolutionTiles::kManyChannels, ConvolutionTiles::kFewChannels,
        ConvolutionTiles::kFewChannelsApart}) {
    // With one channel, no outputs share weights. Their time is still estimated as for shared
    // outputs, unless there are only a few.
    const bool is_wave = work.outputs * work.channels <= 32;
    const bool single_occupancy =
        tiles == ConvolutionTiles::kNone &&
        (is_wave || (work.channels != 1 && work.single_occupancy(device)));
    const double time = single_occupancy
                            ? tuning::convolve_time_alone(work.read, is_wave, transposed)
                            : tuning::convolve_time(way_of(tiles), call.dtype == DType::kF32,
                                                    transposed, work, device.multiprocessors);
    if (tiles != ConvolutionTiles::kNone && time >= least) continue;
    best = tiles;
    least = time;
  }
  return best;
}

}  // namespace kiln::ops
