// dst[b, c, x, y] = the reduction of a window of src[b, c]. Windows may overlap, and none reaches
// beyond the image.
//
// `info` has the dims of src, then its strides. Sizes called "w" belong to dim 2, "h" to dim 3.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "families/lines.cuh"

namespace kiln::families {

// `Op` (functors/window.cuh) reduces a window: it begins a state, adds elements to it, and returns
// the result.
template <class Op, class T>
KILN_DEVICE void pool(u64 w_k, u64 h_k, u64 w_stride, u64 h_stride, const u64* info, const T* src,
                      T* dst) {
  using State = typename Op::State;
  const auto n = [](u64 size) { return static_cast<u32>(size); };
  if (leaves_at_once() || info[2] < w_k || info[3] < h_k) return;
  const u32 channels = n(info[1]);
  const u64 batch_stride = info[4], channel_stride = info[5], row_stride = info[6];
  const u64 stride = info[7];
  const u32 row_taps = n(w_k), column_taps = n(h_k);
  const u32 rows = n(info[2] - w_k) / n(w_stride) + 1;
  const u32 columns = n(info[3] - h_k) / n(h_stride) + 1;
  const u64 lines = info[0] * channels * rows;
  // If windows are two columns wide and side by side, a chunk of elements gives half a chunk of
  // results.
  constexpr u32 kCount = kChunkCount<T>, kHalf = kCount / 2;
  const bool by_chunks = h_k == 2 && h_stride == 2 && stride == 1 && columns % kHalf == 0 &&
                         (batch_stride | channel_stride | row_stride) % kCount == 0 &&
                         address_of(src) % 16 == 0 && address_of(dst) % (kHalf * sizeof(T)) == 0;
  for_each_in_lines(lines, by_chunks ? columns / kHalf : columns, [&](u32 line, u32 i) {
    const u32 plane = line / rows, row = line - plane * rows;
    const u32 batch = plane / channels, channel = plane - batch * channels;
    const T* from =
        src + (batch * batch_stride + channel * channel_stride + row * w_stride * row_stride);
    T* const to = dst + static_cast<u64>(line) * columns;
    if (opaque(by_chunks ? 1 : 0) != 0) {
      from += i * kCount;
      State state[kHalf];
#pragma unroll
      for (u32 j = 0; j < kHalf; ++j) state[j] = Op::identity();
#pragma unroll 1
      for (u32 r = 0; r < row_taps; ++r) {
        Chunk<T, kCount> chunk;
        chunk.load(from);
        from += row_stride;
#pragma unroll
        for (u32 j = 0; j < kHalf; ++j) {
          state[j] = Op::take(Op::take(state[j], chunk.get(2 * j)), chunk.get(2 * j + 1));
        }
      }
      Chunk<T, kHalf> result;
      result.clear();
#pragma unroll
      for (u32 j = 0; j < kHalf; ++j) result.put(j, Op::result(state[j], row_taps * 2));
      result.store(to + i * kHalf);
      return;
    }
    from += i * n(h_stride) * stride;
    State state = Op::identity();
#pragma unroll 1
    for (u32 r = 0; r < row_taps; ++r) {
      const T* at = from;
#pragma unroll 1
      for (u32 c = column_taps; c != 0; --c) {
        state = Op::take(state, *at);
        at += stride;
      }
      from += row_stride;
    }
    to[i] = Op::result(state, row_taps * column_taps);
  });
}

}  // namespace kiln::families
