// Atomic sums of all elements of a chunk. Each sum is rounded to the element type.
#pragma once

#include "device/atomics.cuh"
#include "device/chunk.cuh"
#include "device/platform_atomics.cuh"

namespace kiln::device {

// `address` must be a multiple of the chunk's size in bytes.
template <class T, u32 kCount>
KILN_DEVICE void atomic_sum(T* address, const Chunk<T, kCount>& chunk) {
#pragma unroll
  for (u32 i = 0; i < kCount; ++i) atomic_sum(address + i, chunk.get(i));
}
#if KILN_HAS_WIDE_ATOMICS
KILN_DEVICE void atomic_sum(f32* address, const Chunk<f32, 4>& chunk) {
  atomic_add_f32_bits(address, chunk.word);
}
KILN_DEVICE void atomic_sum(f16* address, const Chunk<f16, 8>& chunk) {
  atomic_add_f16_bits(address, chunk.word);
}
KILN_DEVICE void atomic_sum(bf16* address, const Chunk<bf16, 8>& chunk) {
  atomic_add_bf16_bits(address, chunk.word);
}
#elif KILN_HAS_PAIR_ATOMICS
KILN_DEVICE void atomic_sum(f16* address, const Chunk<f16, 8>& chunk) {
#pragma unroll
  for (u32 w = 0; w < 4; ++w) atomic_add_f16_pair_bits(address + 2 * w, chunk.word[w]);
}
#endif

}  // namespace kiln::device
