// Convolutions as matrix products. im2col writes the window of each output as a row. col2im1d adds
// up overlapping windows.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "families/lines.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

// Images and windows. With one dim, there is one row.
struct Windows {
  u32 channels, rows, columns;  // of an image
  const u64* batch_stride;      // in the layout block
  u64 channel_stride, row_stride, stride;
  u32 rows_out, columns_out;
  u32 row_taps, column_taps;
  u32 window_stride;  // distance of windows, in either dim
  u32 row_padding, column_padding;
  u32 dilation;
};

// Number of elements of a window's chunk.
template <class T>
inline constexpr u32 kWindowChunk = tuning::window_chunk(sizeof(T));

// Handles windows of whole chunks, if there are more chunks than threads; returns false otherwise.
// A thread keeps its chunk of the window for many outputs, so that it finds the places of its
// elements once. A team of neighbours takes a few adjacent chunks of neighbouring outputs, so that
// both its reads and its writes lie close together.
template <bool kOneRow, class T>
KILN_DEVICE bool im2col_along(u64 images, const Windows& w, const T* src, T* dst) {
  constexpr u32 kCount = kWindowChunk<T>, kTeam = 32;
  // Measured on an H200, 8x64x112x112 by 3x3, in us, by bytes of a window: u8, 32 -> 64 bytes,
  // 57 -> 60; f32, 32 -> 64 -> 128 bytes, 125 -> 101 -> 95.
  constexpr u32 kBytes = sizeof(T) == 1 ? 32 : sizeof(T) == 2 ? 64 : 128;
  constexpr u32 kAcross = kBytes / (kCount * sizeof(T)), kOutputs = kTeam / kAcross;
  const u32 taps = w.row_taps * w.column_taps, window = w.channels * taps;
  const u64 output_count = images * w.rows_out * w.columns_out;
  const u32 threads = staying_threads(), teams = threads / kTeam;
  const u32 chunks = window / kCount, groups = (chunks + (kAcross - 1)) / kAcross;
  const u64 reach = w.channels * w.channel_stride + w.row_taps * w.dilation * w.row_stride +
                    w.column_taps * w.dilation * w.stride;
  if (taps > 31 || window % kCount != 0 || address_of(dst) % (kCount * sizeof(T)) != 0 ||
      groups > teams || (output_count | reach) >> 31 != 0 || output_count * chunks <= threads) {
    return false;
  }
  const u32 self = thread_number(), team = self / kTeam, lane = self % kTeam;
  const u32 walks = teams / groups, walk = team / groups;
  const u32 chunk = (team - walk * groups) * kAcross + lane % kAcross;
  if (walk >= walks || chunk >= chunks) return true;

  u32 offset[kCount], bit[kCount];
  const u32 to_right = static_cast<u32>(w.stride) * w.dilation;
  const u32 down = static_cast<u32>(w.row_stride) * w.dilation - w.column_taps * to_right;
  const u32 to_next = static_cast<u32>(w.channel_stride) -
                      w.row_taps * (static_cast<u32>(w.row_stride) * w.dilation);
  const u32 channel = small_quotient(chunk * kCount, taps);  // no more elements than threads
  u32 tap = chunk * kCount - channel * taps;
  u32 row_tap = kOneRow ? 0 : small_quotient(tap, w.column_taps);
  u32 column_tap = tap - row_tap * w.column_taps;
  u32 place = channel * static_cast<u32>(w.channel_stride) + tap * to_right + row_tap * down;
#pragma unroll 1
  for (u32 k = 0; k < kCount; ++k) {
#pragma unroll
    for (u32 j = 0; j + 1 < kCount; ++j) {
      offset[j] = offset[j + 1];
      bit[j] = bit[j + 1];
    }
    offset[kCount - 1] = place;
    bit[kCount - 1] = 1u << tap;
    place += to_right;
    ++tap;
    if (++column_tap == w.column_taps) {
      column_tap = 0;
      place += down;
      if (tap == taps) {
        tap = 0;
        place += to_next;
      }
    }
  }

  const u32 outputs = static_cast<u32>(output_count);
  const u32 row_reach = (w.row_taps - 1) * w.dilation,
            column_reach = (w.column_taps - 1) * w.dilation;
  const u32 rows_inside = w.rows > row_reach ? w.rows - row_reach : 0;
  const u32 columns_inside = w.columns > column_reach ? w.columns - column_reach : 0;
  // Consecutive outputs of a team. Many are cheaper, because the next output costs least and finds
  // shared elements in the cache. Too many would spread the writes of all teams over memory. For
  // many outputs the quotient is approximate.
  constexpr u32 kMaxSteps = 16;
  const u32 abreast = walks * kOutputs;
  const bool are_few = outputs < abreast * kMaxSteps;
  const u32 stretch = (are_few ? small_quotient(outputs, abreast) + 1 : kMaxSteps) * kOutputs;
#pragma unroll 1
  for (u32 begin = walk * stretch; begin < outputs; begin += walks * stretch) {
    const u32 end = outputs - begin < stretch ? outputs : begin + stretch;
    u32 i = begin + lane / kAcross;
    const u32 line = i / w.columns_out;
    u32 output = i - line * w.columns_out;
    u32 image = line / w.rows_out, row_out = line - image * w.rows_out;
#pragma unroll 1
    for (; i < end; i += kOutputs) {
      const u32 row = row_out * w.window_stride - w.row_padding,
                column = output * w.window_stride - w.column_padding;
      u32 mask = ~0u;
      if (row >= rows_inside || column >= columns_inside) {
        u32 of_row = 0;
#pragma unroll 1
        for (u32 t = w.column_taps; t != 0;) {
          --t;
          of_row = of_row << 1 | (column + t * w.dilation < w.columns ? 1u : 0u);
        }
        mask = 0;
#pragma unroll 1
        for (u32 t = w.row_taps; t != 0;) {
          --t;
          mask =
              (kOneRow ? 0 : mask << w.column_taps) | (row + t * w.dilation < w.rows ? of_row : 0u);
        }
      }
      const T* const from =
          src + static_cast<i64>(image * *w.batch_stride +
                                 static_cast<i64>(static_cast<i32>(row)) * w.row_stride +
                                 static_cast<i64>(static_cast<i32>(column)) * w.stride);
      T value[kCount];
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) {
        value[k] = T{};
        if ((mask & bit[k]) != 0) value[k] = from[offset[k]];
      }
      Chunk<T, kCount> result;
      result.clear();
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) result.put(k, value[k]);
      result.store(dst + (static_cast<u64>(i) * window + chunk * kCount));
      output += kOutputs;
#pragma unroll 1
      while (output >= w.columns_out) {
        output -= w.columns_out;
        if (++row_out == w.rows_out) {
          row_out = 0;
          ++image;
        }
      }
    }
  }
  return true;
}

// dst (images, rows_out, columns_out, channels, row_taps, column_taps) is row-major. Elements
// beyond the image are 0.
template <bool kOneRow, class T>
KILN_DEVICE void im2col(u64 images, const Windows& w, const T* src, T* dst) {
  if (leaves_at_once() || im2col_along<kOneRow>(images, w, src, dst)) return;
  const u32 taps = w.row_taps * w.column_taps;
  const u32 window = w.channels * taps;
  // A line is a row of outputs. Chunks may reach from one window into the next.
  const u64 lines = images * w.rows_out, length = static_cast<u64>(w.columns_out) * window;
  const u32 run = outputs_of_thread(dst, lines, length);
  for_each_in_lines(lines, runs_of_line<T>(length, run), [&](u32 line, u32 i) {
    const u32 first = i * run;
    const u32 output = first / window;
    u32 rest = first - output * window;
    u32 channel = rest / taps;
    rest -= channel * taps;
    u32 row_tap = kOneRow ? 0 : rest / w.column_taps;
    u32 column_tap = rest - row_tap * w.column_taps;
    const u32 image = line / w.rows_out, row_out = line - image * w.rows_out;
    // The place of the next element. A place before the image wraps around to one beyond it.
    u32 row = row_out * w.window_stride + row_tap * w.dilation - w.row_padding;
    u32 column = output * w.window_stride + column_tap * w.dilation - w.column_padding;
    const T* from = src + (image * *w.batch_stride + channel * w.channel_stride);
    write_run<sizeof(T) == 1 ? 4 : 2>(dst + (line * length + first), run, [&] {
      T value{};
      if (row < w.rows && column < w.columns) {
        value = from[row * w.row_stride + column * w.stride];
      }
      column += w.dilation;
      if (++column_tap == w.column_taps) {
        column_tap = 0;
        column -= w.column_taps * w.dilation;
        row += w.dilation;
        if (++row_tap == w.row_taps) {
          row_tap = 0;
          row -= w.row_taps * w.dilation;
          from += w.channel_stride;
          if (++channel == w.channels) {
            channel = 0;
            column += w.window_stride;
            from -= w.channels * w.channel_stride;
          }
        }
      }
      return value;
    });
  });
}

// Handles images of one row, if there is a thread for each window of a channel, and windows are few
// or odd; returns false otherwise. Measured on an H200, reference geometry, in us, by elements -> by
// windows: f16, 3x37x2703 by 3 9.2 -> 6.4; 7x1x100001 17.2 -> 10.1; f32, 3x33x9001 22.2 -> 15.9.
template <class T>
KILN_DEVICE bool im2col_by_windows(u64 images, const Windows& w, const T* src, T* dst) {
  const u64 windows = images * w.columns_out * w.channels;
  const bool are_odd =
      w.column_taps <= tuning::kMaxOddTaps && w.channels * w.column_taps % kWindowChunk<T> != 0;
  // Measured on H200 and H100, 80x3000 by 3, in us, by elements -> by windows: u8 6.0 -> 3.9; f64
  // 7.6 -> 8.8.
  if (sizeof(T) == 8 && windows > 1u << 12) return false;
  if (!takes_one_element(windows, are_odd ? 1u << 21 : kFitBlocks)) return false;
  const u32 i = thread_number(), taps = w.column_taps;
  if (i >= windows) return true;
  constexpr u32 kAhead = 4;  // number of taps in flight
  const u32 above = i / w.channels, image = above / w.columns_out;
  const u32 channel = i - above * w.channels, output = above - image * w.columns_out;
  u32 column = output * w.window_stride - w.column_padding;
  const T* const from = src + (image * *w.batch_stride + channel * w.channel_stride);
  T* const to = dst + static_cast<u64>(i) * taps;
#pragma unroll 1
  for (u32 tap = 0; tap < taps; tap += kAhead) {
    T value[kAhead];
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      value[k] = T{};
      if (tap + k < taps && column < w.columns) value[k] = from[column * w.stride];
      column += w.dilation;
    }
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      if (tap + k < taps) to[tap + k] = value[k];
    }
  }
  return true;
}

template <class T>
KILN_DEVICE void im2col2d(u64 h_out, u64 w_out, u64 h_k, u64 w_k, u64 stride, u64 padding,
                          u64 dilation, const u64* info, const T* src, T* dst) {
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  const Windows w{n(info[1]), n(info[2]), n(info[3]), info + 4,   info[5],
                  info[6],    info[7],    n(h_out),   n(w_out),   n(h_k),
                  n(w_k),     n(stride),  n(padding), n(padding), n(dilation)};
  im2col<false>(info[0], w, src, dst);
}

// dst (b, l_out, channels, l_k). The image has one row.
template <class T>
KILN_DEVICE void im2col1d(u64 l_out, u64 l_k, u64 stride, u64 padding, u64 dilation,
                          const u64* info, const T* src, T* dst) {
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  const Windows w{n(info[1]), 1, n(info[2]), info + 3,  info[4], 0,          info[5],    1,
                  n(l_out),   1, n(l_k),     n(stride), 0,       n(padding), n(dilation)};
  if (!im2col_by_windows(info[0], w, src, dst)) im2col<true>(info[0], w, src, dst);
}

// Handles outputs in groups of neighbours whose terms lie side by side; returns false otherwise.
// Neighbours take eight groups of each of four channels, which are adjacent in src.
template <class Op, class T>
KILN_DEVICE bool col2im1d_by_groups(u64 numel, u64 l_out, u64 l_in, u64 channels, u64 taps,
                                    u64 stride, const T* src, T* dst) {
  constexpr u32 kCount = sizeof(T) == 8 ? 2 : 4, kGroups = 8, kChannels = 4;
  constexpr u32 kTile = kGroups * kChannels;
  const u64 terms = l_in * channels * taps;  // of an image
  if (takes_one_element(numel) || ((taps | stride) % kCount | channels % kChannels) != 0 ||
      (address_of(src) | address_of(dst)) % (kCount * sizeof(T)) != 0 ||
      ((numel * 4 | terms) >> 31) != 0) {
    return false;
  }
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  const u32 step = n(stride), tap_count = n(taps), last = n(l_in) - 1, length = n(l_out);
  const u32 back = n(channels) * tap_count - step;
  const u32 groups = length / kCount, tiles = (groups + kGroups - 1) / kGroups;
  const u32 all = n(numel) / length * tiles * kGroups, threads = all_blocks() * block_size();
#pragma unroll 1
  for (u32 i = thread_number(); i < all; i += threads) {
    const u32 fours = i / kTile / tiles, line = fours * kChannels + i / kGroups % kChannels;
    const u32 group = (i / kTile - fours * tiles) * kGroups + i % kGroups;
    if (group >= groups) continue;
    const u32 x = group * kCount;
    u32 place = x / step, tap = x - place * step;
    if (place > last) {
      tap += (place - last) * step;
      place = last;
    }
    const u32 image = line / n(channels), channel = line - image * n(channels);
    const T* from = src + (image * terms + (place * n(channels) + channel) * tap_count + tap);
    typename Op::State sum[kCount];
#pragma unroll
    for (u32 e = 0; e < kCount; ++e) sum[e] = Op::identity();
#pragma unroll 1
    for (; tap < tap_count; tap += step, from -= back) {
      Chunk<T, kCount> term;
      term.load(from);
#pragma unroll
      for (u32 e = 0; e < kCount; ++e) sum[e] = Op::take(sum[e], term.get(e), 0);
      if (place-- == 0) break;
    }
    Chunk<T, kCount> result;
    result.clear();
#pragma unroll
    for (u32 e = 0; e < kCount; ++e) result.put(e, Op::result(sum[e], 0));
    result.store(dst + (static_cast<u64>(line) * length + x));
  }
  return true;
}

// dst[b, c, x] = the sum of src[b, l, c, t] over all l and t with l * stride + t = x, by the
// reduction `Op`. There are fewer than 2^32 lines of outputs.
template <class Op, class T>
KILN_DEVICE void col2im1d(u64 numel, u64 l_out, u64 l_in, u64 channels, u64 taps, u64 stride,
                          const T* src, T* dst) {
  if (leaves_to_all()) return;
  if (col2im1d_by_groups<Op>(numel, l_out, l_in, channels, taps, stride, src, dst)) return;
  constexpr u32 kAhead = 4;  // number of terms in flight
  const u32 step = static_cast<u32>(stride), tap_count = static_cast<u32>(taps);
  const u32 channel_count = static_cast<u32>(channels), last = static_cast<u32>(l_in) - 1;
  // Distance to the place before, for the same output.
  const u64 back = static_cast<u64>(channel_count) * tap_count - step;
  const u32 threads = all_blocks() * block_size();
#pragma unroll 1
  for (u64 i = thread_number(); i < numel; i += threads) {
    const u32 line = static_cast<u32>(quotient(i, l_out));
    const u32 x = static_cast<u32>(i - line * l_out);
    u32 place = x / step, tap = x - place * step;
    if (place > last) {
      tap += (place - last) * step;
      place = last;
    }
    const u64 image = line < channel_count ? 0 : line / channel_count;
    const T* from = src + (((image * last + place) * channel_count + line) * tap_count + tap);
    typename Op::State sum = Op::identity();
    ++place;  // from here on the number of places left
#pragma unroll 1
    while (tap < tap_count) {
      T term[kAhead];
      bool has[kAhead];
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        has[k] = k < place && tap < tap_count;
        if (has[k]) term[k] = *from;
        tap += step;
        from -= back;
      }
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        if (has[k]) sum = Op::take(sum, term[k], 0);
      }
      if (place <= kAhead) break;
      place -= kAhead;
    }
    dst[i] = Op::result(sum, 0);
  }
}

}  // namespace kiln::families
