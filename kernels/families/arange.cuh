// out[i] = start + i * step: floats in f64 and rounded once, integers modulo their size.
#pragma once

#include "device/chunk.cuh"
#include "device/convert.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

template <class T>
KILN_DEVICE auto number_in_row(T start, T step, u64 i) {
  if constexpr (kIsFloat<T>) {
    const f64 number = math::fma(static_cast<f64>(i), static_cast<f64>(widen(step)),
                                 static_cast<f64>(widen(start)));
    return convert<T>(number);
  } else {
    return static_cast<T>(static_cast<u64>(start) + i * static_cast<u64>(step));
  }
}

template <class T>
KILN_DEVICE void arange(u64 numel, T start, T step, T* out) {
  constexpr u32 kCount = 16 / sizeof(T);
  const Spread spread(numel);
  if (spread.is_surplus()) return;
  const u64 chunks = address_of(out) % 16 == 0 ? numel / kCount : 0;
#pragma unroll 1
  for (u64 c = spread.self; c < chunks; c += spread.threads) {
    Chunk<T, kCount> chunk;
    chunk.clear();
#pragma unroll 1
    for (u32 k = 0; k < kCount; ++k) {
      Chunk<T, 1> next;
      next.fill(narrow<T>(number_in_row(start, step, c * kCount + k)));
      chunk.append(next);
    }
    chunk.store(out + c * kCount);
  }
#pragma unroll 1
  for (u64 i = chunks * kCount + spread.self; i < numel; i += spread.threads) {
    out[i] = narrow<T>(number_in_row(start, step, i));
  }
}

}  // namespace kiln::families
