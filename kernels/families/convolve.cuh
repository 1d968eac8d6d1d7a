// Direct convolutions of one and two dims, and their transposes.
//
// dst[b, o, y, x] = sum over c and taps of src[b, c, place of the tap] * kernel[o, c, tap], where
// the place lies in the image. Of each axis the outputs of one class read by the same taps, at one
// distance from one another: a convolution has one class, its transpose as many as its stride.
//
// A block takes a tile: some outputs of a class for a few groups of output channels. It brings the
// weights of some taps into shared memory, where every thread reads them for the channels of its
// group; an element of the image is read once a group.
#pragma once

#include "device/dtypes.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

using namespace device;

// ---- an axis ----------------------------------------------------------------------------------

// The outputs of a class: number i is output first + i * apart, its tap j reads the image at
// place + i * step + j * tap_step, and is tap tap_first + j * tap_apart of the kernel.
struct AxisClass {
  u32 outputs;
  u32 first, apart;
  i32 place;
  u32 step;
  i32 tap_step;
  u32 taps, tap_first, tap_apart;
};

// One dim of a convolution.
struct Axis {
  u32 size, size_out, taps;
  u32 stride, padding, dilation;
};

struct Plain {
  KILN_DEVICE static u32 classes(const Axis&) { return 1; }
  KILN_DEVICE static AxisClass at(const Axis& a, u32) {
    return {a.size_out, 0, 1, -static_cast<i32>(a.padding), a.stride, static_cast<i32>(a.dilation),
            a.taps,     0, 1};
  }
  // What an output reads by a tap; a place beyond the image wraps around to a great number.
  KILN_DEVICE static u32 place(const Axis& a, u32 output, u32 tap) {
    return output * a.stride + tap * a.dilation - a.padding;
  }
};

// Output o reads (o + padding - tap * dilation) / stride, where that is whole.
// Two calls of it weigh less than its code twice.
KILN_ASIDE AxisClass transposed_class(const Axis& a, u32 number);
struct Transposed {
  KILN_DEVICE static u32 classes(const Axis& a) {
    return a.stride < a.size_out ? a.stride : a.size_out;
  }
  KILN_DEVICE static AxisClass at(const Axis& a, u32 number) { return transposed_class(a, number); }
  KILN_DEVICE static u32 place(const Axis& a, u32 output, u32 tap) {
    const u32 origin = output + a.padding, distance = tap * a.dilation;
    const u32 place = (origin - distance) / a.stride;
    return distance <= origin && place * a.stride == origin - distance ? place : a.size;
  }
};
KILN_ASIDE AxisClass transposed_class(const Axis& a, u32 number) {
  const u32 origin = number + a.padding;
  // What is left over when the origin less a tap's distance is divided by the stride.
  const u32 by = a.dilation % a.stride;
  u32 rest = origin % a.stride, tap = 0;
  const auto advance = [&] { rest = rest < by ? rest + a.stride - by : rest - by; };
#pragma unroll 1
  for (; rest != 0 && tap < a.taps; ++tap) advance();
  u32 apart = 0;
#pragma unroll 1
  do {
    advance();
    ++apart;
  } while (rest != 0 && apart < a.stride);
  return {(a.size_out - number - 1) / a.stride + 1, number, a.stride,
          // Signed: a tap may reach before the image.
          static_cast<i32>(origin - tap * a.dilation) / static_cast<i32>(a.stride), 1,
          -static_cast<i32>(a.dilation * apart / a.stride),
          tap < a.taps ? (a.taps - tap - 1) / apart + 1 : 0, tap, apart};
}

template <class Kind>
inline constexpr bool kHasClasses = false;
template <>
inline constexpr bool kHasClasses<Transposed> = true;

// The kernel of a transposed convolution has its input channels first.
template <class Kind>
inline constexpr u32 kOutChannels = 0;
template <>
inline constexpr u32 kOutChannels<Transposed> = 1;

// ---- the tiles --------------------------------------------------------------------------------

// Output channels of a group, and weights that a block keeps.
inline constexpr u32 kGroupChannels = 4;
inline constexpr u32 kKeptWeights = 2048;
// Threads of a block that work, at least.
inline constexpr u32 kFewestThreads = 64;
// Elements that a thread has on their way at once, as many as registers are left for. H200, in the
// reference's geometry, us, by four and by eight: 16 channels by 3x3 to 16 of 512x512 outputs 187
// and 174, of 16x16 12.6 and 11.7; 512 to 512 of 7x7 409 and 381. Transposed, f32, by two and by
// three: 16 channels by 4, stride 2, to 16 of 65,536 outputs 60 and 43.
template <class Kind, u32 kDims>
inline constexpr u32 kWordsAtOnce = 8;
template <u32 kDims>
inline constexpr u32 kWordsAtOnce<Transposed, kDims> =
    kDims == 1 && kArchitecture != tuning::Architecture::kSm80 ? 3 : 2;
template <class Kind, u32 kDims, class Number>
inline constexpr u32 kTapsAtOnce = kWordsAtOnce<Kind, kDims> * 4 / sizeof(Number);

// A tile has `abreast` groups and `width` outputs.
struct Tiles {
  u32 width, abreast, sets, count;
};
// Where tiles are parts of an image, they have whole waves: lines of it then stay together.
KILN_DEVICE Tiles tiles_of(u32 outputs, u32 groups, u32 threads, u32 parts, u32 abreast) {
  const u32 even = (outputs - 1) / parts + 1,
            whole = (even + wave_width() - 1) & (0 - wave_width());
  const u32 width = parts == 1 || whole > threads ? even : whole;
  const u32 most = small_quotient(threads, width);
  if (abreast > most) abreast = most;
  if (abreast > groups) abreast = groups;
  const u32 sets = (groups - 1) / abreast + 1;
  return {width, abreast, sets, ((outputs - 1) / width + 1) * sets};
}
KILN_DEVICE Tiles tiles_of(u32 outputs, u32 groups, u32 threads) {
  return tiles_of(outputs, groups, threads, (outputs - 1) / threads + 1, 16);
}
// Where blocks would be left without a tile, tiles have fewer groups, then fewer outputs.
KILN_ASIDE Tiles smaller_tiles(u32 outputs, u32 groups) {
  const u32 blocks = block_count() < multiprocessors() ? block_count() : multiprocessors();
  const u32 threads = block_threads();
  Tiles tiles{};
  u32 parts = (outputs - 1) / threads + 1, abreast = 16;
#pragma unroll 1
  for (u32 step = 0; step < 3; ++step) {
    tiles = tiles_of(outputs, groups, threads, parts, abreast);
    if (tiles.count >= blocks) break;
    const u32 sets = blocks / parts < groups ? blocks / parts : groups;
    abreast = (groups - 1) / sets + 1;
    const u32 most = (outputs - 1) / kFewestThreads + 1, more = blocks / tiles.sets;
    if (step != 0) parts = more < parts ? parts : more < most ? more : most;
  }
  return tiles;
}

// Sums of T are kept as `Number`.
template <class Kind, u32 kDims, class T, class Number>
struct Convolution {
  static constexpr u32 kAtOnce = kTapsAtOnce<Kind, kDims, Number>;
  struct alignas(16) Weights {
    Number of[kGroupChannels];
  };
  struct Kept {
    Weights of[kKeptWeights / kGroupChannels];
  };

  const T* src;
  const T* kernel;
  T* dst;
  u32 images, channels, channels_out;
  u32 rows, columns;  // of an image
  u64 image_stride, channel_stride, row_stride, stride;
  const u64* kernel_strides;  // of its dims, in the layout block
  u64 rows_out, columns_out;

  // Tiles `tile`, `tile + block_count()`, ... of the outputs of a class in some images. What is
  // left of the tile's number counts on in the next class.
  KILN_DEVICE void run(const AxisClass& y, const AxisClass& x, u32 first_image, u32 image_count,
                       u32& tile) const {
    const u32 per_image = y.outputs * x.outputs;
    const u32 outputs = image_count * per_image;
    const u32 groups = (channels_out - 1) / kGroupChannels + 1;
    Tiles cut;
    if constexpr (kHasClasses<Kind>) {
      cut = tiles_of(outputs, groups, block_threads());
    } else {
      cut = smaller_tiles(outputs, groups);
    }
    const u32 width = cut.width, abreast = cut.abreast, sets = cut.sets, tiles = cut.count;
    const u32 mine = small_quotient(thread_rank(), width);
    const u32 place = thread_rank() - mine * width;
#pragma unroll 1
    for (; tile < tiles; tile += block_count()) {
      const u32 part = tile / sets;
      const u32 set = tile - part * sets;
      const u32 output = part * width + place;
      const u32 group = set * abreast + mine;
      const bool works = mine < abreast && group < groups && output < outputs;
      const u32 nth = output / per_image;
      const u32 rest = output - nth * per_image;
      const u32 i = kDims == 1 ? 0 : rest / x.outputs, j = rest - i * x.outputs;
      const u64 image = first_image + nth;
      Weights sum{};
      add_up(y, x, src + image * image_stride, y.place + static_cast<i32>(i * y.step),
             x.place + static_cast<i32>(j * x.step), set * abreast, abreast, mine, works, sum);
      if (!works) continue;
      u64 to =
          ((image * channels_out + group * kGroupChannels) * rows_out + y.first + i * y.apart) *
              columns_out +
          x.first + j * x.apart;
#pragma unroll
      for (u32 o = 0; o < kGroupChannels; ++o) {
        if (group * kGroupChannels + o < channels_out) dst[to] = result(sum.of[o]);
        to += rows_out * columns_out;
      }
    }
    tile -= tiles;
  }

  // Each thread by itself.
  KILN_DEVICE void run_alone(const Axis& y, const Axis& x, u32 count) const {
    const u64 in_stride = kernel_strides[1 - kOutChannels<Kind>];
    const u64 row_tap_stride = kernel_strides[2], tap_stride = kernel_strides[kDims + 1];
    const u64 threads = static_cast<u64>(block_count()) * block_threads();
    u64 next = static_cast<u64>(block_index()) * block_threads() + thread_rank();
#pragma unroll 1
    for (; next < count; next += threads) {
      const u32 i = static_cast<u32>(next);
      const u32 line = i / x.size_out, above = line / y.size_out, image = above / channels_out;
      const u32 output_row = line - above * y.size_out, output = i - line * x.size_out;
      const T* const from = src + image * image_stride;
      const T* const weights =
          kernel + (above - image * channels_out) * kernel_strides[kOutChannels<Kind>];
      Number sum = 0;
#pragma unroll 1
      for (u32 row_tap = 0; row_tap < y.taps; ++row_tap) {
        const u32 row = Kind::place(y, output_row, row_tap);
        if (row >= rows) continue;
#pragma unroll 1
        for (u32 tap = 0; tap < x.taps; ++tap) {
          const u32 column = Kind::place(x, output, tap);
          if (column >= columns) continue;
          const T* element = from + (row * row_stride + column * stride);
          const T* weight = weights + (row_tap * row_tap_stride + tap * tap_stride);
#pragma unroll 4
          for (u32 c = 0; c < channels; ++c) {
            sum += static_cast<Number>(widen(*element)) * static_cast<Number>(widen(*weight));
            element += channel_stride;
            weight += in_stride;
          }
        }
      }
      dst[i] = result(sum);
    }
  }

 private:
  KILN_DEVICE static T result(Number sum) {
    if constexpr (sizeof(T) == 1) {
      return static_cast<T>(sum);  // the low bits
    } else {
      return narrow<T>(sum);
    }
  }

  // What a block keeps the weights of: some channels, rows and columns of taps, in that order.
  struct Part {
    u32 channel, row, column;     // the first
    u32 channels, rows, columns;  // how many
    KILN_DEVICE u32 weights() const { return channels * rows * columns; }
  };

  // Of all channels and taps, for the output whose first tap is at (top, left).
  KILN_DEVICE void add_up(const AxisClass& y, const AxisClass& x, const T* image, i32 top, i32 left,
                          u32 first_group, u32 groups, u32 mine, bool works, Weights& sum) const {
    KILN_SHARED(kept, Kept);
    if (y.taps == 0 || x.taps == 0 || channels == 0) return;
    const u32 most = small_quotient(kKeptWeights / kGroupChannels, groups);
    const u32 rows_most = small_quotient(most, x.taps);
    const auto fitting = [](u32 room, u32 count) {
      return room == 0 ? 1 : room < count ? room : count;
    };
    const u32 columns_at_once = fitting(most, x.taps);
    const u32 rows_at_once = kDims == 1 ? 1 : fitting(rows_most, y.taps);
    u32 channels_at_once = fitting(small_quotient(rows_most, y.taps), channels);
    if (channels_at_once > kAtOnce) channels_at_once -= channels_at_once % kAtOnce;
    Part part{};
#pragma unroll 1
    for (;;) {
      part.channels = fitting(channels_at_once, channels - part.channel);
      part.rows = fitting(rows_at_once, y.taps - part.row);
      part.columns = fitting(columns_at_once, x.taps - part.column);
      barrier();  // the weights before have been read
      keep(y, x, kept, first_group, groups, part);
      barrier();
      if (works) add_part(y, x, image, top, left, &kept.of[mine * part.weights()], part, sum);
      part.column += part.columns;
      if (part.column < x.taps) continue;
      part.column = 0;
      part.row += part.rows;
      if (part.row < y.taps) continue;
      part.row = 0;
      part.channel += part.channels;
      if (part.channel >= channels) return;
    }
  }

  // The innermost loop is over channels or over a row's taps, whichever are more.
  KILN_DEVICE void add_part(const AxisClass& y, const AxisClass& x, const T* image, i32 top,
                            i32 left, const Weights* weights, const Part& part,
                            Weights& sum) const {
    const bool by_channels = part.channels >= part.columns;
    const u32 runs = by_channels ? part.columns : part.channels;
    const u32 count = by_channels ? part.channels : part.columns;
    const u32 taps = part.rows * part.columns;
    const u32 weight_step = by_channels ? taps : 1, run_step = by_channels ? 1 : taps;
    const i32 column_step = by_channels ? 0 : x.tap_step, run_column = by_channels ? x.tap_step : 0;
    const u64 tap_step = static_cast<u64>(static_cast<i64>(x.tap_step)) * stride;
    const i64 step = static_cast<i64>(by_channels ? channel_stride : tap_step);
    const i64 run_apart = static_cast<i64>(by_channels ? tap_step : channel_stride);
    i32 row = top + static_cast<i32>(part.row) * y.tap_step;
    const i32 first_column = left + static_cast<i32>(part.column) * x.tap_step;
    image +=
        static_cast<i64>(part.channel * channel_stride) + first_column * static_cast<i64>(stride);
#pragma unroll 1
    for (u32 i = 0; i < part.rows; ++i, row += y.tap_step, weights += part.columns) {
      if (static_cast<u32>(row) >= rows) continue;
      const T* run = image + static_cast<u64>(row) * row_stride;
      i32 first = first_column;
#pragma unroll 1
      for (u32 j = 0; j < runs; ++j, run += run_apart, first += run_column) {
        // What lies beside the image is at the run's ends.
        u32 at = 0, end = count;
        const auto is_beside = [&](u32 i) {
          return static_cast<u32>(first + static_cast<i32>(i) * column_step) >= columns;
        };
        if (by_channels) {
          if (is_beside(0)) continue;
        } else {
          while (at < end && is_beside(at)) ++at;
          while (at < end && is_beside(end - 1)) --end;
        }
        add_run(run + static_cast<i64>(at) * step, step, weights + j * run_step + at * weight_step,
                weight_step, end - at, sum);
      }
    }
  }

  // Elements are on their way together.
  KILN_DEVICE void add_run(const T* from, i64 step, const Weights* weights, u32 weight_step,
                           u32 count, Weights& sum) const {
#pragma unroll 1
    for (u32 i = 0; i < count; i += kAtOnce) {
      Number elements[kAtOnce];
#pragma unroll
      for (u32 t = 0; t < kAtOnce; ++t) {
        if (i + t < count) elements[t] = static_cast<Number>(widen(*from));
        from += step;
      }
#pragma unroll
      for (u32 t = 0; t < kAtOnce; ++t) {
        if (i + t < count) {
          const Weights w = *weights;
#pragma unroll
          for (u32 o = 0; o < kGroupChannels; ++o) sum.of[o] += elements[t] * w.of[o];
        }
        weights += weight_step;
      }
    }
  }

  // Brings the weights of each channel of some groups into shared memory; zero beyond the last
  // channel.
  KILN_DEVICE void keep(const AxisClass& y, const AxisClass& x, Kept& kept, u32 first_group,
                        u32 groups, const Part& part) const {
    const u32 count = part.weights();
    const u64 out_stride = kernel_strides[kOutChannels<Kind>];
    const u64 in_stride = kernel_strides[1 - kOutChannels<Kind>];
    const u64 row_tap_stride = kernel_strides[2], tap_stride = kernel_strides[kDims + 1];
#pragma unroll 1
    for (u32 e = thread_rank(); e < groups * count * kGroupChannels; e += block_threads()) {
      const u32 nth = e / kGroupChannels;
      const u32 group = small_quotient(nth, count);
      const u32 index = nth - group * count;
      const u32 line = small_quotient(index, part.columns);
      const u32 channel = kDims == 1 ? line : small_quotient(line, part.rows);
      const u32 row_tap = part.row + (line - channel * part.rows);
      const u32 column_tap = part.column + (index - line * part.columns);
      const u32 out = (first_group + group) * kGroupChannels + e % kGroupChannels;
      Number weight = 0;
      if (out < channels_out) {
        weight = static_cast<Number>(
            widen(kernel[out * out_stride + (part.channel + channel) * in_stride +
                         (y.tap_first + row_tap * y.tap_apart) * row_tap_stride +
                         (x.tap_first + column_tap * x.tap_apart) * tap_stride]));
      }
      kept.of[nth].of[e % kGroupChannels] = weight;
    }
  }
};

template <class Kind>
inline constexpr u32 kTermsAlone = tuning::convolve_terms_alone(kHasClasses<Kind>);

// ---- the kernels ------------------------------------------------------------------------------

template <class Kind, u32 kDims, class T, class Number>
KILN_DEVICE void convolve(const Convolution<Kind, kDims, T, Number>& c, const Axis& rows,
                          const Axis& columns) {
  if (c.images == 0 || c.channels_out == 0 || rows.size_out == 0 || columns.size_out == 0) return;
  // An output reads no more places of a dim than there are.
  const auto read = [](const Axis& a) { return a.taps < a.size ? a.taps : a.size; };
  const u64 terms = static_cast<u64>(read(rows)) * read(columns) * c.channels;
  const u64 outputs = static_cast<u64>(c.images) * c.channels_out * rows.size_out;
  if (outputs <= (1u << 31) / columns.size_out) {
    const u32 count = static_cast<u32>(outputs) * columns.size_out;
    const u32 few = count > tuning::kConvolveFewOutputs ? 0 : kTermsAlone<Kind>;
    const u64 threads = static_cast<u64>(block_count()) * block_threads();
    // Nobody shares weights where a channel has next to no outputs.
    const bool is_tiny = count <= c.channels_out * tuning::kConvolveTiny;
    if (c.channels_out == 1 || ((terms <= few || is_tiny) && count <= threads)) {
      return c.run_alone(rows, columns, count);
    }
  }
  // Some images at a time, whose outputs 32 bits count.
  const u32 most = (1u << 31) / rows.size_out / columns.size_out;
  const u32 at_once = most == 0 ? 1 : most < c.images ? most : c.images;
  u32 tile = block_index();
#pragma unroll 1
  for (u32 image = 0;;) {
    const u32 left = c.images - image;
    const u32 count = left < at_once ? left : at_once;
#pragma unroll 1
    for (u32 i = 0; i < Kind::classes(rows); ++i) {
      AxisClass y{1, 0, 1, 0, 1, 1, 1, 0, 1};  // of one row, which the compiler then knows
      if constexpr (kDims != 1) y = Kind::at(rows, i);
#pragma unroll 1
      for (u32 j = 0; j < Kind::classes(columns); ++j) {
        c.run(y, Kind::at(columns, j), image, count, tile);
      }
    }
    if (left <= at_once) return;
    image += at_once;
  }
}

// `info`: dims of src (b, c, h, w), its strides, dims of the kernel, its strides; of one dim
// without h.
template <class Kind, class Number, class T>
KILN_DEVICE void convolve2d(u64 rows_out, u64 columns_out, u64 stride, u64 padding, u64 dilation,
                            const u64* info, const T* src, const T* kernel, T* dst) {
  constexpr u32 kOut = kOutChannels<Kind>;
  const auto n = [&](u32 i) { return static_cast<u32>(info[i]); };
  const u32 steps = static_cast<u32>(stride), around = static_cast<u32>(padding);
  const u32 dilated = static_cast<u32>(dilation);
  const Convolution<Kind, 2, T, Number> c{src,         kernel,  dst,       n(0),     n(1),
                                          n(8 + kOut), n(2),    n(3),      info[4],  info[5],
                                          info[6],     info[7], info + 12, rows_out, columns_out};
  convolve(c, {n(2), static_cast<u32>(rows_out), n(10), steps, around, dilated},
           {n(3), static_cast<u32>(columns_out), n(11), steps, around, dilated});
}

template <class Kind, class Number, class T>
KILN_DEVICE void convolve1d(u64 l_out, u64 stride, u64 padding, u64 dilation, const u64* info,
                            const T* src, const T* kernel, T* dst) {
  constexpr u32 kOut = kOutChannels<Kind>;
  const auto n = [&](u32 i) { return static_cast<u32>(info[i]); };
  const Convolution<Kind, 1, T, Number> c{src,         kernel,  dst,      n(0),    n(1),
                                          n(6 + kOut), 1,       n(2),     info[3], info[4],
                                          0,           info[5], info + 9, 1,       l_out};
  convolve(c, {1, 1, 1, 1, 0, 1},
           {n(2), static_cast<u32>(l_out), n(8), static_cast<u32>(stride),
            static_cast<u32>(padding), static_cast<u32>(dilation)});
}

}  // namespace kiln::families
