// Convolutions, pools, upsampling, and the kernels that turn convolutions into products.
//
// Dims are those of the image; for col2im1d they are batch, length, channels, window. The launches
// of the originals are written out here, including the sizes of outputs, so that they can be
// compared with the launches of kiln's helpers.
#include <algorithm>

#include "kiln/ops/conv.hpp"
#include "tests/bench/family_rows.hpp"

namespace kiln::bench {
namespace {

enum class Work : std::uint8_t {
  kConvolution,
  kTransposed,
  kIm2Col,
  kCol2Im,
  kPool,
  kNearest,
  kBilinear
};

// Used if a case has no windows of its own.
constexpr Windows usual_windows(Work work) {
  switch (work) {
    case Work::kConvolution: return {16, 3, 1, 1};
    case Work::kTransposed: return {16, 4, 2, 1};
    case Work::kIm2Col: return {0, 3, 1, 1};
    case Work::kCol2Im: return {0, 8, 4, 0};
    case Work::kPool: return {0, 2, 2, 0};
    case Work::kNearest:
    case Work::kBilinear: return {0, 2, 1, 0};
  }
  return {};
}
template <Work kWork>
Windows windows_of(const BenchCase& subject) {
  return subject.windows.size == 0 ? usual_windows(kWork) : subject.windows;
}

// Returns a case of about `count` output elements. The image has 1 / 9, 4, ... elements for each of
// them.
template <Work kWork>
BenchCase images(std::string kernel, std::size_t count) {
  const bool flat = kernel.find("1d_") == std::string::npos;
  BenchCase subject = contiguous_case(std::move(kernel), count);
  if constexpr (kWork == Work::kIm2Col) count /= flat ? 9 : 3;
  if constexpr (kWork == Work::kTransposed) count /= flat ? 4 : 2;
  if constexpr (kWork == Work::kNearest || kWork == Work::kBilinear) count /= flat ? 4 : 2;
  const std::size_t channels = count < 4096 ? 1 : 16;
  if constexpr (kWork == Work::kCol2Im) {
    subject.dims = {1, std::max<std::size_t>(count / channels / 8, 1), channels, 8};
    return subject;
  }
  const std::size_t min_size = kWork == Work::kPool ? 2 : 1;
  const std::size_t size = std::max<std::size_t>(count / channels, min_size);
  if (!flat) {
    subject.dims = {1, channels, size};
    return subject;
  }
  std::size_t columns = min_size;
  while (columns * columns < size) columns *= 2;
  subject.dims = {1, channels, std::max(size / columns, min_size), columns};
  return subject;
}

// Returns the dims of the output: 0 for a dim in which the window is larger than the image.
template <Work kWork>
ops::Extents output_of(const BenchCase& subject) {
  const Windows windows = windows_of<kWork>(subject);
  const ops::Extents& image = subject.dims;
  if constexpr (kWork == Work::kCol2Im) {
    return {image[0], image[2], (image[1] - 1) * windows.stride + image[3]};
  }
  ops::Extents out = image;
  const auto places = [&](std::size_t size) {
    if constexpr (kWork == Work::kNearest || kWork == Work::kBilinear) return size * windows.size;
    const std::size_t padding = 2 * windows.padding;
    if constexpr (kWork == Work::kTransposed) {
      const std::size_t reach = (size - 1) * windows.stride + windows.size;
      return reach > padding ? reach - padding : 0;
    }
    if (size + padding < windows.size) return std::size_t{0};
    return (size + padding - windows.size) / windows.stride + 1;
  };
  for (std::size_t d = 2; d < image.rank(); ++d) out[d] = places(image[d]);
  if constexpr (kWork == Work::kConvolution || kWork == Work::kTransposed) {
    out[1] = windows.channels;
  }
  if constexpr (kWork == Work::kIm2Col) {
    if (image.rank() == 3) return {image[0], out[2], image[1], windows.size};
    return {image[0], out[2], out[3], image[1], windows.size, windows.size};
  }
  return out;
}

template <Work kWork>
ops::Extents weights_of(const BenchCase& subject) {
  const Windows windows = windows_of<kWork>(subject);
  ops::Extents dims = subject.dims;
  dims[0] = windows.channels;
  if constexpr (kWork == Work::kTransposed) std::swap(dims[0], dims[1]);
  for (std::size_t d = 2; d < dims.rank(); ++d) dims[d] = windows.size;
  return dims;
}

template <Work kWork>
Operands operands(const Kernel& kernel, const BenchCase& subject) {
  Operands all{{{kernel.dtype, {subject.dims}}}, {kernel.dtype, {output_of<kWork>(subject)}}};
  if constexpr (kWork == Work::kConvolution || kWork == Work::kTransposed) {
    all.inputs.push_back({kernel.dtype, {weights_of<kWork>(subject)}});
  }
  return all;
}

// ---- the originals' launches ------------------------------------------------------------------

template <typename... Values>
void pass(ops::Launch& launch, Values... values) {
  (launch.arguments.push_back(ops::Argument::of(values)), ...);
}
void pass_layout(ops::Launch& launch, std::initializer_list<ops::Extents> operands) {
  launch.layout_argument = launch.arguments.size();
  pass(launch, nullptr);
  for (const ops::Extents& dims : operands) {
    const ops::Extents strides = ops::strides_of({dims});
    launch.layout.append(dims.begin(), dims.end());
    launch.layout.append(strides.begin(), strides.end());
  }
}
std::uint64_t product(const ops::Extents& dims) {
  std::uint64_t count = 1;
  for (const std::size_t dim : dims) count *= dim;
  return count;
}

template <Work kWork>
void launch_original(const BenchCase& subject, const Addresses& addresses, ops::Launch& launch) {
  using Size = std::uint64_t;
  const Windows windows = windows_of<kWork>(subject);
  const ops::Extents& image = subject.dims;
  const ops::Extents out = output_of<kWork>(subject);
  const bool flat = image.rank() == 4;
  const Size k = windows.size, stride = windows.stride, padding = windows.padding, dilation = 1;
  // im2col1d has one thread for each window of a channel.
  const Size threads = kWork == Work::kIm2Col && !flat ? product(out) / k : product(out);
  launch.block = {1024, 1, 1};
  launch.grid = {static_cast<std::uint32_t>((threads + 1023) / 1024), 1, 1};
  if constexpr (kWork == Work::kConvolution || kWork == Work::kTransposed) {
    pass(launch, product(image));
    if (flat) pass(launch, Size{out[3]});
    pass(launch, Size{out[2]}, stride, padding);
    if (kWork == Work::kTransposed) pass(launch, Size{0});  // out_padding
    pass(launch, dilation);
    pass_layout(launch, {image, weights_of<kWork>(subject)});
    pass(launch, addresses.inputs[0], addresses.inputs[1], addresses.output);
    return;
  }
  if constexpr (kWork == Work::kIm2Col) {
    pass(launch, threads, Size{out[1]});
    if (flat) pass(launch, Size{out[2]}, k);
    pass(launch, k, stride, padding, dilation);
    pass_layout(launch, {image});
  } else if constexpr (kWork == Work::kCol2Im) {
    pass(launch, product(out), Size{out[2]}, Size{image[1]}, Size{image[2]}, Size{image[3]},
         stride);
  } else if constexpr (kWork == Work::kPool) {
    pass(launch, product(image), k, k, stride, stride);
    pass_layout(launch, {image});
  } else if constexpr (kWork == Work::kNearest) {
    const double scale = 1.0 / static_cast<double>(k);
    pass(launch, Size{out[2]}, Size{out[3]}, scale, scale);
    pass_layout(launch, {image});
  } else {
    pass(launch, Size{out[3]}, Size{out[2]}, false, false, 0.0, false, 0.0);
    pass_layout(launch, {image});
  }
  pass(launch, addresses.inputs[0], addresses.output);
}

// ---- kiln's launches --------------------------------------------------------------------------

template <typename Call>
Call call_of(const Kernel& kernel, const BenchCase& subject, const Addresses& addresses,
             ops::Geometry geometry) {
  Call call;
  call.dtype = kernel.dtype;
  call.src_layout = {subject.dims};
  call.src = addresses.inputs[0];
  call.dst = addresses.output;
  call.geometry = geometry;
  return call;
}

template <Work kWork>
ops::Convolution convolution(const Kernel& kernel, const BenchCase& subject,
                             const Addresses& addresses, ops::Geometry geometry) {
  const Windows windows = windows_of<kWork>(subject);
  auto call = call_of<ops::Convolution>(kernel, subject, addresses, geometry);
  call.kind =
      kWork == Work::kTransposed ? ops::ConvolutionKind::kTransposed : ops::ConvolutionKind::kPlain;
  call.kernel_layout = {weights_of<kWork>(subject)};
  call.stride = windows.stride;
  call.padding = windows.padding;
  call.kernel = addresses.inputs[1];
  return call;
}
template <Work kWork>
Result<ops::Launch> plan_convolution(const Kernel& kernel, const BenchCase& subject,
                                     const Addresses& addresses, ops::Geometry geometry) {
  return plan(convolution<kWork>(kernel, subject, addresses, geometry), subject.gpu);
}
// The kernels that multiply matrices, on the same images.
template <ops::ConvolutionTiles kTiles>
Result<ops::Launch> plan_tiles(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry /*ours alone*/) {
  auto call = convolution<Work::kConvolution>(kernel, subject, addresses, ops::Geometry::kOwn);
  call.tiles = kTiles;
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_im2col(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  const Windows windows = windows_of<Work::kIm2Col>(subject);
  auto call = call_of<ops::Im2Col>(kernel, subject, addresses, geometry);
  call.window = {windows.size};
  if (subject.dims.rank() == 4) call.window = {windows.size, windows.size};
  call.stride = windows.stride;
  call.padding = windows.padding;
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_col2im(const Kernel& kernel, const BenchCase& subject,
                                const Addresses& addresses, ops::Geometry geometry) {
  ops::Col2Im1d call;
  call.dtype = kernel.dtype;
  call.batch = subject.dims[0];
  call.length = subject.dims[1];
  call.channels = subject.dims[2];
  call.window = subject.dims[3];
  call.stride = windows_of<Work::kCol2Im>(subject).stride;
  call.src = addresses.inputs[0];
  call.dst = addresses.output;
  call.geometry = geometry;
  return plan(call, subject.gpu);
}
Result<ops::Launch> plan_pool(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry) {
  const Windows windows = windows_of<Work::kPool>(subject);
  auto call = call_of<ops::Pool2d>(kernel, subject, addresses, geometry);
  call.op = kernel.root == "avg_pool2d" ? ops::PoolOp::kAverage : ops::PoolOp::kMaximum;
  call.height = call.width = windows.size;
  call.stride_height = call.stride_width = windows.stride;
  return plan(call, subject.gpu);
}
template <typename Call, Work kWork>
Result<ops::Launch> plan_upsample(const Kernel& kernel, const BenchCase& subject,
                                  const Addresses& addresses, ops::Geometry geometry) {
  auto call = call_of<Call>(kernel, subject, addresses, geometry);
  const ops::Extents out = output_of<kWork>(subject);
  call.height_out = out[2];
  call.width_out = out[3];
  return plan(call, subject.gpu);
}

Result<ops::Launch> plan_nearest1d(const Kernel& kernel, const BenchCase& subject,
                                   const Addresses& addresses, ops::Geometry /*ours alone*/) {
  const std::size_t length = output_of<Work::kNearest>(subject)[2];
  return plan(
      ops::UpsampleNearest1d{
          kernel.dtype, {subject.dims}, length, addresses.inputs[0], addresses.output},
      subject.gpu);
}

template <Work kWork>
Family windows(std::string_view name, decltype(Family::plan) plan) {
  // Convolutions are slow, and larger ones would show nothing more.
  constexpr bool kSums = kWork == Work::kConvolution || kWork == Work::kTransposed;
  return {.name = name,
          .bound = kSums ? Bound::kArithmetic : Bound::kMemory,
          .data_matters = false,
          .max_count = std::size_t{1} << (kSums ? 24 : 28),
          .sized = images<kWork>,
          .operands = operands<kWork>,
          .plan = plan,
          .launch_original = launch_original<kWork>};
}

}  // namespace

std::vector<Family> window_families() {
  Family nearest1d = windows<Work::kNearest>("upsample_nearest1d", plan_nearest1d);
  nearest1d.launch_original = nullptr;
  Family many =
      windows<Work::kConvolution>("conv_tiles64", plan_tiles<ops::ConvolutionTiles::kManyChannels>);
  Family few =
      windows<Work::kConvolution>("conv_tiles16", plan_tiles<ops::ConvolutionTiles::kFewChannels>);
  Family many_patches = windows<Work::kConvolution>(
      "conv_patches64", plan_tiles<ops::ConvolutionTiles::kPatchesManyChannels>);
  Family few_patches = windows<Work::kConvolution>(
      "conv_patches16", plan_tiles<ops::ConvolutionTiles::kPatchesFewChannels>);
  Family channels_last = windows<Work::kConvolution>(
      "conv_channels", plan_tiles<ops::ConvolutionTiles::kChannelsLast>);
  for (Family* const each : {&many, &few, &many_patches, &few_patches, &channels_last}) {
    each->original_root = "conv2d";
    each->is_choice = true;
  }
  Family conv1d = windows<Work::kConvolution>("conv1d", plan_convolution<Work::kConvolution>);
  Family conv2d = windows<Work::kConvolution>("conv2d", plan_convolution<Work::kConvolution>);
  conv1d.shapes = {{1, 384, 1500}};
  conv2d.shapes = {{1, 64, 56, 56}, {8, 128, 28, 28}, {1, 512, 7, 7}};
  return {
      conv1d,
      conv2d,
      windows<Work::kTransposed>("conv_transpose1d", plan_convolution<Work::kTransposed>),
      windows<Work::kTransposed>("conv_transpose2d", plan_convolution<Work::kTransposed>),
      windows<Work::kIm2Col>("im2col1d", plan_im2col),
      windows<Work::kIm2Col>("im2col", plan_im2col),
      windows<Work::kCol2Im>("col2im1d", plan_col2im),
      windows<Work::kPool>("avg_pool2d", plan_pool),
      windows<Work::kPool>("max_pool2d", plan_pool),
      windows<Work::kNearest>("upsample_nearest2d",
                              plan_upsample<ops::UpsampleNearest2d, Work::kNearest>),
      windows<Work::kBilinear>("upsample_bilinear2d",
                               plan_upsample<ops::UpsampleBilinear2d, Work::kBilinear>),
      nearest1d,
      many,
      few,
      many_patches,
      few_patches,
      channels_last,
  };
}

}  // namespace kiln::bench
