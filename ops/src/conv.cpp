#include "kiln/ops/conv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/diagnostic.hpp"
#include "conv_channels.hpp"
#include "conv_tiles.hpp"
#include "kernels/tuning/convolve.hpp"
#include "kernels/tuning/fill.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace kiln::ops {
namespace {

// Largest size of a dim of images and windows, which the kernels count in 31 bits.
constexpr std::uint32_t kMaxDim = std::numeric_limits<std::int32_t>::max();

Result<void> require_image(std::string_view name, const Layout& layout, std::size_t rank) {
  KILN_TRY(element_count(layout));
  if (layout.dims.rank() != rank) {
    return refused("'" + std::string(name) + "' has shape " + to_string(layout.dims) + ", not " +
                   std::to_string(rank) + " dims");
  }
  for (std::size_t d = 0; d < rank; ++d)
    KILN_TRY(in_32_bits("elements of a dim", layout.dims[d], kMaxDim));
  return {};
}

// Returns an error if kernels cannot count the steps of a window.
Result<void> require_steps(std::size_t stride, std::size_t padding, std::size_t dilation) {
  KILN_TRY(in_32_bits("elements of a stride", stride, kMaxDim));
  KILN_TRY(in_32_bits("elements of a padding", padding, kMaxDim));
  KILN_TRY(in_32_bits("elements of a dilation", dilation, kMaxDim));
  return {};
}

// Returns how many windows fit into a dim.
Result<std::size_t> windows(std::size_t size, std::size_t window, std::size_t stride,
                            std::size_t padding, std::size_t dilation) {
  if (window == 0 || stride == 0 || dilation == 0) {
    return refused("a window, its stride and its dilation are at least 1");
  }
  KILN_TRY(require_steps(stride, padding, dilation));
  KILN_TRY(in_32_bits("elements of a window", window, kMaxDim));
  const std::size_t reach = dilation * (window - 1) + 1;
  if (reach > size + 2 * padding) {
    return refused("a window that reaches over " + std::to_string(reach) + " does not fit into " +
                   std::to_string(size) + " with a padding of " + std::to_string(padding));
  }
  KILN_TRY(in_32_bits("elements of a padded dim", size + 2 * padding, kMaxDim));
  return (size + 2 * padding - reach) / stride + 1;
}

// Returns an error if kernels cannot count the lines of outputs, or the elements of a line.
Result<void> require_lines(std::size_t lines, std::size_t length) {
  KILN_TRY(in_32_bits("lines of outputs", lines, std::numeric_limits<std::uint32_t>::max()));
  KILN_TRY(in_32_bits("elements of a line", length, kMaxDim));
  return {};
}
Result<void> require_lines(const Extents& out) {
  std::size_t lines = 1;
  for (std::size_t d = 0; d + 1 < out.rank(); ++d) lines *= out[d];
  return require_lines(lines, out[out.rank() - 1]);
}

std::size_t product(const Extents& dims) {
  std::size_t count = 1;
  for (const std::size_t dim : dims) count *= dim;
  return count;
}

// Appends the dims and then the strides of an operand.
void append(LayoutBlock& block, const Layout& layout) {
  block.append(layout.dims.begin(), layout.dims.end());
  const Extents strides = strides_of(layout);
  block.append(strides.begin(), strides.end());
}

constexpr KernelRows kConvolutions[2][2] = {
    {rows_of("conv1d"), rows_of("conv2d")},
    {rows_of("conv_transpose1d"), rows_of("conv_transpose2d")},
};
constexpr KernelRows kIm2Col[2] = {rows_of("im2col1d"), rows_of("im2col")};
constexpr KernelRows kCol2Im1d = rows_of("col2im1d");
constexpr std::array kPools = {rows_of("avg_pool2d"), rows_of("max_pool2d")};
constexpr KernelRows kNearest = rows_of("upsample_nearest2d");
constexpr KernelRows kNearest1d = rows_of("upsample_nearest1d");
constexpr KernelRows kBilinear = rows_of("upsample_bilinear2d");

double scale(std::size_t size, std::size_t size_out) {
  return static_cast<double>(size) / static_cast<double>(size_out);
}

// True if rows of so many outputs are written in whole chunks.
bool has_chunks(std::size_t outputs, DType dtype) { return outputs * size_of(dtype) % 16 == 0; }

// Outputs that are computed independently get a thread each, in blocks for all multiprocessors.
// Outputs that share terms get as many threads as the device holds at once if there are many terms.
// On a host, threads are rounds of a loop.
tuning::Launch convolution_launch(const tuning::Spread& device, const ConvolutionWork& work) {
  const bool is_host = device.machine.architecture == tuning::Architecture::kHost;
  const bool is_spread = is_host || work.single_occupancy(device);
  const double most = 1024.0 * device.multiprocessors;
  const bool fills = !is_spread && work.terms >= tuning::kConvolveTermsOfTeam;
  const double wanted = fills ? most : std::min(work.outputs * work.channels, most);
  unsigned threads = tuning::convolve_block(wanted, work.terms, device.multiprocessors);
  while (is_spread && threads > 64 && wanted <= threads * (device.multiprocessors - 1.0)) {
    threads /= 2;
  }
  return {static_cast<unsigned>(std::ceil(wanted / threads)), threads};
}

}  // namespace

Result<Extents> output_dims(const Convolution& call) {
  const std::size_t rank = call.src_layout.dims.rank();
  if (rank != 3 && rank != 4) {
    return refused("'src' has shape " + to_string(call.src_layout.dims) + ", not 3 or 4 dims");
  }
  KILN_TRY(require_image("src", call.src_layout, rank));
  KILN_TRY(require_image("kernel", call.kernel_layout, rank));
  const Extents &src = call.src_layout.dims, &kernel = call.kernel_layout.dims;
  const bool transposed = call.kind == ConvolutionKind::kTransposed;
  if (kernel[transposed ? 0 : 1] != src[1]) {
    return refused("'kernel' of shape " + to_string(kernel) +
                   " takes other channels than 'src' of shape " + to_string(src) + " has");
  }
  Extents out = src;
  out[1] = kernel[transposed ? 1 : 0];
  for (std::size_t d = 2; d < rank; ++d) {
    if (!transposed) {
      KILN_TRY_ASSIGN(out[d], windows(src[d], kernel[d], call.stride, call.padding, call.dilation));
      continue;
    }
    if (call.stride == 0 || call.dilation == 0) {
      return refused("a stride and a dilation are at least 1");
    }
    KILN_TRY(require_steps(call.stride, call.padding, call.dilation));
    KILN_TRY(in_32_bits("elements of an output's padding", call.out_padding, kMaxDim));
    const std::size_t whole =
        (src[d] - 1) * call.stride + call.dilation * (kernel[d] - 1) + call.out_padding + 1;
    KILN_TRY(in_32_bits("elements of a padded dim", whole, kMaxDim));
    if (whole <= 2 * call.padding) {
      return refused("a padding of " + std::to_string(call.padding) + " leaves nothing of " +
                     std::to_string(whole));
    }
    out[d] = whole - 2 * call.padding;
  }
  KILN_TRY(element_count({out}));
  if (rank == 4) {
    constexpr std::uint32_t kMaxPlane = std::numeric_limits<std::uint32_t>::max();
    KILN_TRY(in_32_bits("elements of a channel", src[2] * src[3], kMaxPlane));
    KILN_TRY(in_32_bits("outputs of a channel", out[2] * out[3], kMaxPlane));
  }
  return out;
}

Result<Launch> plan(const Convolution& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Extents out, output_dims(call));
  if (call.geometry == Geometry::kOwn) {
    Convolution tiled = call;
    if (call.tiles == ConvolutionTiles::kChosen) tiled.tiles = best_tiles(call, out, gpu);
    if (tiled.tiles != ConvolutionTiles::kNone) {
      Result<Launch> launch = tiled.tiles == ConvolutionTiles::kChannelsLast
                                  ? plan_channels(tiled, out, gpu)
                                  : plan_tiles(tiled, out);
      if (launch || call.tiles != ConvolutionTiles::kChosen) return launch;
    }
  }
  const bool transposed = call.kind == ConvolutionKind::kTransposed, flat = out.rank() == 4;
  Launch launch;
  KILN_TRY(set_kernel(launch, kConvolutions[transposed ? 1 : 0][flat ? 1 : 0], call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count({out}));
  KILN_TRY(set_grid(launch, call.geometry, count,
                    convolution_launch(spread_over(gpu), work_of(call, out))));
  append(launch.layout, call.src_layout);
  append(launch.layout, call.kernel_layout);
  const std::size_t numel = product(call.src_layout.dims);
  if (!transposed && !flat) {
    launch.pass(Conv1dKernel<void>(), numel, out[2], call.stride, call.padding, call.dilation,
                nullptr, call.src, call.kernel, call.dst);
    launch.layout_argument = 5;
  } else if (!transposed) {
    launch.pass(Conv2dKernel<void>(), numel, out[3], out[2], call.stride, call.padding,
                call.dilation, nullptr, call.src, call.kernel, call.dst);
    launch.layout_argument = 6;
  } else if (!flat) {
    launch.pass(Conv2dKernel<void>(), numel, out[2], call.stride, call.padding, call.out_padding,
                call.dilation, nullptr, call.src, call.kernel, call.dst);
    launch.layout_argument = 6;
  } else {
    launch.pass(ConvTranspose2dKernel<void>(), numel, out[3], out[2], call.stride, call.padding,
                call.out_padding, call.dilation, nullptr, call.src, call.kernel, call.dst);
    launch.layout_argument = 7;
  }
  return launch;
}

Result<Extents> output_dims(const Im2Col& call) {
  const std::size_t dims = call.window.rank();
  if (dims != 1 && dims != 2) return refused("a window has one size, or height and width");
  KILN_TRY(require_image("src", call.src_layout, dims + 2));
  const Extents& src = call.src_layout.dims;
  std::size_t sizes[6] = {src[0]};
  for (std::size_t d = 0; d < dims; ++d) {
    KILN_TRY_ASSIGN(sizes[1 + d],
                    windows(src[2 + d], call.window[d], call.stride, call.padding, call.dilation));
    sizes[2 + dims + d] = call.window[d];
  }
  sizes[1 + dims] = src[1];
  const Extents out(sizes, 2 + 2 * dims);
  KILN_TRY(element_count({out}));
  // A line is a row of outputs, each a whole window.
  std::size_t length = 1;
  for (std::size_t d = dims; d < out.rank(); ++d) length *= out[d];
  KILN_TRY(require_lines(dims == 2 ? out[0] * out[1] : out[0], length));
  return out;
}

Result<Launch> plan(const Im2Col& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Extents out, output_dims(call));
  const bool flat = call.window.rank() == 2;
  Launch launch;
  KILN_TRY(set_kernel(launch, kIm2Col[flat ? 1 : 0], call.dtype));
  KILN_TRY_ASSIGN(const std::size_t count, element_count({out}));
  // With one spatial dim, the reference has a thread for each window of a channel. So does kiln's
  // own geometry if windows are few or odd (families/im2col.cuh).
  const std::size_t windows = flat ? count : count / call.window[0];
  const std::size_t resident = spread_over(gpu).resident();
  const auto bytes = static_cast<unsigned>(size_of(call.dtype));
  constexpr std::size_t kMaxWindows = std::size_t{1} << 31;
  if (!flat && bytes != 8 && windows > resident && windows < kMaxWindows &&
      tuning::has_odd_windows(static_cast<unsigned>(call.src_layout.dims[1]),
                              static_cast<unsigned>(call.window[0]), bytes)) {
    KILN_TRY(set_grid(launch, call.geometry, windows, tuning::chunk_each(windows, 1, 1024)));
  } else {
    const bool by_windows =
        call.geometry == Geometry::kReference || (windows <= resident && bytes != 8);
    std::size_t line = 1;  // number of windows in a row of outputs
    for (std::size_t d = flat ? 2 : 1; d < out.rank(); ++d) line *= out[d];
    KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, by_windows ? windows : count,
                                  has_chunks(line, call.dtype)));
  }
  append(launch.layout, call.src_layout);
  if (flat) {
    launch.pass(Im2ColKernel<void>(), count, out[1], out[2], call.window[0], call.window[1],
                call.stride, call.padding, call.dilation, nullptr, call.src, call.dst);
    launch.layout_argument = 8;
  } else {
    launch.pass(Im2Col1dKernel<void>(), count / call.window[0], out[1], call.window[0], call.stride,
                call.padding, call.dilation, nullptr, call.src, call.dst);
    launch.layout_argument = 6;
  }
  return launch;
}

Result<Launch> plan(const Col2Im1d& call, const Gpu& gpu) {
  Launch launch;
  KILN_TRY(set_kernel(launch, kCol2Im1d, call.dtype));
  KILN_TRY(require_image("src", {{call.batch, call.length, call.channels, call.window}}, 4));
  if (call.stride == 0) return refused("a stride is at least 1");
  KILN_TRY(in_32_bits("elements of a stride", call.stride, kMaxDim));
  const std::size_t length = (call.length - 1) * call.stride + call.window;
  const Extents out = {call.batch, call.channels, length};
  KILN_TRY_ASSIGN(const std::size_t count, element_count({out}));
  KILN_TRY(require_lines(out));
  // Groups of neighbouring outputs whose terms lie side by side (families/im2col.cuh).
  const std::size_t group = size_of(call.dtype) == 8 ? 2 : 4;
  const bool grouped =
      (call.window | call.stride) % group == 0 && count > spread_over(gpu).resident();
  KILN_TRY(set_grid(launch, call.geometry, count,
                    one_thread_each(spread_over(gpu), grouped ? count / group : count)));
  launch.pass(Col2Im1dKernel<void>(), count, length, call.length, call.channels, call.window,
              call.stride, call.src, call.dst);
  return launch;
}

Result<Extents> output_dims(const Pool2d& call) {
  KILN_TRY(require_image("src", call.src_layout, 4));
  Extents out = call.src_layout.dims;
  KILN_TRY_ASSIGN(out[2], windows(out[2], call.height, call.stride_height, 0, 1));
  KILN_TRY_ASSIGN(out[3], windows(out[3], call.width, call.stride_width, 0, 1));
  KILN_TRY(require_lines(out));
  return out;
}

Result<Launch> plan(const Pool2d& call, const Gpu& gpu) {
  KILN_TRY_ASSIGN(const Extents out, output_dims(call));
  Launch launch;
  KILN_TRY(set_kernel(launch, of(kPools, call.op), call.dtype));
  const std::size_t count = product(out);
  KILN_TRY(set_elementwise_grid(launch, gpu, call.geometry, count, true));
  append(launch.layout, call.src_layout);
  // The kernel's "w" is dim 2.
  launch.pass(Pool2dKernel<void>(), product(call.src_layout.dims), call.height, call.width,
              call.stride_height, call.stride_width, nullptr, call.src, call.dst);
  launch.layout_argument = 5;
  return launch;
}

namespace {

// Returns a launch without arguments that makes images of dims `out`, as many as src has.
Result<Launch> upsampling(const KernelRows& kernels, DType dtype, const Layout& src,
                          const Extents& out, Geometry geometry, const Gpu& gpu) {
  KILN_TRY(require_image("src", src, out.rank()));
  KILN_TRY(require_image("dst", {out}, out.rank()));
  KILN_TRY(require_lines(out));
  Launch launch;
  KILN_TRY(set_kernel(launch, kernels, dtype));
  KILN_TRY(set_elementwise_grid(launch, gpu, geometry, product(out),
                                has_chunks(out[out.rank() - 1], dtype)));
  append(launch.layout, src);
  return launch;
}

Result<void> require_factor(double factor) {
  if (factor >= 0 && std::isfinite(factor)) return {};
  return refused("a factor of " + std::to_string(factor) + " is no ratio of sizes")
      .note("it is above 0, or 0 for the ratio of the dims");
}

}  // namespace

Result<Launch> plan(const UpsampleNearest2d& call, const Gpu& gpu) {
  const Extents& src = call.src_layout.dims;
  KILN_TRY_ASSIGN(Launch launch, upsampling(kNearest, call.dtype, call.src_layout,
                                            {src[0], src[1], call.height_out, call.width_out},
                                            call.geometry, gpu));
  // The kernel's "w" is dim 2.
  launch.pass(UpsampleNearest2dKernel<void>(), call.height_out, call.width_out,
              scale(src[2], call.height_out), scale(src[3], call.width_out), nullptr, call.src,
              call.dst);
  launch.layout_argument = 4;
  return launch;
}

Result<Launch> plan(const UpsampleNearest1d& call, const Gpu& gpu) {
  const Extents& src = call.src_layout.dims;
  KILN_TRY_ASSIGN(Launch launch,
                  upsampling(kNearest1d, call.dtype, call.src_layout,
                             {src[0], src[1], call.length_out}, Geometry::kOwn, gpu));
  launch.pass(UpsampleNearest1dKernel<void>(), call.length_out, scale(src[2], call.length_out),
              nullptr, call.src, call.dst);
  launch.layout_argument = 2;
  return launch;
}

Result<Launch> plan(const UpsampleBilinear2d& call, const Gpu& gpu) {
  KILN_TRY(require_factor(call.height_factor));
  KILN_TRY(require_factor(call.width_factor));
  const Extents& src = call.src_layout.dims;
  KILN_TRY_ASSIGN(Launch launch, upsampling(kBilinear, call.dtype, call.src_layout,
                                            {src[0], src[1], call.height_out, call.width_out},
                                            call.geometry, gpu));
  launch.pass(UpsampleBilinear2dKernel<void>(), call.width_out, call.height_out, call.align_corners,
              call.height_factor != 0, call.height_factor, call.width_factor != 0,
              call.width_factor, nullptr, call.src, call.dst);
  launch.layout_argument = 7;
  return launch;
}

}  // namespace kiln::ops
