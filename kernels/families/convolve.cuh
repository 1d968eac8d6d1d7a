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
#include "device/platform.cuh"
#include "device/wave.cuh"

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
};

// Output o reads (o + padding - tap * dilation) / stride, where that is whole.
// Two calls of it weigh less than its code twice.
KILN_ASIDE AxisClass transposed_class(const Axis& a, u32 number);
struct Transposed {
  KILN_DEVICE static u32 classes(const Axis& a) {
    return a.stride < a.size_out ? a.stride : a.size_out;
  }
  KILN_DEVICE static AxisClass at(const Axis& a, u32 number) { return transposed_class(a, number); }
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

// ---- the tiles --------------------------------------------------------------------------------

// Output channels of a group, and weights that a block keeps.
inline constexpr u32 kGroupChannels = 4;
inline constexpr u32 kKeptWeights = 2048;
// Threads of a block that work, at least.
inline constexpr u32 kFewestThreads = 64;
// Taps whose elements a thread loads at once, as many as registers are left for. H200, in the
// reference's geometry, 16 channels by 3x3 to 16, us: 512x512 outputs 258 one by one, 233 so;
// 16x16, by the threads of four blocks instead of one, 26 and 16.
template <class Kind, class Number>
inline constexpr u32 kTapsAtOnce = !kHasClasses<Kind>    ? 3
                                   : sizeof(Number) == 8 ? 1
                                                         : 2;

// A tile has `abreast` groups and `width` outputs.
struct Tiles {
  u32 width, abreast, sets, count;
};
KILN_DEVICE Tiles tiles_of(u32 outputs, u32 groups, u32 threads) {
  const u32 parts = (outputs - 1) / threads + 1;
  const u32 width = (outputs - 1) / parts + 1;
  u32 abreast = threads / width;
  if (abreast > 16) abreast = 16;
  if (abreast > groups) abreast = groups;
  const u32 sets = (groups - 1) / abreast + 1;
  return {width, abreast, sets, parts * sets};
}
// Fewer threads of a block work where more blocks then have a tile.
KILN_ASIDE Tiles smaller_tiles(u32 outputs, u32 groups) {
  const u32 blocks = block_count() < multiprocessors() ? block_count() : multiprocessors();
  Tiles tiles{};
#pragma unroll 1
  for (u32 threads = block_threads();; threads /= 2) {
    const Tiles smaller = tiles_of(outputs, groups, threads);
    if (tiles.count != 0 && smaller.count > blocks) return tiles;
    tiles = smaller;
    if (threads < 2 * kFewestThreads) return tiles;
  }
}

// Sums of T are kept as `Number`.
template <class Kind, class T, class Number>
struct Convolution {
  static constexpr u32 kAtOnce = kTapsAtOnce<Kind, Number>;
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
  u64 out_stride, in_stride, row_tap_stride, tap_stride;  // of the kernel
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
    const u32 mine = thread_rank() / width;
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
      const u32 i = rest / x.outputs, j = rest - i * x.outputs;
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

 private:
  KILN_DEVICE static T result(Number sum) {
    if constexpr (sizeof(T) == 1) {
      return static_cast<T>(sum);  // the low bits
    } else {
      return narrow<T>(sum);
    }
  }

  // Of all channels and taps, for the output whose first tap is at (top, left).
  KILN_DEVICE void add_up(const AxisClass& y, const AxisClass& x, const T* image, i32 top, i32 left,
                          u32 first_group, u32 groups, u32 mine, bool works, Weights& sum) const {
    KILN_SHARED(kept, Kept);
    const u32 taps = y.taps * x.taps;
    const u32 total = taps * channels;
    const u32 most = kKeptWeights / kGroupChannels / groups / kAtOnce * kAtOnce;
    const u64 column_step = static_cast<u64>(static_cast<i64>(x.tap_step)) * stride;
    const u64 first_column = static_cast<u64>(static_cast<i64>(left)) * stride;
    i32 row = top, column = left;
    u32 row_tap = 0, column_tap = 0;
    bool has_row = static_cast<u32>(row) < rows;
    u64 at = static_cast<u64>(static_cast<i64>(row)) * row_stride + first_column;
#pragma unroll 1
    for (u32 first = 0; first < total; first += most) {
      const u32 count = total - first < most ? total - first : most;
      barrier();  // the weights before have been read
      keep(y, x, kept, first_group, groups, first, count, taps);
      barrier();
      if (!works) continue;
      const Weights* weights = &kept.of[mine * count];
#pragma unroll 1
      for (u32 i = 0; i < count; i += kAtOnce) {
        // Elements are on their way together. Behind the last tap of all nothing is read.
        Number elements[kAtOnce];
        bool is_there[kAtOnce];
#pragma unroll
        for (u32 t = 0; t < kAtOnce; ++t) {
          is_there[t] = has_row && static_cast<u32>(column) < columns && i + t < count;
          elements[t] = 0;
          if (is_there[t]) elements[t] = static_cast<Number>(widen(image[at]));
          column += x.tap_step;
          at += column_step;
          if (++column_tap == x.taps) {
            column_tap = 0;
            column = left;
            row += y.tap_step;
            if (++row_tap == y.taps) {
              row_tap = 0;
              row = top;
              image += channel_stride;
            }
            has_row = static_cast<u32>(row) < rows;
            at = static_cast<u64>(static_cast<i64>(row)) * row_stride + first_column;
          }
        }
#pragma unroll
        for (u32 t = 0; t < kAtOnce; ++t) {
          if (!is_there[t]) continue;
          const Weights w = weights[i + t];
#pragma unroll
          for (u32 o = 0; o < kGroupChannels; ++o) sum.of[o] += elements[t] * w.of[o];
        }
      }
    }
  }

  // Brings `count` weights of each channel of some groups into shared memory; zero beyond the last
  // channel.
  KILN_DEVICE void keep(const AxisClass& y, const AxisClass& x, Kept& kept, u32 first_group,
                        u32 groups, u32 first, u32 count, u32 taps) const {
#pragma unroll 1
    for (u32 e = thread_rank(); e < groups * count * kGroupChannels; e += block_threads()) {
      const u32 nth = e / kGroupChannels;
      const u32 group = nth / count;
      const u32 index = first + (nth - group * count);
      const u32 channel = index / taps;
      const u32 tap = index - channel * taps;
      const u32 row_tap = tap / x.taps, column_tap = tap - row_tap * x.taps;
      const u32 out = (first_group + group) * kGroupChannels + e % kGroupChannels;
      Number weight = 0;
      if (out < channels_out) {
        weight = static_cast<Number>(
            widen(kernel[out * out_stride + channel * in_stride +
                         (y.tap_first + row_tap * y.tap_apart) * row_tap_stride +
                         (x.tap_first + column_tap * x.tap_apart) * tap_stride]));
      }
      kept.of[nth].of[e % kGroupChannels] = weight;
    }
  }
};

// ---- the kernels ------------------------------------------------------------------------------

template <class Kind, class T, class Number>
KILN_DEVICE void convolve(const Convolution<Kind, T, Number>& c, const Axis& rows,
                          const Axis& columns) {
  if (c.images == 0 || c.channels_out == 0 || rows.size_out == 0 || columns.size_out == 0) return;
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
      const AxisClass y = Kind::at(rows, i);
#pragma unroll 1
      for (u32 j = 0; j < Kind::classes(columns); ++j) {
        c.run(y, Kind::at(columns, j), image, count, tile);
      }
    }
    if (left <= at_once) return;
    image += at_once;
  }
}

// The kernel of a transposed convolution has its input channels first.
template <class Kind>
inline constexpr u32 kOutChannels = 0;
template <>
inline constexpr u32 kOutChannels<Transposed> = 1;

// `info`: dims of src (b, c, h, w), its strides, dims of the kernel, its strides; of one dim
// without h.
template <class Kind, class Number, class T>
KILN_DEVICE void convolve2d(u64 rows_out, u64 columns_out, u64 stride, u64 padding, u64 dilation,
                            const u64* info, const T* src, const T* kernel, T* dst) {
  constexpr u32 kOut = kOutChannels<Kind>;
  const auto n = [&](u32 i) { return static_cast<u32>(info[i]); };
  const u32 steps = static_cast<u32>(stride), around = static_cast<u32>(padding);
  const u32 dilated = static_cast<u32>(dilation);
  const Convolution<Kind, T, Number> c{
      src,      kernel,   dst,      n(0),       n(1),    n(8 + kOut),     n(2),
      n(3),     info[4],  info[5],  info[6],    info[7], info[12 + kOut], info[13 - kOut],
      info[14], info[15], rows_out, columns_out};
  convolve(c, {n(2), static_cast<u32>(rows_out), n(10), steps, around, dilated},
           {n(3), static_cast<u32>(columns_out), n(11), steps, around, dilated});
}

template <class Kind, class Number, class T>
KILN_DEVICE void convolve1d(u64 l_out, u64 stride, u64 padding, u64 dilation, const u64* info,
                            const T* src, const T* kernel, T* dst) {
  constexpr u32 kOut = kOutChannels<Kind>;
  const auto n = [&](u32 i) { return static_cast<u32>(info[i]); };
  const Convolution<Kind, T, Number> c{
      src,  kernel,   dst,     n(0), n(1),    n(6 + kOut),    1,
      n(2), info[3],  info[4], 0,    info[5], info[9 + kOut], info[10 - kOut],
      0,    info[11], 1,       l_out};
  convolve(c, {1, 1, 1, 1, 0, 1},
           {n(2), static_cast<u32>(l_out), n(8), static_cast<u32>(stride),
            static_cast<u32>(padding), static_cast<u32>(dilation)});
}

}  // namespace kiln::families
