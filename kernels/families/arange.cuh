// out[i] = start + i * step. Floats are computed in f64 and rounded once (f8 by way of f32);
// integers wrap.
#pragma once

#include "device/chunk.cuh"
#include "device/convert.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// Computes elements of the row. `at` returns element `first + k`; `known` is `first` as an f64.
template <class T>
struct Row {
  T start, step;

  KILN_DEVICE auto at(u64 first, f64 known, u32 k) const {
    if constexpr (kIsFloat<T>) {
      return convert<T>(
          math::fma(known + k, static_cast<f64>(widen(step)), static_cast<f64>(widen(start))));
    } else {
      return static_cast<T>(static_cast<u64>(start) + (first + k) * static_cast<u64>(step));
    }
  }
};

template <class T>
KILN_DEVICE void arange(u64 numel, T start, T step, T* out) {
  constexpr u32 kCount = 16 / sizeof(T);
  const Row<T> row{start, step};
  const Spread spread(numel, false, few_or_all_blocks());
  if (spread.is_surplus()) return;
  const u64 chunks = address_of(out) % 16 == 0 ? numel / kCount : 0;
#pragma unroll 1
  for (u64 c = spread.self; c < chunks; c += spread.threads) {
    const u64 first = c * kCount;
    const f64 known = static_cast<f64>(first);
    Chunk<T, kCount> chunk;
    chunk.set([&](u32 k) { return row.at(first, known, k); });
    chunk.store(out + first);
  }
#pragma unroll 1
  for (u64 i = chunks * kCount + spread.self; i < numel; i += spread.threads) {
    out[i] = narrow<T>(row.at(i, static_cast<f64>(i), 0));
  }
}

}  // namespace kiln::families
