// Direct convolutions of one and two dims, and their transposes.
//
// dst[b, o, y, x] = sum over c and taps of src[b, c, place of the tap] * kernel[o, c, tap], for
// places in the image. Along each axis, outputs fall into classes. Outputs of a class are equally
// far apart and read through the same taps. A convolution has one class, its transpose as many as
// its stride.
//
// A block computes a tile: some outputs of a class, for a group of output channels. It loads terms
// into shared memory: the position of an image element, and its weight for each channel of the
// group. Teams have a thread for each output of the tile, and each team adds up a part of the
// terms.
//
// One thread of a block computes what all of them share.
#pragma once

#include "device/dtypes.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "families/spread.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

using namespace device;

// ---- an axis ----------------------------------------------------------------------------------

// The outputs of a class. Output i of the class is output first + i * apart. Its tap j reads the
// image at place + i * step + j * tap_step, and is tap tap_first + j * tap_apart of the kernel.
struct AxisClass {
  u32 outputs;
  u32 first, apart;
  i32 place;
  u32 step;
  i32 tap_step;
  u32 taps, tap_first, tap_apart;
};

// One dim of a convolution. Output o reads through tap t the place (o * apart + origin + t *
// tap_step) / divisor, if that is whole and in the image. The divisor is 1 except for transposes.
struct Axis {
  u32 size, size_out, taps;
  u32 apart, origin, tap_step, divisor;
  u64 image_stride, kernel_stride;

  KILN_DEVICE u32 classes() const { return divisor < size_out ? divisor : size_out; }

  KILN_DEVICE void find_class(bool transposed, u32 number, AxisClass& found) const {
    if (!transposed) {
      found = {size_out, 0, 1, static_cast<i32>(origin), apart, static_cast<i32>(tap_step),
               taps,     0, 1};
      return;
    }
    // The place of the current tap, the division's remainder, and how far back the next tap is.
    const u32 first = number * apart + origin, back = 0 - tap_step;
    u32 place = first / divisor, rest = first - place * divisor;
    const u32 places_back = back / divisor, rest_back = back - places_back * divisor;
    const auto advance = [&] {
      const bool borrows = rest < rest_back;
      place -= places_back + (borrows ? 1 : 0);
      rest += (borrows ? divisor : 0) - rest_back;
    };
    u32 tap = 0, taps_apart = 0;
#pragma unroll 1
    for (; rest != 0 && tap < taps; ++tap) advance();
    found.place = static_cast<i32>(place);
#pragma unroll 1
    do {
      advance();
      ++taps_apart;
    } while (rest != 0 && taps_apart < divisor);
    found.outputs = (size_out - number - 1) / divisor + 1;
    found.first = number;
    found.apart = divisor;
    found.step = apart;
    found.tap_step = static_cast<i32>(place) - found.place;
    found.tap_first = tap;
    found.tap_apart = taps_apart;
    u32 count = 0;
#pragma unroll 1
    for (; tap < taps; tap += taps_apart) ++count;
    found.taps = count;
  }
};

// ---- the tiles --------------------------------------------------------------------------------

// Number of output channels in a group.
inline constexpr u32 kGroupChannels = 8;
// Maximum number of terms that a block keeps at once, and of outputs in a tile.
inline constexpr u32 kKeptTerms = 512;
// Number of terms that a thread loads at once.
inline constexpr u32 kAtOnce = 4;

// Which convolution a kernel computes.
struct ConvolutionKind {
  bool is_transposed;
  bool is_flat;  // two dims; otherwise there is one row
};

// The arguments of a call, and the state of a block.
struct Convolution {
  u32 images, channels, channels_out;
  u64 image_stride, channel_stride;
  u64 out_stride, in_stride;  // of the kernel
  Axis axes[2];               // rows, columns

  u32 blocks;  // number of blocks that work
  u32 groups;  // of output channels
  u32 row_classes, column_classes;
  u32 next_row, next_column;  // the classes that come next
  u32 images_at_once;         // so few that 32 bits count their outputs
  // Current work: up to `images_at_once` images from this one on, and one class of their outputs.
  u32 first_image;
  AxisClass classes[2];  // of rows, of columns
  u32 outputs;
  u32 tiles;
  u32 width, teams;  // of a tile: its outputs, and the teams that share its terms
  u32 next_tile;
  u32 first_output, first_channel;  // of the current tile
  u32 group_channels;               // channels in its group

  KILN_DEVICE const Axis& rows() const { return axes[0]; }
  KILN_DEVICE const Axis& columns() const { return axes[1]; }
  KILN_DEVICE const AxisClass& y() const { return classes[0]; }
  KILN_DEVICE const AxisClass& x() const { return classes[1]; }
};
// Returns the block's state. Not a member of a template, whose name would be long.
KILN_DEVICE Convolution& convolution() {
  KILN_SHARED(c, Convolution);
  return c;
}

// `info` has the dims of src (b, c, h, w), its strides, the dims of the kernel, and its strides.
// With one dim, h is missing.
KILN_DEVICE void begin_tiles(Convolution& c, bool transposed, u32 dims, u32 rows_out,
                             u32 columns_out, u32 stride, u32 padding, u32 dilation,
                             const u64* info) {
  const auto n = [&](u32 i) { return static_cast<u32>(info[i]); };
  const u32 rank = 2 + dims, kernel = 2 * rank;
  // The kernel of a transposed convolution has its input channels first.
  const u32 out_dim = transposed ? 1 : 0;
  c.images = n(0);
  c.channels = n(1);
  c.channels_out = n(kernel + out_dim);
  c.image_stride = info[rank];
  c.channel_stride = info[rank + 1];
  c.out_stride = info[kernel + rank + out_dim];
  c.in_stride = info[kernel + rank + (1 - out_dim)];
  c.axes[0] = {1, 1, 1, 1, 0, 1, 1, 0, 0};
  c.classes[0] = {1, 0, 1, 0, 1, 1, 1, 0, 1};
  u32 size_out = columns_out;
#pragma unroll 1
  for (u32 dim = rank; dim-- > 2;) {
    c.axes[dim + 2 - rank] = {n(dim),
                              size_out,
                              n(kernel + dim),
                              transposed ? 1 : stride,
                              transposed ? padding : 0 - padding,
                              transposed ? 0 - dilation : dilation,
                              transposed ? stride : 1,
                              info[rank + dim],
                              info[kernel + rank + dim]};
    size_out = rows_out;
  }
  c.groups = (c.channels_out - 1) / kGroupChannels + 1;
  c.row_classes = c.rows().classes();
  c.column_classes = c.columns().classes();
  const u64 of_image = static_cast<u64>(c.rows().size_out) * c.columns().size_out;
  if (of_image == 0 || c.channels_out == 0) c.images = 0;
  c.images_at_once = c.images;
#pragma unroll 1
  while (c.images_at_once > 1 && c.images_at_once * of_image >> 31 != 0) {
    c.images_at_once = (c.images_at_once + 1) / 2;
  }
  c.first_image = c.next_row = c.next_column = 0;
  c.next_tile = block_index();
  c.tiles = 0;
}

// Chooses the tiles of a class. They have more teams if terms are many, or if blocks would
// otherwise get different numbers of tiles.
KILN_DEVICE void cut_tiles(Convolution& c) {
  const u32 threads = block_size(), terms = c.y().taps * c.x().taps * c.channels;
  const u32 wanted = terms / tuning::kConvolveTermsOfTeam;
  constexpr u32 kTeams = tuning::kConvolveTeams;
  u32 width = small_quotient(threads, wanted < 1 ? 1 : wanted < kTeams ? wanted : kTeams);
  if (width > kKeptTerms) width = kKeptTerms;
  if (width == 0) width = 1;
  const u32 blocks = small_quotient(c.blocks - 1, c.row_classes * c.column_classes) + 1;
  constexpr u32 kFew = 1u << 17;  // few enough for small_quotient()
  const u32 tiles = (small_quotient(c.outputs - 1, width) + 1) * c.groups;
  if (c.outputs < kFew && tiles < 8 * blocks) {
    const u32 rounds = small_quotient(tiles - 1, blocks) + 1;
    const u32 parts = small_quotient(rounds * blocks, c.groups);
    width = small_quotient(c.outputs - 1, parts) + 1;
    if (width < wave_width()) width = wave_width();
  }
  if (width > threads) width = threads;
  if (width > c.outputs) width = c.outputs;
  const u32 batches = terms / kAtOnce + 1, teams = small_quotient(threads, width);
  c.width = width;
  c.teams = teams < batches ? teams : batches;
  // For many outputs this quotient is approximate, and some tiles may be empty.
  u32 parts = small_quotient(c.outputs, width);
#pragma unroll 1
  while (parts * width < c.outputs) ++parts;
  c.tiles = parts * c.groups;
}

// Moves on to the next tile; after the last one, `tiles` is 0. A tile number beyond one class
// continues in the next. One function serves all types.
KILN_NOINLINE void move_to_next_tile(ConvolutionKind kind) {
  Convolution& c = convolution();
#pragma unroll 1
  while (c.next_tile >= c.tiles) {
    c.next_tile -= c.tiles;
    c.tiles = 0;
    if (c.next_row == c.row_classes) {
      c.next_row = 0;
      c.first_image += c.images_at_once;
    }
    if (c.first_image >= c.images) return;
    u32 number = kind.is_flat ? c.next_row : c.next_column;
#pragma unroll 1
    for (u32 axis = kind.is_flat ? 0 : 1; axis < 2; ++axis) {
      c.axes[axis].find_class(kind.is_transposed, number, c.classes[axis]);
      number = c.next_column;
    }
    if (++c.next_column == c.column_classes) {
      c.next_column = 0;
      ++c.next_row;
    }
    const u32 left = c.images - c.first_image;
    const u32 images = left < c.images_at_once ? left : c.images_at_once;
    c.outputs = images * (c.y().outputs * c.x().outputs);
    cut_tiles(c);
  }
  const u32 part = c.next_tile / c.groups;
  c.first_output = part * c.width;
  c.first_channel = (c.next_tile - part * c.groups) * kGroupChannels;
  const u32 left = c.channels_out - c.first_channel;
  c.group_channels = left < kGroupChannels ? left : kGroupChannels;
  c.next_tile += c.blocks;
}

// ---- the terms --------------------------------------------------------------------------------

// Offset of a term's element from that of the first term, in bytes, and one bit each for its row
// and its column of taps.
struct alignas(16) Term {
  u64 offset;
  u32 bits;
};
inline constexpr u32 kRowBits = 16, kColumnBits = 15;
inline constexpr u32 kNoTerm = 1u << 31;  // padding of a batch

// Returns a bit for each of `taps` places that lies beyond the image.
KILN_DEVICE u32 beyond(i32 place, i32 step, u32 taps, u32 size) {
  u32 bits = 0;
#pragma unroll 1
  for (u32 tap = 0; tap < taps; ++tap, place += step) {
    if (static_cast<u32>(place) >= size) bits |= 1u << tap;
  }
  return bits;
}

// Returns the offset of a place, in elements. It wraps if the place lies before the image.
KILN_DEVICE u64 offset_of(const Convolution& c, ConvolutionKind kind, u32 channel, i32 row,
                          i32 column) {
  u64 offset = channel * c.channel_stride +
               static_cast<u64>(static_cast<i64>(column)) * c.columns().image_stride;
  if (kind.is_flat) offset += static_cast<u64>(static_cast<i64>(row)) * c.rows().image_stride;
  return offset;
}

template <class T, class Number>
KILN_DEVICE T result_of(Number sum) {
  if constexpr (sizeof(T) == 1) {
    return static_cast<T>(sum);  // the low bits
  } else {
    return narrow<T>(sum);
  }
}

// Computes sums for outputs of type T as `Number`.
template <class T, class Number>
struct DirectConvolution {
  struct alignas(16) Weights {
    Number of[kGroupChannels];
  };
  static constexpr u32 kNoWeights = kKeptTerms;  // zeros, for elements beyond the image
  struct Kept {
    Weights weights[kKeptTerms + 1];
    Term terms[kKeptTerms];
  };
  // The terms that a block keeps at once, ordered by channel, row of taps and column of taps.
  struct Part {
    u32 channel, row, column;     // the first ones
    u32 channels, rows, columns;  // their numbers
    u32 terms;                    // rounded up to whole batches
  };

  KILN_DEVICE static void run(Convolution& c, ConvolutionKind kind, const T* src, const T* kernel,
                              T* dst) {
    KILN_SHARED(kept, Kept);
    if (thread_index() == 0) kept.weights[kNoWeights] = {};
#pragma unroll 1
    for (;;) {
      barrier();  // all threads are done with the previous tile
      if (thread_index() == 0) move_to_next_tile(kind);
      barrier();
      if (c.tiles == 0) return;
      const u32 width = c.width, teams = c.teams;
      const u32 team = small_quotient(thread_index(), width), place = thread_index() - team * width;
      const u32 output = c.first_output + place;
      const u32 line = output / c.x().outputs, nth = kind.is_flat ? line / c.y().outputs : line;
      const u32 i = line - nth * c.y().outputs, j = output - line * c.x().outputs;
      const u32 image = c.first_image + nth;
      const bool works = team < teams && output < c.outputs;
      const T* const from = src + image * c.image_stride;
      const i32 top = c.y().place + static_cast<i32>(i * c.y().step);
      const i32 left = c.x().place + static_cast<i32>(j * c.x().step);
      const u64 line_out =
          (static_cast<u64>(image) * c.channels_out + c.first_channel) * c.rows().size_out +
          (c.y().first + i * c.y().apart);
      T* const to = dst + (line_out * c.columns().size_out + (c.x().first + j * c.x().apart));
      Weights sum{};
      add_up(c, kind, kept, from, top, left, kernel, works ? team : teams, sum);
#pragma unroll 1
      for (u32 rest = teams; rest > 1;) {
        const u32 half = (rest + 1) / 2;
        barrier();
        if (team >= half && team < rest) kept.weights[(team - half) * width + place] = sum;
        barrier();
        if (team < rest - half) {
          const Weights more = kept.weights[team * width + place];
#pragma unroll
          for (u32 o = 0; o < kGroupChannels; ++o) sum.of[o] += more.of[o];
        }
        rest = half;
      }
      barrier();
      if (team == 0) kept.weights[place] = sum;
      barrier();
      if (!works) continue;
      const u64 apart = static_cast<u64>(c.rows().size_out) * c.columns().size_out;
#pragma unroll 1
      for (u32 o = team; o < c.group_channels; o += teams) {
        to[o * apart] = result_of<T>(kept.weights[place].of[o]);
      }
    }
  }

 private:
  // Adds up a team's terms of all channels and taps for the output with its first tap at top, left.
  KILN_DEVICE static void add_up(const Convolution& c, ConvolutionKind kind, Kept& kept,
                                 const T* image, i32 top, i32 left, const T* kernel, u32 team,
                                 Weights& sum) {
    if (c.y().taps == 0 || c.x().taps == 0 || c.channels == 0) return;
    const auto least = [](u32 a, u32 b) { return a < b ? a : b; };
    const u32 columns_at_once = least(c.x().taps, kColumnBits);
    u32 rows_at_once = 1;
    if (kind.is_flat) {
      rows_at_once =
          least(least(c.y().taps, kRowBits), small_quotient(kKeptTerms, columns_at_once));
    }
    const u32 channels_at_once = small_quotient(kKeptTerms, columns_at_once * rows_at_once);
    Part part{};
#pragma unroll 1
    for (;;) {
      part.channels = least(channels_at_once, c.channels - part.channel);
      part.rows = kind.is_flat ? least(rows_at_once, c.y().taps - part.row) : 1;
      part.columns = least(columns_at_once, c.x().taps - part.column);
      part.terms = (part.channels * part.rows * part.columns + kAtOnce - 1) & (0 - kAtOnce);
      keep(c, kind, kept, part, kernel);
      barrier();
      if (team < c.teams) add_part(c, kind, kept, image, top, left, team, part, sum);
      part.column += part.columns;
      if (part.column == c.x().taps) {
        part.column = 0;
        part.row += part.rows;
        if (!kind.is_flat || part.row == c.y().taps) {
          part.row = 0;
          part.channel += part.channels;
          if (part.channel == c.channels) return;
        }
      }
      barrier();  // all kept terms have been read
    }
  }

  KILN_DEVICE static void add_part(const Convolution& c, ConvolutionKind kind, const Kept& kept,
                                   const T* image, i32 top, i32 left, u32 team, const Part& part,
                                   Weights& sum) {
    const i32 row = top + static_cast<i32>(part.row) * c.y().tap_step;
    const i32 column = left + static_cast<i32>(part.column) * c.x().tap_step;
    u32 missing = kNoTerm | beyond(column, c.x().tap_step, part.columns, c.columns().size)
                                << kRowBits;
    if (kind.is_flat) missing |= beyond(row, c.y().tap_step, part.rows, c.rows().size);
    const char* const from = reinterpret_cast<const char*>(
        image + static_cast<i64>(offset_of(c, kind, part.channel, row, column)));
    const u32 step = c.teams * kAtOnce;
#pragma unroll 1
    for (u32 first = team * kAtOnce; first < part.terms; first += step) {
      Number elements[kAtOnce];
      u32 weights[kAtOnce];
#pragma unroll
      for (u32 t = 0; t < kAtOnce; ++t) {
        const Term term = kept.terms[first + t];
        const bool is_there = (term.bits & missing) == 0;
        weights[t] = is_there ? first + t : kNoWeights;
        elements[t] = 0;
        if (is_there) {
          const char* const element = from + static_cast<i64>(term.offset);
          elements[t] = static_cast<Number>(widen(*reinterpret_cast<const T*>(element)));
        }
      }
#pragma unroll
      for (u32 t = 0; t < kAtOnce; ++t) {
        const Weights w = kept.weights[weights[t]];
#pragma unroll
        for (u32 o = 0; o < kGroupChannels; ++o) sum.of[o] += elements[t] * w.of[o];
      }
    }
  }

  // Loads terms, and their weights for the channels of a group, into shared memory.
  KILN_DEVICE static void keep(const Convolution& c, ConvolutionKind kind, Kept& kept,
                               const Part& part, const T* kernel) {
    const AxisClass &y = c.y(), &x = c.x();
#pragma unroll 1
    for (u32 index = thread_index(); index < part.terms; index += block_size()) {
      const u32 line = small_quotient(index, part.columns), column = index - line * part.columns;
      const u32 channel = kind.is_flat ? small_quotient(line, part.rows) : line;
      const u32 row = kind.is_flat ? line - channel * part.rows : 0;
      const bool is_there = channel < part.channels;
      kept.terms[index] = {offset_of(c, kind, channel, static_cast<i32>(row) * y.tap_step,
                                     static_cast<i32>(column) * x.tap_step) *
                               sizeof(T),
                           is_there ? 1u << row | 1u << (kRowBits + column) : kNoTerm};
      const T* weight =
          kernel +
          (c.first_channel * c.out_stride + (part.channel + channel) * c.in_stride +
           (x.tap_first + (part.column + column) * x.tap_apart) * c.columns().kernel_stride);
      if (kind.is_flat) {
        weight += (y.tap_first + (part.row + row) * y.tap_apart) * c.rows().kernel_stride;
      }
      const u32 count = is_there ? c.group_channels : 0;
      T weights[kGroupChannels];
#pragma unroll
      for (u32 o = 0; o < kGroupChannels; ++o) {
        weights[o] = T{};
        if (o < count) weights[o] = *weight;
        weight += c.out_stride;
      }
#pragma unroll
      for (u32 o = 0; o < kGroupChannels; ++o) {
        kept.weights[index].of[o] = static_cast<Number>(widen(weights[o]));
      }
    }
  }
};

// ---- the kernels ------------------------------------------------------------------------------

template <bool kTransposed>
inline constexpr u32 kTermsAlone = tuning::convolve_terms_alone(kTransposed);

// Returns the place that an output reads through a tap, or `size` or more if it reads nothing.
template <bool kTransposed>
KILN_DEVICE u32 place_of(u32 output, u32 tap, u32 size, u32 stride, u32 padding, u32 dilation) {
  const u32 distance = tap * dilation;
  if constexpr (!kTransposed) return output * stride + distance - padding;
  const u32 origin = output + padding, place = (origin - distance) / stride;
  return distance <= origin && place * stride == origin - distance ? place : size;
}

// Returns the nth tap in the order of summation. Transposes begin with `first` and wrap around.
template <bool kTransposed>
KILN_DEVICE u32 nth_tap(u32 nth, u32 first, u32 taps) {
  if constexpr (!kTransposed) return nth;
  return nth + first < taps ? nth + first : nth + first - taps;
}
// Neighbouring outputs of a transpose read a place through different taps. Each begins with the tap
// through which all of them read the same place.
template <bool kTransposed>
KILN_DEVICE u32 first_tap(u32 origin, u32 taps) {
  if constexpr (!kTransposed) return 0;
  const u32 tap = origin - small_quotient(origin, taps) * taps;
  return tap < taps ? tap : 0;
}

// Computes each output by one thread. Returns false unless there is one output channel, so that
// weights cannot be shared, or each output has its own thread and too little work to share.
template <bool kTransposed, u32 kDims, class Number, class T>
KILN_DEVICE bool convolve_alone(u32 blocks, u64 rows_out, u64 columns_out, u32 stride, u32 padding,
                                u32 dilation, const u64* info, const T* src, const T* kernel,
                                T* dst) {
  constexpr u32 kRank = 2 + kDims, kColumn = kRank - 1, kOut = kTransposed ? 1 : 0;
  const u64 *const strides = info + kRank, *const dims = strides + kRank;
  const u64* const kernel_strides = dims + kRank;
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  const u32 images = n(info[0]), channels = n(info[1]), channels_out = n(dims[kOut]);
  const u32 rows = kDims == 1 ? 1 : n(info[2]), columns = n(info[kColumn]);
  const u32 row_taps = kDims == 1 ? 1 : n(dims[2]), column_taps = n(dims[kColumn]);
  // An output reads each place of a dim at most once.
  const auto least = [](u32 a, u32 b) { return a < b ? a : b; };
  const u32 terms = least(row_taps, rows) * least(column_taps, columns) * channels;
  const u64 outputs = images * rows_out * columns_out, count = outputs * channels_out;
  const u32 threads = blocks * block_size();
  const bool is_little = terms <= kTermsAlone<kTransposed> || outputs <= tuning::kConvolveTiny;
  if (count >> 31 != 0 || (channels_out != 1 && (!is_little || count > threads))) return false;
  const u64 channel_stride = strides[1], row_stride = strides[2],
            stride_of_columns = strides[kColumn];
  const u64 in_stride = kernel_strides[1 - kOut], row_tap_stride = kernel_strides[2];
  const u64 tap_stride = kernel_strides[kColumn];
  const u32 size = n(columns_out), height = n(rows_out);
  // Threads whose taps differ would wait for each other in the order of taps. Measured on an H200,
  // own geometry, in us, in the order of taps -> in this order: f32, 100 to 512 channels, kernel
  // 4x4, image 1x1, 111 -> 25; but f64, 16 to 16 channels, kernel 4x4, stride 2, image 32x32,
  // 11.4 -> 14.8.
  const bool turns = (stride != 1 && sizeof(T) != 8) || rows < row_taps || columns < column_taps;
#pragma unroll 1
  for (u32 i = block_index() * block_size() + thread_index(); i < count; i += threads) {
    const u32 line = i / size, above = kDims == 1 ? line : line / height;
    const u32 image = above / channels_out;
    const u32 row_out = line - above * height, output = i - line * size;
    const T* const from = src + image * strides[0];
    const T* const weights = kernel + (above - image * channels_out) * kernel_strides[kOut];
    Number sum = 0;
    const u32 first_row = first_tap<kTransposed>(turns ? row_out + padding : 0, row_taps);
    const u32 first_column = first_tap<kTransposed>(turns ? output + padding : 0, column_taps);
#pragma unroll 1
    for (u32 r = 0; r < row_taps; ++r) {
      const u32 row_tap = nth_tap<kTransposed>(r, first_row, row_taps);
      const u32 row =
          kDims == 1 ? 0 : place_of<kTransposed>(row_out, row_tap, rows, stride, padding, dilation);
      if (row >= rows) continue;
#pragma unroll 1
      for (u32 t = 0; t < column_taps; ++t) {
        const u32 tap = nth_tap<kTransposed>(t, first_column, column_taps);
        const u32 column = place_of<kTransposed>(output, tap, columns, stride, padding, dilation);
        if (column >= columns) continue;
        const T* element = from + column * stride_of_columns;
        const T* weight = weights + tap * tap_stride;
        if constexpr (kDims != 1) {
          element += row * row_stride;
          weight += row_tap * row_tap_stride;
        }
#pragma unroll 4
        for (u32 c = 0; c < channels; ++c) {
          sum += static_cast<Number>(widen(*element)) * static_cast<Number>(widen(*weight));
          element += channel_stride;
          weight += in_stride;
        }
      }
    }
    dst[i] = result_of<T>(sum);
  }
  return true;
}

// One function for all kernels of a type, which makes them smaller.
template <class Number, class T>
KILN_NOINLINE void convolve_tiles_of(u32 blocks, bool transposed, u32 dims, u64 rows_out,
                                     u64 columns_out, u64 stride, u64 padding, u64 dilation,
                                     const u64* info, const T* src, const T* kernel, T* dst) {
  Convolution& c = convolution();
  if (thread_index() == 0) {
    const auto n = [](u64 size) { return static_cast<u32>(size); };
    c.blocks = blocks;
    begin_tiles(c, transposed, dims, n(rows_out), n(columns_out), n(stride), n(padding),
                n(dilation), info);
  }
  DirectConvolution<T, Number>::run(c, {transposed, dims == 2}, src, kernel, dst);
}

// With one dim, rows_out is 1.
template <bool kTransposed, u32 kDims, class Number, class T>
KILN_DEVICE void convolve(u64 rows_out, u64 columns_out, u64 stride, u64 padding, u64 dilation,
                          const u64* info, const T* src, const T* kernel, T* dst) {
  // A multiprocessor holds one block of 1024 threads. That many blocks work; the others exit early.
  const u32 blocks = blocks_up_to(block_size() == 1024 ? multiprocessors() : kAllBlocks);
  if (block_index() >= blocks) return;
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  if (convolve_alone<kTransposed, kDims, Number>(blocks, rows_out, columns_out, n(stride),
                                                 n(padding), n(dilation), info, src, kernel, dst)) {
    return;
  }
  convolve_tiles_of<Number>(blocks, kTransposed, kDims, rows_out, columns_out, stride, padding,
                            dilation, info, src, kernel, dst);
}

}  // namespace kiln::families
