// Convolutions as matrix products: im2col writes the window of each output as a row, col2im1d adds
// overlapping windows up.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "families/lines.cuh"

namespace kiln::families {

// Images and windows; of one dim, the rows are 1.
struct Windows {
  u32 channels, rows, columns;  // of an image
  const u64* batch_stride;      // in the layout block
  u64 channel_stride, row_stride, stride;
  u32 rows_out, columns_out;
  u32 row_taps, column_taps;
  u32 apart;  // windows, in either dim
  u32 row_padding, column_padding;
  u32 dilation;
};

// dst (images, rows_out, columns_out, channels, row_taps, column_taps) row-major; 0 beyond the
// image.
template <bool kOneRow, class T>
KILN_DEVICE void im2col(u64 images, const Windows& w, const T* src, T* dst) {
  if (leaves_at_once()) return;
  const u32 taps = w.row_taps * w.column_taps;
  const u32 window = w.channels * taps;
  // A line is a row of outputs; chunks go on from window to window.
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
    // Where the next element is read; what lies before the image wraps around to beyond it.
    u32 row = row_out * w.apart + row_tap * w.dilation - w.row_padding;
    u32 column = output * w.apart + column_tap * w.dilation - w.column_padding;
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
            column += w.apart;
            from -= w.channels * w.channel_stride;
          }
        }
      }
      return value;
    });
  });
}

// Of one row, where there is a thread for each window of a channel and all run at once: says whether
// it was so.
template <class T>
KILN_DEVICE bool im2col_at_once(u64 images, const Windows& w, const T* src, T* dst) {
  const u64 windows = images * w.columns_out * w.channels;
  // H200 and H100, 80x3000 by 3, us by windows and by elements: u8 3.9, 6.0; f64 8.8, 7.6.
  if (sizeof(T) == 8 || !takes_one_element(windows)) return false;
  const u32 i = thread_number(), taps = w.column_taps;
  if (i >= windows) return true;
  constexpr u32 kAhead = 4;  // taps that are on their way at once
  const u32 above = i / w.channels, image = above / w.columns_out;
  const u32 channel = i - above * w.channels, output = above - image * w.columns_out;
  u32 column = output * w.apart - w.column_padding;
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

// dst (b, l_out, channels, l_k): an image of one row.
template <class T>
KILN_DEVICE void im2col1d(u64 l_out, u64 l_k, u64 stride, u64 padding, u64 dilation,
                          const u64* info, const T* src, T* dst) {
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  const Windows w{n(info[1]), 1, n(info[2]), info + 3,  info[4], 0,          info[5],    1,
                  n(l_out),   1, n(l_k),     n(stride), 0,       n(padding), n(dilation)};
  if (!im2col_at_once(info[0], w, src, dst)) im2col<true>(info[0], w, src, dst);
}

// dst[b, c, x] = the sum, which is a reduction `Op`, of src[b, l, c, t] over all l and t with
// l * stride + t = x. There are less than 2^32 lines of outputs.
template <class Op, class T>
KILN_DEVICE void col2im1d(u64 numel, u64 l_out, u64 l_in, u64 channels, u64 taps, u64 stride,
                          const T* src, T* dst) {
  constexpr u32 kAhead = 4;  // terms that are on their way at once
  const u32 step = static_cast<u32>(stride), tap_count = static_cast<u32>(taps);
  const u32 channel_count = static_cast<u32>(channels), last = static_cast<u32>(l_in) - 1;
  const u64 back = channels * taps - step;  // from a place to the one before, for the same output
  const u64 threads = launched_threads();
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
    const T* from = src + (((image * last + place) * channels + line) * taps + tap);
    typename Op::State sum = Op::identity();
    ++place;  // from here on the places that are left
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
