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

// Where a thread can keep its chunk of a line: says whether it was so. `row_of(line)` is the row of
// the source.
template <class T, class RowOf>
KILN_DEVICE bool nearest_along(u64 lines, u64 columns_out, f64 scale, u32 width, u64 stride, T* dst,
                               RowOf row_of) {
  // No more than registers hold: with 32, two blocks of 1024 threads share a multiprocessor.
  constexpr u32 kMost = kArchitecture == tuning::Architecture::kSm80 ? 4 : 8;
  constexpr u32 kCount = kChunkCount<T> < kMost ? kChunkCount<T> : kMost;
  if ((width * stride) >> 31 != 0) return false;
  u32 offset[kCount];
  const auto prepare = [&](u32 first) {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      offset[k] = element_at((first + k) * scale, width) * static_cast<u32>(stride);
    }
  };
  return walk_over_lines<kCount>(dst, lines, columns_out, prepare, [&](u32 line) {
    const T* const row = row_of(line);
    T value[kCount];
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      if (k == 0 || offset[k] != offset[k - 1]) {
        value[k] = row[offset[k]];
      } else {
        value[k] = value[k - 1];
      }
    }
    Chunk<T, kCount> result;
    result.clear();
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) result.put(k, value[k]);
    return result;
  });
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
  const auto row_of = [&](u32 line) {
    const Image<T> image = image_of(info, src, static_cast<u32>(rows_out), line);
    return image.src + element_at(image.row * row_scale, height) * row_stride;
  };
  if (nearest_along(lines, columns_out, column_scale, width, stride, dst, row_of)) return;
  for_each_in_lines(lines, columns_out, [&](u32 line, u32 column) {
    dst[line * columns_out + column] =
        row_of(line)[element_at(column * column_scale, width) * stride];
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
  const auto row_of = [&](u32 line) {
    const u32 batch = line / channels;
    return src + batch * info[3] + (line - batch * channels) * info[4];
  };
  if (nearest_along(lines, length_out, scale, length, stride, dst, row_of)) return;
  for_each_in_lines(lines, length_out, [&](u32 line, u32 column) {
    dst[line * length_out + column] = row_of(line)[element_at(column * scale, length) * stride];
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

template <class T, class N>
KILN_DEVICE T result_of(N value) {
  if constexpr (kIsFloat<T>) {
    return narrow<T>(value);
  } else {
    return saturate<T>(value);
  }
}

// Where a thread can keep its chunk of a line: says whether it was so. `rows_of(line)` are the rows
// of the source and how far the output is from the first to the second.
template <class T, class N, class RowsOf>
KILN_DEVICE bool bilinear_along(u64 lines, u64 columns_out, f64 scale, bool align_corners,
                                u32 width, u64 stride, T* dst, RowsOf rows_of) {
  constexpr u32 kCount = sizeof(T) == 1 ? 4 : kChunkCount<T>;
  if ((width * stride) >> 31 != 0) return false;
  const u32 apart = static_cast<u32>(stride);
  u32 left[kCount], right[kCount];
  N part[kCount];
  const auto prepare = [&](u32 first) {
#pragma unroll 1
    for (u32 k = 0; k < kCount; ++k) {
#pragma unroll
      for (u32 j = 0; j + 1 < kCount; ++j) {
        left[j] = left[j + 1];
        right[j] = right[j + 1];
        part[j] = part[j + 1];
      }
      const Between<N> x = between<N>(first + k, scale, align_corners, width);
      left[kCount - 1] = x.first * apart;
      right[kCount - 1] = x.second * apart;
      part[kCount - 1] = x.part;
    }
  };
  return walk_over_lines<kCount>(dst, lines, columns_out, prepare, [&](u32 line) {
    const auto rows = rows_of(line);
    // Neighbours share elements: of what is around one, what is around the one before is known.
    N top_left{}, top_right{}, bottom_left{}, bottom_right{};
    T value[kCount];
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      if (k == 0 || left[k] != left[k - 1]) {
        if (k != 0 && left[k] == right[k - 1]) {
          top_left = top_right;
          bottom_left = bottom_right;
        } else {
          top_left = static_cast<N>(widen(rows.top[left[k]]));
          bottom_left = static_cast<N>(widen(rows.bottom[left[k]]));
        }
        top_right = static_cast<N>(widen(rows.top[right[k]]));
        bottom_right = static_cast<N>(widen(rows.bottom[right[k]]));
      }
      value[k] =
          result_of<T>(blend<T, N>(blend<T, N>(top_left, top_right, part[k]),
                                   blend<T, N>(bottom_left, bottom_right, part[k]), rows.part));
    }
    Chunk<T, kCount> result;
    result.clear();
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) result.put(k, value[k]);
    return result;
  });
}

template <class T, class N>
struct TwoRows {
  const T* top;
  const T* bottom;
  N part;
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
  const auto rows_of = [&](u32 line) {
    const Image<T> image = image_of(info, src, static_cast<u32>(rows_out), line);
    const Between<N> y = between<N>(image.row, row_scale, align_corners, height);
    return TwoRows<T, N>{image.src + y.first * row_stride, image.src + y.second * row_stride,
                         y.part};
  };
  if (bilinear_along<T, N>(lines, columns_out, column_scale, align_corners, width, stride, dst,
                           rows_of)) {
    return;
  }
  for_each_in_lines(lines, columns_out, [&](u32 line, u32 column) {
    const TwoRows<T, N> rows = rows_of(line);
    const Between<N> x = between<N>(column, column_scale, align_corners, width);
    const auto of_row = [&](const T* row) {
      return blend<T, N>(static_cast<N>(widen(row[x.first * stride])),
                         static_cast<N>(widen(row[x.second * stride])), x.part);
    };
    dst[line * columns_out + column] =
        result_of<T>(blend<T, N>(of_row(rows.top), of_row(rows.bottom), rows.part));
  });
}

}  // namespace kiln::families
