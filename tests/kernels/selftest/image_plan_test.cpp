// The launches of sorts, convolutions, pools and upsampling; and models of sorts with a fault,
// which the reference must catch.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/diagnostic.hpp"
#include "kernels/tuning/convolve.hpp"
#include "kernels/tuning/sort.hpp"
#include "kernels/tuning/workspace.hpp"
#include "kiln/ops/conv.hpp"
#include "kiln/ops/sort.hpp"
#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::ops {
namespace {

template <typename T>
T argument(const Launch& launch, std::size_t index) {
  REQUIRE(launch.arguments.at(index).size() == sizeof(T));
  T value;
  std::memcpy(&value, launch.arguments.at(index).data(), sizeof value);
  return value;
}
std::string message(const Result<Launch>& launch) {
  REQUIRE_FALSE(launch);
  return launch.error().message;
}

TEST_CASE("plan of an argsort gives a power of two of columns shared memory") {
  ArgSort call;
  call.order = SortOrder::kDescending;
  call.rows = 7;
  call.columns = 1000;
  call.geometry = Geometry::kReference;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "sort.asort_desc_f32<<<7, 1024>>>");
  CHECK(launch->shared_bytes == 4096);
  CHECK(argument<std::int32_t>(*launch, 2) == 1000);
  CHECK(argument<std::int32_t>(*launch, 3) == 1024);
  call.geometry = Geometry::kOwn;  // eight columns a thread
  CHECK(to_string(*plan(call)) == "sort.asort_desc_f32<<<7, 128>>>");
  call.columns = 5;
  CHECK(to_string(*plan(call)) == "sort.asort_desc_f32<<<7, 8>>>");
  call.columns = 200;  // by counting, one thread for each column
  CHECK(to_string(*plan(call)) == "sort.asort_desc_f32<<<7, 256>>>");
  call.columns = 8192;
  CHECK(to_string(*plan(call)) == "sort.asort_desc_f32<<<7, 1024>>>");
  CHECK(plan(call)->shared_bytes == 32768);
  call.columns = 128256;
  call.geometry = Geometry::kReference;
  CHECK(message(plan(call)) == "128256 columns are more than the reference geometry sorts");
}

TEST_CASE("plan of a sort of long rows gives them parts, steps for each digit, and a workspace") {
  ArgSort call;
  call.order = SortOrder::kDescending;
  call.rows = 3;
  call.columns = 128256;
  const auto launch = plan(call);  // 132 multiprocessors
  REQUIRE(launch);
  CHECK(to_string(*launch) == "sort.sort_long_f32<<<132, 1024>>>");
  CHECK(launch->steps == 8);
  CHECK(launch->step_argument == 7);
  CHECK(launch->workspace_bytes ==
        tuning::kWorkspaceCounters + 3 * (16 + (44 + 2 * 4) * 256) * 4 + 2 * 3 * 128256 * 8);
  CHECK(argument<std::uint32_t>(*launch, 6) == tuning::kSortDescending);
  // With many rows, some rows at a time.
  call.rows = 1000;
  CHECK(to_string(*plan(call)) == "sort.sort_long_f32<<<130, 1024>>>");
  CHECK(plan(call)->steps == 8 * 8);
  // One copy of the records between two digits, and none for a single digit.
  Sort bytes;
  bytes.dtype = DType::kF16;
  bytes.rows = 1;
  bytes.columns = 10000;
  CHECK(to_string(*plan(bytes)) == "sort.sort_long_f16<<<9, 1024>>>");
  CHECK(plan(bytes)->steps == 4);
  CHECK(plan(bytes)->workspace_bytes ==
        tuning::kWorkspaceCounters + (16 + (9 + 2) * 256) * 4 + 10000 * 8);
  CHECK(argument<std::uint32_t>(*plan(bytes), 6) == tuning::kSortElements);
  bytes.dtype = DType::kU8;
  CHECK(plan(bytes)->steps == 2);
  CHECK(plan(bytes)->workspace_bytes == tuning::kWorkspaceCounters + (16 + (9 + 2) * 256) * 4);
  // Short rows on request.
  bytes.columns = 100;
  CHECK(to_string(*plan(bytes)) == "sort.sort_asc_u8<<<1, 128>>>");
  bytes.parts = 2;
  CHECK(to_string(*plan(bytes)) == "sort.sort_long_u8<<<2, 1024>>>");
}

TEST_CASE("plan of a convolution passes two layouts, and counts outputs") {
  Convolution call;
  call.src_layout = {{2, 3, 5, 7}};
  call.kernel_layout = {{4, 3, 2, 3}};
  call.padding = 1;
  call.geometry = Geometry::kReference;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "conv.conv2d_f32<<<1, 1024>>>");
  CHECK(launch->layout ==
        std::vector<std::size_t>{2, 3, 5, 7, 105, 35, 7, 1, 4, 3, 2, 3, 18, 6, 3, 1});
  CHECK(argument<std::size_t>(*launch, 1) == 7);  // width, then height
  CHECK(argument<std::size_t>(*launch, 2) == 6);
  call.kind = ConvolutionKind::kTransposed;
  CHECK(message(plan(call)) ==
        "'kernel' of shape [4, 3, 2, 3] takes other channels than 'src' of shape [2, 3, 5, 7] has");
  call.kernel_layout = {{3, 4, 2, 3}};
  call.stride = 2, call.out_padding = 1;
  REQUIRE(plan(call));
  CHECK(plan(call)->kernel == "conv_transpose2d_f32");
  CHECK(to_string(*output_dims(call)) == "[2, 4, 9, 14]");
  call.kind = ConvolutionKind::kPlain;
  call.kernel_layout = {{4, 3, 8, 3}};
  CHECK(message(plan(call)) ==
        "a window that reaches over 8 does not fit into 5 with a padding of 1");
  call.src_layout = {{2, 3, 7}};
  CHECK(message(plan(call)) == "'kernel' has shape [4, 3, 8, 3], not 3 dims");
}

TEST_CASE("plan of a convolution chooses kernels that multiply matrices by shape") {
  Convolution call;
  call.src_layout = {{8, 64, 56, 56}};
  call.kernel_layout = {{64, 64, 3, 3}};
  call.padding = 1;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "conv.conv_tiles64_f32<<<392, 128>>>");
  CHECK(launch->layout.size() == 8 + 2 * 5);
  // Few blocks, few channels, even fewer channels; other types; shapes that the other kernels
  // cannot count.
  const auto with = [&](auto change) {
    Convolution changed = call;
    change(changed);
    return std::string(plan(changed)->kernel.text());
  };
  CHECK(with([](Convolution& c) { c.src_layout = {{1, 64, 56, 56}}; }) == "conv_tiles16_f32");
  CHECK(with([](Convolution& c) {
          c.src_layout = {{2, 320, 32, 32}}, c.kernel_layout = {{16, 320, 3, 3}};
        }) == "conv2d_f32");
  CHECK(with([](Convolution& c) {
          c.src_layout = {{2, 320, 32, 32}}, c.kernel_layout = {{16, 320, 3, 3}};
          c.dtype = DType::kF16;
        }) == "conv_channels_f16");
  CHECK(with([](Convolution& c) { c.kernel_layout = {{16, 64, 3, 3}}; }) == "conv_tiles16_f32");
  CHECK(with([](Convolution& c) {
          c.src_layout = {{1, 64, 1024, 1024}}, c.kernel_layout = {{1, 64, 3, 3}};
        }) == "conv2d_f32");
  CHECK(with([](Convolution& c) { c.dtype = DType::kBF16; }) == "conv_channels_bf16");
  CHECK(with([](Convolution& c) { c.dtype = DType::kBF16, c.stride = 2; }) == "conv_channels_bf16");
  CHECK(with([](Convolution& c) {
          c.dtype = DType::kF16;
          c.src_layout = {{1, 16, 512, 512}}, c.kernel_layout = {{16, 16, 3, 3}};
        }) == "conv_patches16_f16");
  CHECK(with([](Convolution& c) { c.dtype = DType::kF64; }) == "conv2d_f64");
  CHECK(with([](Convolution& c) { c.tiles = ConvolutionTiles::kNone; }) == "conv2d_f32");
  CHECK(with([](Convolution& c) { c.geometry = Geometry::kReference; }) == "conv2d_f32");
  Convolution half = call;
  half.dtype = DType::kF16;
  CHECK(plan(half, {"gfx1100", 48})->kernel == "conv_patches64_f16");
  CHECK(to_string(*plan(half)) == "conv_channels.conv_channels_f16<<<215, 128>>>");
  half.tiles = ConvolutionTiles::kPatchesManyChannels;
  CHECK(to_string(*plan(half)) == "conv.conv_patches64_f16<<<112, 256>>>");
  half.tiles = ConvolutionTiles::kChosen;
  CHECK(plan(half, {"host", 8})->kernel == "conv2d_f16");
  const auto far = [](Convolution& c) { c.src_layout.strides = {1u << 31, 1u << 30, 56, 1}; };
  CHECK(with(far) == "conv2d_f32");
  far(call);
  call.tiles = ConvolutionTiles::kManyChannels;
  CHECK(message(plan(call)) ==
        "elements of an image or of the kernel are apart by more than 32 bits count");

  // The four classes of a transposed convolution: outputs 0 and 1 of each dim, which read different
  // taps.
  Convolution transposed;
  transposed.kind = ConvolutionKind::kTransposed;
  transposed.src_layout = {{4, 128, 64, 64}};
  transposed.kernel_layout = {{128, 64, 4, 4}};
  transposed.stride = 2, transposed.padding = 1;
  CHECK(to_string(*plan(transposed)) == "conv.conv_tiles64_f32<<<256x1x4, 128>>>");
  transposed.stride = 8, transposed.padding = 0;
  CHECK(plan(transposed)->kernel == "conv_transpose2d_f32");
  transposed.tiles = ConvolutionTiles::kFewChannels;
  CHECK(message(plan(transposed)) == "a stride of 8 makes too many classes");
  transposed.dtype = DType::kU8;
  CHECK(message(plan(transposed)) == "no kernel of 'conv_tiles16' takes 'u8'");
}

TEST_CASE("plan of a convolution over copies has a step to copy, and one to add up parts") {
  Convolution call;
  call.dtype = DType::kF16;
  call.src_layout = {{8, 70, 56, 56}};
  call.kernel_layout = {{130, 70, 3, 3}};
  call.padding = 1;
  call.tiles = ConvolutionTiles::kChannelsLast;
  const auto launch = plan(call);
  REQUIRE(launch);
  // 2 x 196 tiles. The image is copied with its padding, both with 128 channels, and the weights for
  // 256 output channels.
  CHECK(to_string(*launch) == "conv_channels.conv_channels_f16<<<392, 128>>>");
  CHECK(launch->steps == 2);
  CHECK(launch->step_argument == 5);
  CHECK(launch->workspace_argument == 4);
  const std::size_t image = 8 * 58 * 58 * 128 * 2, weights = 256 * 9 * 128 * 2;
  CHECK(launch->workspace_bytes == tuning::kWorkspaceCounters + image + weights);
  CHECK(launch->shared_bytes == tuning::channel_bytes(3));
  CHECK(plan(call, {"sm_80", 108, 163 * 1024})->shared_bytes == tuning::channel_bytes(2));
  CHECK(plan(call, {"gfx1100", 48, 64 * 1024})->shared_bytes == tuning::channel_bytes(1));
  // One tile, whose terms eight blocks share.
  call.src_layout = {{1, 640, 8, 8}};
  call.kernel_layout = {{128, 640, 3, 3}};
  CHECK(plan(call)->steps == 3);
  CHECK(plan(call)->workspace_bytes == tuning::kWorkspaceCounters + 10 * 10 * 640 * 2 +
                                           128 * 9 * 640 * 2 + 8 * 128 * 128 * sizeof(float));
  CHECK(plan(call, {"sm_90", 1, 227 * 1024})->workspace_bytes ==
        tuning::kWorkspaceCounters + 10 * 10 * 640 * 2 + 128 * 9 * 640 * 2 +
            2 * 128 * 128 * sizeof(float));

  call.padding = 1u << 14;
  CHECK(message(plan(call)) == "a copy has more elements than 32 bits count");
  call.padding = 0;
  call.kind = ConvolutionKind::kTransposed;
  call.kernel_layout = {{640, 128, 3, 3}};
  CHECK(message(plan(call)) == "copies of channels suit plain convolutions only");
  call.dtype = DType::kF32;
  CHECK(message(plan(call)) == "no kernel of 'conv_channels' takes 'f32'");
}

TEST_CASE(
    "plan of a convolution by windows of 1x1 has no step to copy where the kernel reads planes") {
  Convolution call;
  call.dtype = DType::kF16;
  call.src_layout = {{8, 64, 56, 56}};
  call.kernel_layout = {{256, 64, 1, 1}};
  call.tiles = ConvolutionTiles::kChannelsLast;
  const auto steps = [&] { return plan(call)->steps; };
  CHECK(to_string(*plan(call)) == "conv_channels.conv_channels_f16<<<392, 128>>>");
  CHECK(steps() == 1);
  CHECK(plan(call)->workspace_bytes == 0);
  CHECK(plan(call, {"sm_80", 108, 163 * 1024})->steps == 1);
  CHECK(plan(call, {"gfx1100", 48, 64 * 1024})->steps == 2);

  // Ten tiles, whose terms several blocks share.
  call.src_layout = {{1, 1280, 8, 8}};
  call.kernel_layout = {{1280, 1280, 1, 1}};
  CHECK(steps() == 2);
  const std::size_t sums = plan(call)->workspace_bytes - tuning::kWorkspaceCounters;
  CHECK(sums % (10 * 128 * 128 * sizeof(float)) == 0);

  // Copies: outputs that are no whole chunks, channels that are no whole groups, and padding.
  call.src_layout = {{1, 1280, 7, 7}};
  CHECK(steps() == 3);
  call.src_layout = {{1, 1288, 8, 8}};
  call.kernel_layout = {{1280, 1288, 1, 1}};
  CHECK(steps() == 3);
  call.src_layout = {{1, 1280, 6, 6}};
  call.kernel_layout = {{1280, 1280, 1, 1}};
  call.padding = 1;
  CHECK(steps() == 3);
}

TEST_CASE("plan says which convolutions patches do not take") {
  Convolution call;
  call.dtype = DType::kF16;
  call.src_layout = {{1, 16, 64, 64}};
  call.tiles = ConvolutionTiles::kPatchesFewChannels;
  const auto windows_of = [&](std::size_t height, std::size_t width) {
    call.kernel_layout = {{16, 16, height, width}};
    return plan(call);
  };
  CHECK(windows_of(9, 3));  // (16 + 8) * (16 + 2) elements
  CHECK(message(windows_of(6, 6)) ==
        "the elements that 256 outputs read of a channel are beyond 432");
  call.stride = 2;
  CHECK(message(windows_of(3, 3)) ==
        "patches take plain convolutions only with a stride of 1, not of 2");
  call.stride = 1;
  call.dtype = DType::kF32;
  CHECK(message(windows_of(3, 3)) == "no kernel of 'conv_patches16' takes 'f32'");
}

TEST_CASE("plan gives odd windows of one dim a thread each, however many") {
  const auto plan_of = [](DType dtype, std::size_t channels, std::size_t taps) {
    Im2Col call;
    call.dtype = dtype;
    call.src_layout = {{3, channels, 2703}};
    call.window = {taps};
    return to_string(*plan(call, {"sm_90", 132}));
  };
  CHECK(plan_of(DType::kF16, 37, 3) == "conv.im2col1d_f16<<<293, 1024>>>");
  CHECK(plan_of(DType::kF16, 40, 3) != "conv.im2col1d_f16<<<317, 1024>>>");  // whole chunks
  CHECK(plan_of(DType::kF16, 37, 9) != "conv.im2col1d_f16<<<292, 1024>>>");
  CHECK(plan_of(DType::kF64, 37, 3) != "conv.im2col1d_f64<<<293, 1024>>>");
}

TEST_CASE("plans of pools and of the nearest element name dim 2 first, bilinear dim 3") {
  Pool2d pool;
  pool.src_layout = {{1, 2, 8, 9}};
  pool.height = 2, pool.width = 3, pool.stride_height = 2, pool.stride_width = 1;
  const auto launch = plan(pool);
  REQUIRE(launch);
  CHECK(launch->kernel == "max_pool2d_f32");
  CHECK(argument<std::size_t>(*launch, 1) == 2);
  CHECK(argument<std::size_t>(*launch, 2) == 3);
  UpsampleNearest2d nearest;
  nearest.src_layout = {{1, 2, 8, 9}};
  nearest.height_out = 16, nearest.width_out = 9;
  CHECK(argument<std::size_t>(*plan(nearest), 0) == 16);
  CHECK(argument<double>(*plan(nearest), 2) == 0.5);
  CHECK(argument<double>(*plan(nearest), 3) == 1);
  UpsampleBilinear2d bilinear;
  bilinear.src_layout = nearest.src_layout;
  bilinear.height_out = 16, bilinear.width_out = 9, bilinear.width_factor = 2;
  CHECK(argument<std::size_t>(*plan(bilinear), 0) == 9);
  CHECK_FALSE(argument<bool>(*plan(bilinear), 3));
  CHECK(argument<bool>(*plan(bilinear), 5));
  for (const double factor : {-1.0, HUGE_VAL, std::nan("")}) {
    bilinear.width_factor = factor;
    const auto refused = plan(bilinear);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.ends_with(" is no ratio of sizes"));
  }
}

TEST_CASE("plan of im2col of one dim has a thread for each window of a channel") {
  Im2Col call;
  call.src_layout = {{2, 300, 40}};
  call.window = {3};
  call.geometry = Geometry::kReference;
  CHECK(argument<std::size_t>(*plan(call), 0) == 2 * 38 * 300);
  CHECK(to_string(*plan(call)) == "conv.im2col1d_f32<<<23, 1024>>>");
  CHECK(to_string(*output_dims(call)) == "[2, 38, 300, 3]");
}

}  // namespace
}  // namespace kiln::ops

namespace kiln::conformance {
namespace {

TEST_CASE("a stable sort with NaN last passes; one that is not, or has NaN first, is caught") {
  enum class Fault { kNone, kUnstable, kNanFirst, kZerosApart };
  const auto passes = [](Fault fault) {
    const PreparedCase subject = build("sort", "asort_desc_f16/rows/12x250/offset=1/own");
    const Verdict verdict = run_model(subject, [&](const std::vector<Piece>& operands) {
      const Piece &x = operands[0], &dst = operands[1];
      for (std::size_t first = 0; first < x.count(); first += 250) {
        const auto value = [&](Bits column) { return x.number(first + column); };
        std::vector<Bits> columns(250);
        std::iota(columns.begin(), columns.end(), 0);
        if (fault == Fault::kUnstable) std::reverse(columns.begin(), columns.end());
        std::stable_sort(columns.begin(), columns.end(), [&](Bits a, Bits b) {
          const Real left = value(a), right = value(b);
          if (std::isnan(left) || std::isnan(right)) {
            return fault == Fault::kNanFirst ? std::isnan(left) && !std::isnan(right)
                                             : !std::isnan(left) && std::isnan(right);
          }
          if (fault == Fault::kZerosApart && left == 0 && right == 0) {
            return std::signbit(left) < std::signbit(right);
          }
          return left > right;
        });
        for (std::size_t i = 0; i < 250; ++i) dst.write(first + i, columns[i]);
      }
    });
    return verdict.complaints.empty();
  };
  CHECK(passes(Fault::kNone));
  CHECK_FALSE(passes(Fault::kUnstable));
  CHECK_FALSE(passes(Fault::kNanFirst));
  CHECK_FALSE(passes(Fault::kZerosApart));
}

}  // namespace
}  // namespace kiln::conformance
