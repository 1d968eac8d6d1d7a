// How convolutions become products of matrices, and their tiles. Plain C++17, for device code and
// host programs.
#pragma once

namespace kiln::tuning {

inline constexpr unsigned kConvolveThreads = 128;
// Taps of a window in a dim, at most.
inline constexpr unsigned kConvolveTaps = 31;

// Terms for which a tile of the direct kernels has another team of threads, and teams that it then
// has at most. NVIDIA H200, us, in the reference's geometry, by 64, 128 and 256 terms: f32, 64
// channels by 3x3 to 64, 8 of 56x56: 202, 168, 149; f16, 384 by 3, stride 2, to 384 of length 1500:
// 137, 132, 115; 3 by 16x16, stride 16, to 768 of 24x24: 130, 108, 121.
inline constexpr unsigned kConvolveTermsOfTeam = 256;
inline constexpr unsigned kConvolveTeams = 8;

// A thread of the direct kernels makes an output by itself where there is one channel of them; or,
// where there is a thread for each, of so few terms that to share weights would take longer. H200,
// us, by itself and sharing: f32, 16 channels by 3 to 16 of length 4096: 5.3, 6.7; transposed, f64,
// 16 by 4, stride 2, to 16 of length 4096: 8.1, 10.8.
constexpr unsigned convolve_terms_alone(bool transposed) { return transposed ? 256 : 64; }
// The same of any number of terms where a channel has so few outputs. H200, us, by itself and
// sharing: f32, 64 channels by 3x3 to 64 of 4x4: 31, 58; f16, 512 by 1x1 to 1000 of 1x1: 275, 576.
inline constexpr unsigned kConvolveTiny = 40;

// Threads of a block of the direct kernels in our own geometry, of so many that are wanted, for so many
// terms of an output. H200, us by 256 and by 512: u8, 16 channels by 3 to 16 of length 2^20: 149, 158; f32,
// 64 by 3x3 to 64 of 56x56: 26.5, 24.7; f64, 256 by 3x3 to 256 of 14x14: 94, 67, but 100 by as many threads
// as there are outputs; 16 by 3x3 to 16 of 128x128, of 16x16: 18.9, 17.4; 6.7, 8.6.
constexpr unsigned convolve_block(double threads, double terms, unsigned multiprocessors) {
  return terms < 128 || threads < 512.0 * multiprocessors ? 256 : 512;
}

// Ways to compute a convolution: directly; by tiles of many output channels; by tiles of few, whose
// teams share what is summed over, or have outputs of their own.
enum class ConvolveWay { kDirect, kMany, kFew, kFewApart };

// Output channels and outputs that a block takes at once.
struct ConvolveTile {
  unsigned channels, outputs;
};
constexpr ConvolveTile convolve_tile(ConvolveWay way) {
  switch (way) {
    case ConvolveWay::kDirect: return {8, 64};
    case ConvolveWay::kMany: return {64, 64};
    case ConvolveWay::kFew: return {16, 32};
    default: return {16, 128};
  }
}

// What a convolution computes: what an output adds up, for each channel of the image and in all; how many
// outputs a channel has, in how many classes, which share no tile; and how many channels.
struct ConvolveLoad {
  double taps, terms, outputs, classes, channels;

  // Of tiles, for each multiprocessor. Those of the direct kernels may be half as wide.
  constexpr double tiles(ConvolveWay way, unsigned multiprocessors) const {
    const ConvolveTile tile = convolve_tile(way);
    const double least = way == ConvolveWay::kDirect ? 0.5 : 1;
    const double of_class = outputs / classes / tile.outputs;
    const unsigned groups = (static_cast<unsigned>(channels) - 1) / tile.channels + 1;
    return classes * (of_class < least ? least : of_class) * groups / multiprocessors;
  }
};

// What a launch takes, nanoseconds on an H200: at least; of few tiles, for each term that is
// summed; of many tiles, for each tile of a multiprocessor, by its terms and by itself.
// Of 281 convolutions, those of ResNet, of diffusion and speech models and of the benchmark, in f32 and f16,
// what is chosen by these takes 1.008 times as long as the fastest (geometric mean), 8 of them over 1.1 times.
struct ConvolveRate {
  double start, alone, term, tile;
};
constexpr ConvolveRate convolve_rate(ConvolveWay way, bool of_f32, bool transposed,
                                     const ConvolveLoad& load, double tiles) {
  // Elements of windows of several rows are found in the cache.
  const bool is_small = load.taps < 4;
  const double less = transposed ? 750 : 0;
  switch (way) {
    // NVIDIA H200, us of f32; f16 takes as long. 16 channels by 3x3 to 16 of 512x512: 93; 512 by 3x3 to
    // 512 of 7x7: 71, to 16: 43; 320 by 3x3 to 320, 2 of 32x32: 378; transposed, 64 by 4x4, stride 2, to
    // 3 of 64x64: 10.6. To one channel, which nobody shares: 64 by 3x3 to 1, 8 of 128x128: 53.
    case ConvolveWay::kDirect:
      if (load.channels == 1) return {2000, 60, 4.6, 66};
      return {transposed ? 6850.0 : 4650.0, tiles < 0.3 ? 7.9 : is_small ? 13.5 : 14, 11.7, 68};
    // 320 by 3x3 to 320, 2 of 64x64: 502 (203). 64 by 1x1 to 256 of 56x56: 10.4 (8.2). 512 by 3x3 to
    // 512, one of 7x7: 240 (140).
    case ConvolveWay::kMany:
      return of_f32 ? ConvolveRate{4100 - less, 53, 40, 830}
                    : ConvolveRate{4400 - less, 29, 15, 950};
    // The same 512 to 512: 78 (77). 64 by 3x3 to 16, 8 of 128x128: 156 (105). The 16 to 16: 128 (96).
    // 320 by 3x3, f16, to 16, 2 of 32x32: 37; to 4, 2 of 64x64: 52. 1024 by 1x1 to 256 of 14x14: 21 (20).
    case ConvolveWay::kFew: {
      if (of_f32) return {3550 - less, is_small ? 17.5 : 16, 7.9, 860};
      const bool are_few = load.channels <= 128 && tiles < 1;
      return {3800 - less, is_small ? 17.5 : are_few ? 13.5 : 16, 5.4, 580};
    }
    // 276 (263), 146 (99), 84 (62).
    default:
      return of_f32 ? ConvolveRate{5300 - less, 65, 35.5, 580}
                    : ConvolveRate{5500 - less, 59, 20.3, 640};
  }
}
// The same of threads that make an output each by themselves, for each term that one reads: of a wave,
// and of more, whose weights lie further apart. H200, us, f16, 256 channels by 4x4 to 4 of 1x1, of 2x2:
// 25; by tiles 51. f32, 2048 by 1x1 to 1000 of 1x1: 202; by tiles 37. Transposed, 100 by 4x4 to 512 of
// 1x1: 29; by tiles 24.
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

// The layout block of a launch: this, then the classes of rows, then those of columns. Strides
// count elements, and wrap.
struct ConvolveShape {
  unsigned long long image_stride;
  unsigned images, channels, channels_out;
  unsigned rows, columns;  // of an image
  unsigned channel_stride;
  unsigned out_stride, in_stride;        // of the kernel
  unsigned row_classes, column_classes;  // as many classes follow
  unsigned teams_apart;                  // 1: of a block, each has outputs of its own
  unsigned unused;
  unsigned long long outputs_of_channel;  // of an image
};

// Of each dim the outputs of one class read by the same taps, at one distance from one another: a
// convolution has one class, its transpose as many as its stride. Output i of the class reads the
// image at place + i * step + j * tap_step by its tap j.
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

// A dim of a convolution; the strides of image, kernel and output.
struct ConvolveDim {
  unsigned size, size_out, taps;
  unsigned stride, padding, dilation;
  unsigned image_stride, kernel_stride, out_stride;

  constexpr ConvolveAxis plain() const {
    return {size_out,   0,
            out_stride, -static_cast<int>(padding),
            stride,     static_cast<int>(dilation),
            taps,       image_stride,
            0,          kernel_stride};
  }

  constexpr unsigned classes() const { return stride < size_out ? stride : size_out; }
  // Of the transpose: output o reads (o + padding - tap * dilation) / stride, where that is whole.
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
    return {(size_out - number - 1) / stride + 1,
            number * out_stride,
            stride * out_stride,
            static_cast<int>(place / stride),
            1,
            -static_cast<int>(static_cast<unsigned long long>(dilation) * apart / stride),
            first < taps ? (taps - first - 1) / apart + 1 : 0,
            image_stride,
            first * kernel_stride,
            apart * kernel_stride};
  }
};

}  // namespace kiln::tuning
