// Convolutions, pooling and upsampling of images, and the rearrangements that turn a convolution
// into a matrix product, for u8 u32 f16 bf16 f32 f64. f16 and bf16 are summed in f32; u8 and u32
// wrap.
//
// Images are (batch, channels, length) or (batch, channels, height, width), in any layout. Results
// are row-major contiguous. No dim has more than 2^31 - 1 elements, also with its padding. Results
// have fewer than 2^32 rows, and the channels of a convolution fewer than 2^32 elements each.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

enum class ConvolutionKind : std::uint8_t { kPlain, kTransposed };

// Ways to compute a convolution as a matrix product, for f32, f16 and bf16 and windows of up to 31
// taps in a dim. The kernels are ones that kiln adds: conv_tiles64_<T> works on tiles of 64 output
// channels and 64 outputs, and conv_tiles16_<T> on tiles of 16 output channels and 32 outputs.
// conv_patches64_<T> and conv_patches16_<T> work on tiles of 64 and 16 output channels and 256
// outputs, and load each element once for all taps: of f16 and bf16, for plain convolutions with a
// stride of 1 and for transposed ones, if a block's part of the image fits into shared memory.
// conv_channels_<T> first copies the image, with its padding, and the kernel to scratch memory, with
// the channels of an element side by side: of f16 and bf16, for plain convolutions. It needs the
// memory of both, with a multiple of 64 channels, and up to 256 KiB for each tile of 128 output
// channels and 128 outputs if these are few.
enum class ConvolutionTiles : std::uint8_t {
  kChosen,               // the fastest way for the shape and the device
  kNone,                 // the direct kernels
  kManyChannels,         // conv_tiles64_<T>
  kFewChannels,          // conv_tiles16_<T>, one tile per block
  kFewChannelsApart,     // conv_tiles16_<T>, four tiles per block
  kPatchesManyChannels,  // conv_patches64_<T>
  kPatchesFewChannels,   // conv_patches16_<T>
  kChannelsLast          // conv_channels_<T>
};

// conv1d_<T>, conv2d_<T>, conv_transpose1d_<T>, conv_transpose2d_<T>, chosen by the rank of the
// images. Stride, padding and dilation apply to every dim.
//
//   kPlain       dst[b, o, y] = sum over c and t of
//                src[b, c, y * stride + t * dilation - padding] * kernel[o, c, t]
//   kTransposed  dst[b, o, y] = sum of src[b, c, p] * kernel[c, o, t] over c and over all p and t
//                with p * stride + t * dilation - padding = y
struct Convolution {
  ConvolutionKind kind = ConvolutionKind::kPlain;
  DType dtype = DType::kF32;
  Layout src_layout;
  Layout kernel_layout;  // kPlain: (channels out, channels, ...)
                         // kTransposed: (channels, channels out, ...)
  std::size_t stride = 1, padding = 0, dilation = 1;
  std::size_t out_padding = 0;  // only for kTransposed
  const void* src = nullptr;
  const void* kernel = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
  ConvolutionTiles tiles = ConvolutionTiles::kChosen;  // only with Geometry::kOwn
};
// Returns the dims of `dst`. Errors (kInvalidInput): shapes that do not fit each other, a stride or
// dilation of 0, a window larger than the padded image.
Result<Extents> output_dims(const Convolution& call);

// im2col1d_<T> gives (batch, length out, channels, window). im2col_<T> gives (batch, height out,
// width out, channels, window height, window width). Elements outside the image are 0.
struct Im2Col {
  DType dtype = DType::kF32;
  Layout src_layout;
  Extents window;  // one size, or height and width
  std::size_t stride = 1, padding = 0, dilation = 1;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};
// Returns the dims of `dst`. Errors: as above.
Result<Extents> output_dims(const Im2Col& call);

// col2im1d_<T>: dst[b, c, x] = sum of src[b, l, c, t] over all l and t with l * stride + t = x.
// `src` is (batch, length, channels, window), row-major contiguous. `dst` is (batch, channels,
// (length - 1) * stride + window).
struct Col2Im1d {
  DType dtype = DType::kF32;
  std::size_t batch = 0, length = 0, channels = 0, window = 0;
  std::size_t stride = 1;
  const void* src = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// avg_pool2d_<T>, max_pool2d_<T>, without padding. Averages of u8 and u32 are exact and then
// truncated. A maximum ignores a NaN in f64 and f32, and keeps it in f16 and bf16.
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
// Returns the dims of `dst`. Errors: as above.
Result<Extents> output_dims(const Pool2d& call);

// upsample_nearest2d_<T>: dst[b, c, y, x] = src[b, c, y * height / height_out, x * width /
// width_out], where the quotients are truncated.
struct UpsampleNearest2d {
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t height_out = 0, width_out = 0;
  const void* src = nullptr;
  void* dst = nullptr;  // (batch, channels, height_out, width_out)
  Geometry geometry = Geometry::kOwn;
};

// upsample_nearest1d_<T>, which kiln adds: does the same in one dim.
struct UpsampleNearest1d {
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t length_out = 0;
  const void* src = nullptr;
  void* dst = nullptr;  // (batch, channels, length_out)
};

// upsample_bilinear2d_<T>: interpolates between the four elements around the output's place.
// Integers are truncated.
struct UpsampleBilinear2d {
  DType dtype = DType::kF32;
  Layout src_layout;
  std::size_t height_out = 0, width_out = 0;
  bool align_corners = false;
  double height_factor = 0,
         width_factor = 0;  // output size / input size, above 0; 0: from the dims
  const void* src = nullptr;
  void* dst = nullptr;  // (batch, channels, height_out, width_out)
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
