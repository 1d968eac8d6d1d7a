// Activations to Q8_1: of each 32 values the largest magnitude / 127 is the step.
#pragma once

#include "device/chunk.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "gguf/q8_1.cuh"

namespace kiln::families {

using namespace device;

// Threads that share 32 values.
inline constexpr u32 kQuantizeThreads = 8;

// Values from `at` of a row of `columns`; beyond its end 0.
template <class T>
KILN_DEVICE void load_four(const T* row, u32 at, u32 columns, f32 (&x)[4]) {
  if (at + 4 <= columns && address_of(row + at) % (4 * sizeof(T)) == 0) {
    Chunk<T, 4> chunk;
    chunk.load(row + at);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) x[k] = widen(chunk.get(k));
  } else {
#pragma unroll
    for (u32 k = 0; k < 4; ++k) x[k] = at + k < columns ? widen(row[at + k]) : 0;
  }
}

// x / d to the nearest whole number, halves away from zero.
KILN_DEVICE u32 quantized(f32 x, f32 d) {
  return static_cast<u32>(static_cast<i32>(math::round(math::quotient_in_f32(x, d)))) & 0xffu;
}

// Row y of `columns` values to row y of `padded` / 32 blocks, for each y of the launch's blocks.
// With `order`: row order[y] / each. `padded` is a multiple of 32; the threads of a block are whole
// groups.
template <class T>
KILN_DEVICE void quantize_q8_1(const T* x, void* out, i32 columns, i32 padded,
                               const u32* order = nullptr, u32 each = 1) {
  const u32 groups = static_cast<u32>(padded) / 32;
  const u32 of_block = block_size() / kQuantizeThreads;
  if (block_index() * of_block >= groups) return;
  const u64 y = block_index_y();
  const u32 lane = thread_index() % kQuantizeThreads;
  const u64 from = order == nullptr ? y : order[y] / each;
  const T* const row = x + from * static_cast<u32>(columns);
  gguf::Q8_1* const blocks = static_cast<gguf::Q8_1*>(out) + y * groups;
#pragma unroll 1
  for (u32 first = block_index() * of_block; first < groups; first += block_count() * of_block) {
    // All lanes stay to shuffle; those behind the end read nothing, and keep what they have.
    const u32 group = first + thread_index() / kQuantizeThreads;
    f32 v[4];
    load_four(row, group * 32 + lane * 4, static_cast<u32>(columns), v);
    f32 largest = 0, sum = 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
      const f32 magnitude = math::abs(v[k]);
      largest = magnitude > largest ? magnitude : largest;
      sum += v[k];
    }
#pragma unroll
    for (u32 mask = kQuantizeThreads / 2; mask != 0; mask /= 2) {
      const f32 other = exchange(largest, mask, kQuantizeThreads);
      largest = other > largest ? other : largest;
      sum += exchange(sum, mask, kQuantizeThreads);
    }
    if (group >= groups) continue;
    const f32 d = largest / 127;
    u32 quants = 0;
    if (d != 0) {
#pragma unroll
      for (u32 k = 0; k < 4; ++k) quants |= quantized(v[k], d) << 8 * k;
    }
    blocks[group].quants[lane] = quants;
    if (lane == 0) {
      blocks[group].d_and_s = narrow<f16>(d).bits | static_cast<u32>(narrow<f16>(sum).bits) << 16;
    }
  }
}

}  // namespace kiln::families
