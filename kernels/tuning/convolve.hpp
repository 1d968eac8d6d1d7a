// How convolutions become products of matrices, and the tiles of these. Plain C++17, for device
// code and host programs.
//
// Measurements write a convolution as "64 by 3x3 to 64, 8 of 56x56": 64 channels, a window of 3x3,
// 64 output channels, 8 images, outputs of 56x56.
#pragma once

namespace kiln::tuning {

inline constexpr unsigned kConvolveThreads = 128;
// Maximum number of taps of a window in a dim.
inline constexpr unsigned kConvolveTaps = 31;

// Patches of images, for matrix units (families/convolve_patches.cuh): threads of a block; its
// outputs; channels of a step, and taps whose weights it has; maximum number of elements of a channel
// in a patch.
inline constexpr unsigned kPatchThreads = 256;
inline constexpr unsigned kPatchOutputs = 256;
inline constexpr unsigned kPatchChannels = 16;
inline constexpr unsigned kPatchTaps = 9;
inline constexpr unsigned kMaxPatch = 432;
// Blocks that a multiprocessor holds at once, by the output channels of a tile.
// Measured on an H200, 16 channels, by 2 and by 3 blocks: 16 by 3x3 to 16 of 1024x1024 102 and 87
// us, 640 by 3x3 to 640, 2 of 32x32, 180 and 129, but 1280 to 1280, 2 of 16x16, 181 and 192.
constexpr unsigned patch_blocks(unsigned channels) { return channels > 16 ? 2 : 3; }

// Copies whose channels lie side by side, for matrix units (families/convolve_channels.cuh): threads
// of a block; output channels and outputs of a tile; channels of a step; distance of rows in shared
// memory, in elements.
inline constexpr unsigned kChannelThreads = 128;
inline constexpr unsigned kChannelTile = 128;
inline constexpr unsigned kChannelSpan = 64;
inline constexpr unsigned kChannelStride = kChannelSpan + 8;
// Bytes of shared memory for one to three steps at once. Warp groups need less, and alignment.
constexpr unsigned channel_bytes(unsigned stages) {
  return stages * 2 * kChannelTile * kChannelStride * 2;
}

// A tile of the direct kernels has another team of threads for each kConvolveTermsOfTeam terms, up
// to kConvolveTeams teams.
// Measured on an H200, reference geometry, in us, by 64, 128 and 256 terms: f32, 64 channels by 3x3
// to 64, 8 of 56x56: 202, 168, 149; f16, 384 by 3, stride 2, to 384 of length 1500: 137, 132, 115;
// 3 by 16x16, stride 16, to 768 of 24x24: 130, 108, 121.
inline constexpr unsigned kConvolveTermsOfTeam = 256;
inline constexpr unsigned kConvolveTeams = 8;

// A thread of the direct kernels makes an output by itself if there is one output channel. It also
// does so if there is a thread for each output and an output has at most this many terms, because
// sharing weights would then take longer.
// Measured on an H200, in us, sharing -> by itself: f32, 16 channels by 3 to 16 of length 4096:
// 6.7 -> 5.3; transposed, f64, 16 by 4, stride 2, to 16 of length 4096: 10.8 -> 8.1.
constexpr unsigned convolve_terms_alone(bool transposed) { return transposed ? 256 : 64; }
// The same for any number of terms, if a channel has at most this many outputs.
// Measured on an H200, in us, sharing -> by itself: f32, 64 channels by 3x3 to 64 of 4x4: 58 -> 31;
// f16, 512 by 1x1 to 1000 of 1x1: 576 -> 275.
inline constexpr unsigned kConvolveTiny = 40;

// Threads of a block of the direct kernels in kiln's own geometry, if `threads` threads are wanted
// and an output has `terms` terms.
// Measured on an H200, in us, by 256 and by 512: u8, 16 channels by 3 to 16 of length 2^20: 149,
// 158; f32, 64 by 3x3 to 64 of 56x56: 26.5, 24.7; f64, 256 by 3x3 to 256 of 14x14: 94, 67, but 100
// by as many threads as there are outputs; 16 by 3x3 to 16 of 128x128: 18.9, 17.4, of 16x16: 6.7,
// 8.6.
constexpr unsigned convolve_block(double threads, double terms, unsigned multiprocessors) {
  return terms < 128 || threads < 512.0 * multiprocessors ? 256 : 512;
}

// Ways to compute a convolution: directly; by tiles of many output channels; by tiles of few output
// channels, whose teams share the terms of a sum (kFew) or have outputs of their own (kFewApart); by
// patches of the image, for many and for few output channels.
enum class ConvolveWay { kDirect, kMany, kFew, kFewApart, kManyPatches, kFewPatches };

// Output channels and outputs that a block takes at once.
struct ConvolveTile {
  unsigned channels, outputs;
};
constexpr ConvolveTile convolve_tile(ConvolveWay way) {
  switch (way) {
    case ConvolveWay::kDirect: return {8, 64};
    case ConvolveWay::kMany: return {64, 64};
    case ConvolveWay::kFew: return {16, 32};
    case ConvolveWay::kFewApart: return {16, 128};
    case ConvolveWay::kManyPatches: return {64, kPatchOutputs};
    default: return {16, kPatchOutputs};
  }
}

// Describes the work of a convolution: the terms of an output that come from one channel of the
// image (taps), and all terms of an output; the outputs of a channel; the classes of outputs, which
// share no tile; and the number of output channels.
struct ConvolveLoad {
  double taps, terms, outputs, classes, channels;

  // Number of tiles for each multiprocessor. Tiles of the direct kernels may be half as wide.
  constexpr double tiles(ConvolveWay way, unsigned multiprocessors) const {
    const ConvolveTile tile = convolve_tile(way);
    const double least = way == ConvolveWay::kDirect ? 0.5 : 1;
    const double of_class = outputs / classes / tile.outputs;
    const unsigned groups = (static_cast<unsigned>(channels) - 1) / tile.channels + 1;
    return classes * (of_class < least ? least : of_class) * groups / multiprocessors;
  }
};

// The estimated time of a launch, in ns on an H200:
//
//   start   at least
//   alone   for each term of an output, if there are few tiles
//   term    for each term of each tile of a multiprocessor, if there are many
//   tile    for each tile of a multiprocessor, beside its terms
//
// Evidence: 281 convolutions of ResNet, of diffusion and speech models and of the benchmark, in f32
// and f16. What these estimates choose takes 1.008 times as long as the fastest of these ways
// (geometric mean), 8 of them over 1.1 times. convolve_patch_time() estimates patches.
struct ConvolveRate {
  double start, alone, term, tile;
};
constexpr ConvolveRate convolve_rate(ConvolveWay way, bool of_f32, bool transposed,
                                     const ConvolveLoad& load, double tiles) {
  // Elements of windows of several rows are found in the cache.
  const bool is_small = load.taps < 4;
  const double less = transposed ? 750 : 0;
  switch (way) {
    // Measured on an H200, f32, in us; f16 takes as long. 16 channels by 3x3 to 16 of 512x512: 93;
    // 512 by 3x3 to 512 of 7x7: 71, to 16: 43; 320 by 3x3 to 320, 2 of 32x32: 378; transposed, 64
    // by 4x4, stride 2, to 3 of 64x64: 10.6. To one channel, which shares nothing: 64 by 3x3 to 1,
    // 8 of 128x128: 53.
    case ConvolveWay::kDirect:
      if (load.channels == 1) return {2000, 60, 4.6, 66};
      return {transposed ? 6850.0 : 4650.0, tiles < 0.3 ? 7.9 : is_small ? 13.5 : 14, 11.7, 68};
    // Measured on an H200, in us, f32 (f16): 320 by 3x3 to 320, 2 of 64x64: 502 (203). 64 by 1x1 to
    // 256 of 56x56: 10.4 (8.2). 512 by 3x3 to 512, one of 7x7: 240 (140).
    case ConvolveWay::kMany:
      return of_f32 ? ConvolveRate{4100 - less, 53, 40, 830}
                    : ConvolveRate{4400 - less, 29, 15, 950};
    // Likewise: the same 512 to 512: 78 (77). 64 by 3x3 to 16, 8 of 128x128: 156 (105). The 16 to
    // 16 of kDirect: 128 (96). 320 by 3x3, f16, to 16, 2 of 32x32: 37; to 4, 2 of 64x64: 52. 1024
    // by 1x1 to 256 of 14x14: 21 (20).
    case ConvolveWay::kFew: {
      if (of_f32) return {3550 - less, is_small ? 17.5 : 16, 7.9, 860};
      const bool are_few = load.channels <= 128 && tiles < 1;
      return {3800 - less, is_small ? 17.5 : are_few ? 13.5 : 16, 5.4, 580};
    }
    // The first three of kFew: 276 (263), 146 (99), 84 (62).
    default:
      return of_f32 ? ConvolveRate{5300 - less, 65, 35.5, 580}
                    : ConvolveRate{5500 - less, 59, 20.3, 640};
  }
}
// The estimated time, in ns, if each thread makes an output by itself. A term takes longer if a
// launch has more than one wave, because their weights lie further apart.
// Measured on an H200, in us, tiles -> by itself: f16, 256 channels by 4x4 to 4 of 1x1, of 2x2:
// 51 -> 25; f32, 2048 by 1x1 to 1000 of 1x1: 37 -> 202; transposed, 100 by 4x4 to 512 of 1x1:
// 24 -> 29.
constexpr double convolve_time_alone(double terms, bool is_wave, bool transposed) {
  return 2000 + (is_wave ? 25 : transposed ? 270 : 90) * terms;
}
constexpr double convolve_time(ConvolveWay way, bool of_f32, bool transposed,
                               const ConvolveLoad& load, unsigned multiprocessors) {
  const double tiles = load.tiles(way, multiprocessors);
  const ConvolveRate rate = convolve_rate(way, of_f32, transposed, load, tiles);
  const double alone = load.terms * rate.alone;
  const double all = tiles * (load.terms * rate.term + rate.tile);
  return rate.start + (alone > all ? alone : all);
}

// Returns the smallest whole number that is not below `a`.
constexpr double whole(double a) {
  const double below = static_cast<double>(static_cast<unsigned long long>(a));
  return below < a ? below + 1 : below;
}

// The estimated time of a launch by patches, in ns on an H200. A block takes kPatchChannels channels
// and up to kPatchTaps taps in each step. `channels` and `taps` are of the image and of a window (of
// a class); `tiles` is the number of tiles for each multiprocessor.
//
// Measured on an H200, in us, by patches of 64 output channels; of 16; by tiles:
//
//   320 by 3x3 to 320, 2 of 64x64            106   136   203 (cuDNN: 45)
//   640 by 3x3 to 640, 2 of 32x32            143   129   235
//   1280 by 3x3 to 1280, 2 of 16x16          274   192   348
//   128 by 3x3 to 128 of 256x256              93   172   247
//   64 by 3x3 to 64, 8 of 56x56               20    30    31
//   16 by 3x3 to 16 of 1024x1024             147    87   353
//   16 by 3 to 16 of length 2^20             107    66   220
//   3 by 3x3 to 64 of 512x512                 47    84    64
//   64 by 1x1 to 256, 8 of 56x56              27    43    30
//   64 by 5x5 to 64 of 64x64                  48    32    37
//   384 by 3 to 384 of length 1500            56    44    41
//   320 by 3x3 to 4, 2 of 64x64               72    48    41
constexpr double convolve_patch_time(bool of_many, double channels, double taps, double tiles) {
  const double parts = whole(taps / kPatchTaps), steps = whole(channels / kPatchChannels) * parts;
  const double of_step = taps / parts;
  const double alone = steps * (of_step + 6) * (of_many ? 230 : 165);
  const double all = of_many ? whole(tiles) * (steps * (of_step + 6) * 190 + 1760)
                             : tiles * (steps * (of_step + 3.5) * 108 + 1300);
  return 4000 + (alone > all ? alone : all);
}

// The estimated time of the launches over copies whose channels lie side by side, in ns on an H200.
// `tiles`: of kChannelTile channels and outputs, whose terms `parts` blocks share. `steps`: of
// kChannelSpan channels and one tap. `copied`: elements of both copies; 0: there are none. A
// multiprocessor multiplies two tiles at a time, with or without warp groups.
//
// Measured on an H200 with warp groups, in us, by 1, 2, 3, 4, 6 and 8 parts (cuDNN):
//
//   320 by 3x3 to 320, 2 of 64x64                52   62   67   71   91  104   (43)
//   640 by 3x3 to 640, 2 of 32x32                65   59   49   59   56   71   (59)
//   1920 by 3x3 to 640, 2 of 32x32              180  150  115  140  125  141
//   1280 by 3x3 to 1280, 2 of 16x16             127   81   87   74   66   76  (112)
//   1280 by 3x3 to 1280, 2 of 8x8               123   78   63   54   48   45  (103)
//   320 by 3x3, stride 2, to 320, 2 of 64x64     37   35   30   31   36   36   (28)
//   512 by 3x3 to 512 of 64x64                   73   52   64   61   76   88   (53)
//   256 by 3x3 to 256, 32 of 14x14               43   34   40   38   50   59
//   128 by 3x3 to 128 of 256x256                 55   96  116  137  178  220   (65)
//   64 by 3x3 to 64, 8 of 56x56                  16   27   36   46   64   81   (21)
//   64 by 1x1 to 256, 8 of 56x56                 14   42   60   74  103  131    (7)
//   the same without copies                      10   37   53   67   95
//   2560 by 1x1 to 1280, 2 of 16x16, without     23   18   16   17   19
//
// The numbers below fit 21 shapes with copies and 15 without best. Warp groups compute only half of
// a tile if that has all output channels (`is_half`).
constexpr double convolve_channel_time(double tiles, double steps, double copied, bool is_half,
                                       unsigned parts, unsigned multiprocessors,
                                       bool has_warp_groups) {
  const double part_of_tile = is_half && has_warp_groups ? 0.78 : 1;
  const double one = part_of_tile * (!has_warp_groups ? 850 : copied == 0 ? 475 : 640);
  const double two = part_of_tile * (has_warp_groups ? 900 : 1500);
  const double of_each = whole(tiles * parts / multiprocessors), rounds = whole(of_each / 2);
  const double pairs = whole((of_each - 1) / 2);
  const double step = pairs * two + (2 * pairs < of_each ? one : 0);
  const double copies = copied == 0 ? 0 : 3300 + 1.13e-3 * copied;
  const double joins = parts == 1 ? 0 : 2500 + parts * (560 + 21 * tiles);
  return 400 + copies + 3400 * rounds + whole(steps / parts) * step + joins;
}

// Layout data of a launch. The classes of rows follow it, then those of columns. Strides count
// elements and wrap around.
struct ConvolveShape {
  unsigned long long image_stride;
  unsigned images, channels, channels_out;
  unsigned rows, columns;  // of an image
  unsigned channel_stride;
  unsigned out_stride, in_stride;         // of the kernel
  unsigned row_classes, column_classes;   // as many classes follow
  unsigned teams_apart;                   // 1: each team of a block has outputs of its own
  unsigned tile_width;                    // of patches: 16 to kPatchOutputs outputs, a power of two
  unsigned long long outputs_of_channel;  // of an image
};

// Layout data that follows the two axes of a convolution over copies.
struct ConvolveChannels {
  // Where the copy of the weights and the sums of parts begin in the workspace, in bytes. The copy of
  // the image begins behind the counters.
  unsigned long long weights, sums;
  unsigned lines, places, channels;  // dims of the image's copy
  unsigned outputs;                  // of a channel, in all images
  unsigned tiles_down, tiles_across;
  unsigned parts;   // blocks that share the terms of a tile
  unsigned stages;  // steps in shared memory at once: 1 to 3
  // 1: windows of 1x1 that need no copies. There is no step 0.
  unsigned reads_planes;
  unsigned unused;
};

// The outputs of one class in a dim. They read the image by the same taps, and are evenly spaced. A
// convolution has one class, its transpose as many as its stride. Tap j of output i of the class
// reads the image at place + i * step + j * tap_step, where tap_step is 0 if there is one tap.
struct ConvolveAxis {
  unsigned outputs;
  unsigned first_out, out_step;  // where outputs lie
  int place;
  unsigned step;
  int tap_step;
  unsigned taps;
  unsigned stride;                     // of the image
  unsigned first_weight, weight_step;  // where the weights of taps lie
};

// A dim of a convolution, with the strides of image, kernel and output.
struct ConvolveDim {
  unsigned size, size_out, taps;
  unsigned stride, padding, dilation;
  unsigned image_stride, kernel_stride, out_stride;

  constexpr ConvolveAxis plain() const {
    return {size_out,   0,
            out_stride, -static_cast<int>(padding),
            stride,     taps < 2 ? 0 : static_cast<int>(dilation),
            taps,       image_stride,
            0,          kernel_stride};
  }

  constexpr unsigned classes() const { return stride < size_out ? stride : size_out; }
  // For the transpose: output o reads (o + padding - tap * dilation) / stride, if that is whole.
  constexpr ConvolveAxis transposed(unsigned number) const {
    const auto reads = [&](unsigned tap) {
      return (static_cast<long long>(number) + padding - static_cast<long long>(tap) * dilation) %
                 stride ==
             0;
    };
    unsigned first = 0;
    while (first < taps && !reads(first)) ++first;
    unsigned next = first + 1;
    while (next < taps && !reads(next)) ++next;
    const unsigned apart = next - first;
    const long long place =
        static_cast<long long>(number) + padding - static_cast<long long>(first) * dilation;
    const unsigned of_class = first < taps ? (taps - first - 1) / apart + 1 : 0;
    const unsigned long long step = static_cast<unsigned long long>(dilation) * apart / stride;
    return {(size_out - number - 1) / stride + 1,
            number * out_stride,
            stride * out_stride,
            static_cast<int>(place / stride),
            1,
            of_class < 2 ? 0 : -static_cast<int>(step),
            of_class,
            image_stride,
            first * kernel_stride,
            apart * kernel_stride};
  }
};

// im2col of one dim: the number of elements of a window's chunk. Odd windows are not whole chunks,
// and have at most kMaxOddTaps taps; more were not measured. A launch of any size has a thread for
// each odd window of a channel.
constexpr unsigned window_chunk(unsigned element_bytes) {
  return element_bytes == 1 ? 8 : 16 / element_bytes;
}
inline constexpr unsigned kMaxOddTaps = 8;
constexpr bool has_odd_windows(unsigned channels, unsigned taps, unsigned element_bytes) {
  return taps <= kMaxOddTaps && channels * taps % window_chunk(element_bytes) != 0;
}

}  // namespace kiln::tuning
