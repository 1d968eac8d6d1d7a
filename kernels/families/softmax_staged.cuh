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
  const auto weigh = [&](u32 i) {
    const N weight = softmax_weight<T>(widen(row[i]) - maximum);
    if (kWaits) row[i] = narrow<T>(weight);
    return weight;
  };
  // Elements join four sums in turn, which lose less precision than one long sum.
  N sum[4] = {};
  u32 taken = 0;
#pragma unroll 1
  for (; taken + 4 <= columns; taken += 4) {
#pragma unroll
    for (u32 k = 0; k < 4; ++k) sum[k] += weigh(taken + k);
  }
#pragma unroll 1
  for (; taken < columns; ++taken) sum[0] += weigh(taken);
  const N scale = softmax_scale<T>((sum[0] + sum[1]) + (sum[2] + sum[3]));
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
