// dst[b, c, i, j] = src[b, c] at the place of (i, j): the nearest element, or a blend of four. With
// one dim, only the nearest element.
//
// `info` has the dims of src, then its strides. Places are computed in f64, by one product for each
// output and axis, since the choice of an element depends on the last bit.
#pragma once

#include "device/chunk.cuh"
#include "device/convert.cuh"
#include "device/index.cuh"
#include "families/lines.cuh"

namespace kiln::families {

// Divisions of output indices: any, and those of small launches.
struct Divide {
  KILN_DEVICE u32 operator()(u32 a, u32 b) const { return a / b; }
};
struct DivideSmall {
  KILN_DEVICE u32 operator()(u32 a, u32 b) const { return small_quotient(a, b); }
};

// The source image of a line of outputs, and the line's row.
template <class T>
struct Image {
  const T* src;
  u32 row;  // of the output

  // `follows`: the line comes right after the previous call's.
  template <class Quotient>
  KILN_DEVICE void move_to(u32 line, bool follows, Quotient divide, const u64* info, const T* first,
                           u32 rows_out) {
    if (follows && ++row < rows_out) return;
    const u32 channels = static_cast<u32>(info[1]);
    const u32 plane = divide(line, rows_out);
    const u32 batch = divide(plane, channels), channel = plane - batch * channels;
    src = first + (batch * info[4] + channel * info[5]);
    row = line - plane * rows_out;
  }
};

// Bounds a scale from indices of outputs to places in the source so that places are below 2^64. The
// elements stay the same: places from 2^31 on are behind the last one.
KILN_DEVICE f64 bounded_scale(f64 scale) {
  constexpr f64 kMax = 4294967296;
  if (!(scale > 0)) return 0;
  return scale < kMax ? scale : kMax;
}

// Truncates a place from 0 to 2^64 to the index of an element, at most size - 1.
KILN_DEVICE u32 element_at(f64 place, u32 size) {
  const u64 element = static_cast<u64>(place);
  return element < size ? static_cast<u32>(element) : size - 1;
}

// `row_of(line, follows, divide)` returns the source row of a line. `follows`: the line comes right
// after the previous call's. With `kRepeats`, both lines may have the same row.
template <bool kRepeats, class T, class RowOf>
KILN_DEVICE void nearest_of_lines(u64 lines, u64 columns_out, f64 scale, u32 width, u64 stride,
                                  T* dst, RowOf row_of) {
  // Limited by registers: with 32 of them, two blocks of 1024 threads share a multiprocessor.
  constexpr bool kFew =
      (kRepeats && sizeof(T) == 2) || kArchitecture == tuning::Architecture::kSm80;
  constexpr u32 kMax = kFew ? 4 : 8;
  constexpr u32 kCount = kChunkCount<T> < kMax ? kChunkCount<T> : kMax;
  scale = bounded_scale(scale);
  const u32 columns = static_cast<u32>(columns_out), self = thread_number();
  const bool singly = lines_go_singly<kCount>(lines * columns_out, columns_out);
  if (likely(singly & (self < lines * columns_out))) {
    const u32 line = small_quotient(self, columns);
    dst[self] = row_of(line, false,
                       DivideSmall{})[element_at((self - line * columns) * scale, width) * stride];
  }
  if (opaque(singly ? 1 : 0) != 0) return;  // done above
  const LineWalk<kCount, T> walk(dst, lines, columns_out, (width * stride) >> 31 == 0);
  if (walk.is_idle()) return;
  u32 offset[kCount];
  Chunk<T, kCount> result;
  const T* last = nullptr;  // source row of `result`
  const auto prepare = [&](u32 first) {
    offset[0] = element_at(first * scale, width);
    if (!walk.by_chunks) return;
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      const u32 element = k == 0 ? offset[0] : element_at((first + k) * scale, width);
      offset[k] = element * static_cast<u32>(stride);
    }
  };
  walk.run(prepare, [&](u32 line, u32 first, bool follows) {
    const T* const row = row_of(line, follows, Divide{});
    T* const to = dst + (line * columns_out + first);
    if (!walk.by_chunks) {
      *to = row[offset[0] * stride];
      return;
    }
    if (!kRepeats || !follows || row != last) {
      last = row;
      T value[kCount];
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) {
        if (k == 0 || offset[k] != offset[k - 1]) {
          value[k] = row[offset[k]];
        } else {
          value[k] = value[k - 1];
        }
      }
      result.clear();
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) result.put(k, value[k]);
    }
    result.store(to);
  });
}

// `rows_out` and `row_scale` belong to dim 2, the others to dim 3.
template <class T>
KILN_DEVICE void upsample_nearest(u64 rows_out, u64 columns_out, f64 row_scale, f64 column_scale,
                                  const u64* info, const T* src, T* dst) {
  if (leaves_at_once() || columns_out == 0) return;
  const u64 lines = info[0] * info[1] * rows_out;
  const u32 height = static_cast<u32>(info[2]), width = static_cast<u32>(info[3]);
  const u64 stride = info[7];
  row_scale = bounded_scale(row_scale);
  Image<T> image{};
  nearest_of_lines<true>(lines, columns_out, column_scale, width, stride, dst,
                         [&](u32 line, bool follows, auto divide) {
                           image.move_to(line, follows, divide, info, src,
                                         static_cast<u32>(rows_out));
                           return image.src + element_at(image.row * row_scale, height) * info[6];
                         });
}

template <class T>
KILN_DEVICE void upsample_nearest1d(u64 length_out, f64 scale, const u64* info, const T* src,
                                    T* dst) {
  const u32 channels = static_cast<u32>(info[1]), length = static_cast<u32>(info[2]);
  if (leaves_at_once() || length_out == 0) return;
  const u64 lines = info[0] * channels;
  const u64 stride = info[5];
  nearest_of_lines<false>(lines, length_out, scale, length, stride, dst,
                          [&](u32 line, bool, auto divide) {
                            const u32 batch = divide(line, channels);
                            return src + batch * info[3] + (line - batch * channels) * info[4];
                          });
}

// The two elements around a place, and the place's part of the way from the first to the second.
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
  // A place may lie far behind the last element, where parts would cancel.
  if (first + 1 >= size) return {first, first, 0};
  return {first, first + 1, static_cast<N>(place - first)};
}

// Returns the scale from places in the output to places in the source.
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
  return bounded_scale(above / below);
}

// Integers are blended in f64 and truncated.
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

// Two equal integers give exactly that integer. Without a part, `b` does not count, even if it is
// infinite or NaN.
template <class T, class N>
KILN_DEVICE N blend(N a, N b, N part) {
  if constexpr (kIsFloat<T>) return part == 0 ? a : a * (1 - part) + b * part;
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
    constexpr u32 kMax = static_cast<T>(~0u);
    const u32 result = saturate<u32>(value);
    return static_cast<T>(result < kMax ? result : kMax);
  }
}

template <class T>
KILN_DEVICE void upsample_bilinear(u64 rows_out, u64 columns_out, bool align_corners,
                                   Factor row_factor, Factor column_factor, const u64* info,
                                   const T* src, T* dst) {
  using N = typename BlendOf<T>::Number;
  if (leaves_at_once() || columns_out == 0) return;
  const u64 lines = info[0] * info[1] * rows_out;
  const u32 height = static_cast<u32>(info[2]), width = static_cast<u32>(info[3]);
  const u64 stride = info[7];
  constexpr u32 kCount = kChunkCount<T> < 4 ? kChunkCount<T> : 4;  // limited by registers
  const f64 row_scale =
      axis_scale(align_corners, row_factor.is_given, row_factor.value, height, rows_out);
  const f64 column_scale =
      axis_scale(align_corners, column_factor.is_given, column_factor.value, width, columns_out);
  Image<T> image{};
  const u32 columns = static_cast<u32>(columns_out), self = thread_number();
  const bool singly = lines_go_singly<kCount>(lines * columns_out, columns_out);
  if (likely(singly & (self < lines * columns_out))) {
    const u32 line = small_quotient(self, columns);
    image.move_to(line, false, DivideSmall{}, info, src, static_cast<u32>(rows_out));
    const Between<N> y = between<N>(image.row, row_scale, align_corners, height);
    const Between<N> x = between<N>(self - line * columns, column_scale, align_corners, width);
    const auto of_row = [&](u32 number) {
      const T* const row = image.src + number * info[6];
      return blend<T, N>(static_cast<N>(widen(row[x.first * stride])),
                         static_cast<N>(widen(row[x.second * stride])), x.part);
    };
    dst[self] = result_of<T>(blend<T, N>(of_row(y.first), of_row(y.second), y.part));
  }
  if (opaque(singly ? 1 : 0) != 0) return;  // done above
  const LineWalk<kCount, T> walk(dst, lines, columns_out, (width * stride) >> 31 == 0);
  if (walk.is_idle()) return;

  // The left neighbours. For a chunk, their places in a row; for a single element its index, in the
  // last entry. The right neighbour is the next element, except at the edge, which the highest bit
  // marks.
  constexpr u32 kEdge = 1u << 31;
  const u32 apart = walk.by_chunks ? static_cast<u32>(stride) : 1;
  const auto left_of = [](u32 place) { return place & ~kEdge; };
  const auto right_of = [&](u32 place) {
    return (place & kEdge) != 0 ? place - kEdge : place + apart;
  };
  u32 left[kCount];
  N part[kCount];
  const u32 run = walk.by_chunks ? kCount : 1;
  // Two rows of the source, blended along the columns, and the index of the upper one.
  N above[kCount], below[kCount];
  u32 top = 0;
  const auto prepare = [&](u32 first) {
#pragma unroll 1
    for (u32 k = 0; k < run; ++k) {
#pragma unroll
      for (u32 j = 0; j + 1 < kCount; ++j) {
        left[j] = left[j + 1];
        part[j] = part[j + 1];
      }
      const Between<N> x = between<N>(first + k, column_scale, align_corners, width);
      left[kCount - 1] = x.first * apart | (x.first == x.second ? kEdge : 0);
      part[kCount - 1] = x.part;
    }
  };
  walk.run(prepare, [&](u32 line, u32 first, bool follows) {
    image.move_to(line, follows, Divide{}, info, src, static_cast<u32>(rows_out));
    const Between<N> y = between<N>(image.row, row_scale, align_corners, static_cast<u32>(info[2]));
    const T* const upper = image.src + y.first * info[6];
    const T* const lower = image.src + y.second * info[6];
    if (!walk.by_chunks) {
      const auto of_row = [&](const T* row) {
        return blend<T, N>(static_cast<N>(widen(row[left_of(left[kCount - 1]) * info[7]])),
                           static_cast<N>(widen(row[right_of(left[kCount - 1]) * info[7]])),
                           part[kCount - 1]);
      };
      dst[line * columns_out + first] =
          result_of<T>(blend<T, N>(of_row(upper), of_row(lower), y.part));
      return;
    }
    // Consecutive lines share source rows: the upper one is often the previous line's lower one.
    const bool shares = follows && image.row != 0;
    if (!shares || y.first != top) {
      const bool steps = shares && y.first == top + 1;
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) {
        above[k] = below[k];
        if (!steps) {
          above[k] = blend<T, N>(static_cast<N>(widen(upper[left_of(left[k])])),
                                 static_cast<N>(widen(upper[right_of(left[k])])), part[k]);
        }
        below[k] = blend<T, N>(static_cast<N>(widen(lower[left_of(left[k])])),
                               static_cast<N>(widen(lower[right_of(left[k])])), part[k]);
      }
      top = y.first;
    }
    Chunk<T, kCount> result;
    result.clear();
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      result.put(k, result_of<T>(blend<T, N>(above[k], below[k], y.part)));
    }
    result.store(dst + (line * columns_out + first));
  });
}

}  // namespace kiln::families
