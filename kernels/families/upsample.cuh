// dst[b, c, i, j] = src[b, c] at the place of (i, j): the nearest element, or between four. Of one
// dim the nearest alone.
//
// `info` has the dims of src, then its strides. Places are computed in f64, as the element they
// choose depends on the last bit: one product for each output and axis.
#pragma once

#include "device/chunk.cuh"
#include "device/convert.cuh"
#include "families/lines.cuh"

namespace kiln::families {

// The image of a line of outputs.
template <class T>
struct Image {
  const T* src;
  u32 row;  // of the output
};
template <class T>
KILN_DEVICE Image<T> image_of(const u64* info, const T* src, u32 rows_out, u32 line) {
  const u32 channels = static_cast<u32>(info[1]);
  const u32 plane = line / rows_out;
  const u32 batch = plane / channels, channel = plane - batch * channels;
  return {src + (batch * info[4] + channel * info[5]), line - plane * rows_out};
}

// A place, not before the image, cut off to the index of an element.
KILN_DEVICE u32 element_at(f64 place, u32 size) {
  const u64 element = static_cast<u64>(place);
  return element < size ? static_cast<u32>(element) : size - 1;
}

// `rows_out` and `row_scale` are of dim 2, the others of dim 3.
template <class T>
KILN_DEVICE void upsample_nearest(u64 rows_out, u64 columns_out, f64 row_scale, f64 column_scale,
                                  const u64* info, const T* src, T* dst) {
  if (leaves_at_once()) return;
  const u64 lines = info[0] * info[1] * rows_out;
  const u32 height = static_cast<u32>(info[2]), width = static_cast<u32>(info[3]);
  const u64 row_stride = info[6], stride = info[7];
  if (!(row_scale > 0)) row_scale = 0;
  if (!(column_scale > 0)) column_scale = 0;
  const u32 run = outputs_of_thread(dst, lines, columns_out);
  for_each_in_lines(lines, runs_of_line<T>(columns_out, run), [&](u32 line, u32 i) {
    const Image<T> image = image_of(info, src, static_cast<u32>(rows_out), line);
    const T* const row = image.src + element_at(image.row * row_scale, height) * row_stride;
    u32 column = i * run;
    write_run<4>(dst + (line * columns_out + column), run,
                 [&] { return row[element_at(column++ * column_scale, width) * stride]; });
  });
}

template <class T>
KILN_DEVICE void upsample_nearest1d(u64 length_out, f64 scale, const u64* info, const T* src,
                                    T* dst) {
  const u32 channels = static_cast<u32>(info[1]), length = static_cast<u32>(info[2]);
  if (leaves_at_once()) return;
  const u64 lines = info[0] * channels;
  const u64 stride = info[5];
  if (!(scale > 0)) scale = 0;
  const u32 run = outputs_of_thread(dst, lines, length_out);
  for_each_in_lines(lines, runs_of_line<T>(length_out, run), [&](u32 line, u32 i) {
    const u32 batch = line / channels;
    const T* const row = src + batch * info[3] + (line - batch * channels) * info[4];
    u32 column = i * run;
    write_run<4>(dst + (line * length_out + column), run,
                 [&] { return row[element_at(column++ * scale, length) * stride]; });
  });
}

// The elements around a place, and how far it is from the first to the second.
template <class N>
struct Between {
  u32 first, second;
  N part;
};
template <class N>
KILN_DEVICE Between<N> between(u32 i, f64 scale, bool align_corners, u32 size) {
  f64 place = align_corners ? i * scale : (i + 0.5) * scale - 0.5;
  if (!(place > 0)) place = 0;
  const u32 first = element_at(place, size);
  return {first, first + 1 < size ? first + 1 : first, static_cast<N>(place - first)};
}

// From output to source.
KILN_DEVICE f64 axis_scale(bool align_corners, bool has_factor, f64 factor, u64 size,
                           u64 size_out) {
  f64 above = static_cast<f64>(size), below = static_cast<f64>(size_out);
  if (align_corners) {
    if (size_out < 2) return 0;
    above -= 1;
    below -= 1;
  } else if (has_factor) {
    above = 1;
    below = factor;
  }
  return above / below;
}

// Integers are computed in f64 and cut off.
template <class T>
struct BlendOf {
  using Number = f64;
};
template <>
struct BlendOf<f16> {
  using Number = f32;
};
template <>
struct BlendOf<bf16> {
  using Number = f32;
};
template <>
struct BlendOf<f32> {
  using Number = f32;
};

// Of equal integers their own value; of floats an infinity with a part of zero stays what it is.
template <class T, class N>
KILN_DEVICE N blend(N a, N b, N part) {
  if constexpr (kIsFloat<T>) return a * (1 - part) + b * part;
  return a + (b - a) * part;
}

struct Factor {
  bool is_given;
  f64 value;
};

template <class T>
KILN_DEVICE void upsample_bilinear(u64 rows_out, u64 columns_out, bool align_corners,
                                   Factor row_factor, Factor column_factor, const u64* info,
                                   const T* src, T* dst) {
  using N = typename BlendOf<T>::Number;
  if (leaves_at_once()) return;
  const u64 lines = info[0] * info[1] * rows_out;
  const u32 height = static_cast<u32>(info[2]), width = static_cast<u32>(info[3]);
  const u64 row_stride = info[6], stride = info[7];
  const f64 row_scale =
      axis_scale(align_corners, row_factor.is_given, row_factor.value, height, rows_out);
  const f64 column_scale =
      axis_scale(align_corners, column_factor.is_given, column_factor.value, width, columns_out);
  const u32 run = outputs_of_thread(dst, lines, columns_out);
  for_each_in_lines(lines, runs_of_line<T>(columns_out, run), [&](u32 line, u32 i) {
    const Image<T> image = image_of(info, src, static_cast<u32>(rows_out), line);
    const Between<N> y = between<N>(image.row, row_scale, align_corners, height);
    const T* const top = image.src + y.first * row_stride;
    const T* const bottom = image.src + y.second * row_stride;
    u32 column = i * run;
    write_run<2>(dst + (line * columns_out + column), run, [&] {
      const Between<N> x = between<N>(column++, column_scale, align_corners, width);
      const u64 left = x.first * stride, right = x.second * stride;
      const N upper =
          blend<T, N>(static_cast<N>(widen(top[left])), static_cast<N>(widen(top[right])), x.part);
      const N lower = blend<T, N>(static_cast<N>(widen(bottom[left])),
                                  static_cast<N>(widen(bottom[right])), x.part);
      const N value = blend<T, N>(upper, lower, y.part);
      if constexpr (kIsFloat<T>) {
        return narrow<T>(value);
      } else {
        return saturate<T>(value);
      }
    });
  });
}

}  // namespace kiln::families
