// softmax of many short rows, each of which one thread takes in shared memory.
#pragma once

#include "families/softmax.cuh"
#include "families/staged_rows.cuh"

namespace kiln::families {

using namespace device;

// Replaces a row in shared memory by its softmax. Called by one thread.
template <class T>
KILN_DEVICE void softmax_in_place(T* row, u32 columns) {
  using N = typename Arithmetic<T>::Number;
  constexpr bool kWaits = sizeof(T) >= 4;
  N maximum = Largest<N>::identity();
#pragma unroll 4
  for (u32 i = 0; i < columns; ++i) maximum = Largest<N>::join(maximum, widen(row[i]));
  // Elements join kSums sums in turn, which lose less precision than one long sum. Unrolled as often,
  // the loop moves no sum.
  constexpr u32 kSums = 8;
  N sum[kSums] = {};
#pragma unroll 8
  for (u32 i = 0; i < columns; ++i) {
    const N weight = softmax_weight<T>(widen(row[i]) - maximum);
    if (kWaits) row[i] = narrow<T>(weight);
    const N next = sum[0] + weight;
#pragma unroll
    for (u32 k = 0; k + 1 < kSums; ++k) sum[k] = sum[k + 1];
    sum[kSums - 1] = next;
  }
#pragma unroll
  for (u32 step = kSums / 2; step != 0; step /= 2) {
#pragma unroll
    for (u32 k = 0; k < step; ++k) sum[k] += sum[k + step];
  }
  const N scale = softmax_scale<T>(sum[0]);
#pragma unroll 4
  for (u32 i = 0; i < columns; ++i) {
    const N x = widen(row[i]);
    row[i] = narrow<T>((kWaits ? x : softmax_weight<T>(x - maximum)) * scale);
  }
}

template <class T>
KILN_DEVICE void softmax_staged(const T* src, T* dst, u32 rows, u32 columns) {
  stage_rows(src, dst, rows, columns, [&](T* row) { softmax_in_place(row, columns); });
}

}  // namespace kiln::families
