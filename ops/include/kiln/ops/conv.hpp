// Convolutions, pools and upsampling of images, and what turns convolutions into matrix products,
// for u8 u32 f16 bf16 f32 f64. Sums of f16 and bf16 are kept in f32; u8 and u32 wrap.
//
// Images are (batch, channels, length) or (batch, channels, height, width), in any layout; results
// are row-major contiguous.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

enum class ConvolutionKind : std::uint8_t { kPlain, kTransposed };

// Our own kernels that multiply matrices, of f32, f16 and bf16: conv_tiles64_<T> by tiles of 64
// output channels and 64 outputs; conv_tiles16_<T> of 16 and 32, whose blocks take one tile, or
// four apart. Windows have up to 31 taps in a dim. kChosen: what is fastest; kNone: the direct
// kernels.
enum class ConvolutionTiles : std::uint8_t {
  kChosen,
  kNone,
  kManyChannels,
  kFewChannels,
  kFewChannelsApart
};

// conv1d_<T>, conv2d_<T>, conv_transpose1d_<T>, conv_transpose2d_<T>, by the rank of the images.
// Stride, paddings and dilation are those of every dim. Plain: dst[b, o, y] = the sum over c and t
// of src[b, c, y stride + t dilation - padding] * kernel[o, c, t]. Transposed: of src[b, c, p] *
// kernel[c, o, t] where p stride + t dilation - padding = y.
struct Convolution {
  ConvolutionKind kind = ConvolutionKind::kPlain;
  DType dtype = DType::kF32;
  Layout src_layout;
  Layout kernel_layout;  // plain: (channels out, channels, ...); transposed: (channels, channels
                         // out, ...)
  std::size_t stride = 1, padding = 0, dilation = 1;
  std::size_t out_padding = 0;  // transposed alone
  const void* src = nullptr;
  const void* kernel = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
  ConvolutionTiles tiles = ConvolutionTiles::kChosen;  // of our own geometry
};
Result<Extents> output_dims(const Convolution& call);

// im2col1d_<T>: (batch, length out, channels, window); im2col_<T>: (batch, height out, width out,
// channels, window height, window width). Elements beyond the image are 0.
struct Im2Col {
  DType dtype = DType::kF32;
  Layout src_layout;
  Extents window;  // one size, or height and width
  std::size_t stride = 1, padding = 0, dilation = 1;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};
Result<Extents> output_dims(const Im2Col& call);

// col2im1d_<T>: dst[b, c, x] = the sum of src[b, l, c, t] where l stride + t = x. `src` (batch,
// length, channels, window) is contiguous; `dst` (batch, channels, (length - 1) stride + window).
struct Col2Im1d {
  DType dtype = DType::kF32;
  std::size_t batch = 0, length = 0, channels = 0, window = 0;
  std::size_t stride = 1;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// avg_pool2d_<T>, max_pool2d_<T>: no padding. Averages of u8 and u32 are exact and cut off. A
// maximum ignores a NaN in f64 and f32, keeps it in f16 and bf16.
enum class PoolOp : std::uint8_t { kAverage, kMaximum };
struct Pool2d {
  PoolOp op = PoolOp::kMaximum;
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t height = 0, width = 0;  // of the window
  std::size_t stride_height = 1, stride_width = 1;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};
Result<Extents> output_dims(const Pool2d& call);

// upsample_nearest2d_<T>: the element at the output's place times size / size out, cut off.
struct UpsampleNearest2d {
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t height_out = 0, width_out = 0;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// upsample_nearest1d_<T>, a name of our own: the same of one dim.
struct UpsampleNearest1d {
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t length_out = 0;
  const void* src = nullptr;
  void* dst = nullptr;
};

// upsample_bilinear2d_<T>: between the four elements around the output's place. Integers are cut
// off. A factor of 0 is not given: the sizes say it.
struct UpsampleBilinear2d {
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t height_out = 0, width_out = 0;
  bool align_corners = false;
  double height_factor = 0, width_factor = 0;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Convolution& call, const Gpu& gpu = {});
Result<Launch> plan(const Im2Col& call, const Gpu& gpu = {});
Result<Launch> plan(const Col2Im1d& call, const Gpu& gpu = {});
Result<Launch> plan(const Pool2d& call, const Gpu& gpu = {});
Result<Launch> plan(const UpsampleNearest2d& call, const Gpu& gpu = {});
Result<Launch> plan(const UpsampleNearest1d& call, const Gpu& gpu = {});
Result<Launch> plan(const UpsampleBilinear2d& call, const Gpu& gpu = {});

}  // namespace kiln::ops
