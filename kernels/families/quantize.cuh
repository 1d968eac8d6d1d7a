// Activations to Q8_1: of each 32 values the largest magnitude / 127 is the step.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "families/dequantize.cuh"
#include "gguf/q8_1.cuh"

namespace kiln::families {

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

// Rows of `columns` values, as many as the launch has blocks along y, to rows of `padded` / 32
// blocks. `padded` is a multiple of 32. The launch's threads may have any number; those along x are
// whole groups.
template <class T>
KILN_DEVICE void quantize_q8_1(const T* x, void* out, i32 columns, i32 padded) {
  const u32 linear = block_index_y() * block_count() + block_index();
  if (linear >= kMostResidentBlocks) return;
  const u32 launched = block_count() * block_count_y();
  const u32 blocks = launched < kMostResidentBlocks ? launched : kMostResidentBlocks;
  const u32 of_row = static_cast<u32>(padded) / 32;
  const u64 groups = static_cast<u64>(of_row) * block_count_y();
  const u32 lane = thread_index() % kQuantizeThreads;
  const u32 groups_of_block = block_size() / kQuantizeThreads;
  auto* const q8_1 = static_cast<gguf::Q8_1*>(out);
#pragma unroll 1
  for (u64 first = static_cast<u64>(linear) * groups_of_block; first < groups;
       first += static_cast<u64>(blocks) * groups_of_block) {
    // All lanes stay to shuffle; those behind the end do the last group again, and keep it.
    const u64 mine = first + thread_index() / kQuantizeThreads;
    const u64 group = mine < groups ? mine : groups - 1;
    const u64 row = group / of_row;
    const u32 at = static_cast<u32>(group - row * of_row) * 32 + lane * 4;
    f32 v[4];
    load_four(x + row * static_cast<u32>(columns), at, static_cast<u32>(columns), v);
    f32 largest = 0, sum = 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
      const f32 magnitude = math::abs(v[k]);
      largest = magnitude > largest ? magnitude : largest;
      sum += v[k];
    }
    largest = wave_reduce(
        largest, [](f32 a, f32 b) { return a > b ? a : b; }, kQuantizeThreads);
    sum = wave_sum(sum, kQuantizeThreads);
    const f32 d = largest / 127;
    u32 quants = 0;
    if (largest != 0) {
#pragma unroll
      for (u32 k = 0; k < 4; ++k) quants |= quantized(v[k], d) << 8 * k;
    }
    if (mine >= groups) continue;
    q8_1[group].quants[lane] = quants;
    if (lane == 0) {
      q8_1[group].d_and_s = narrow<f16>(d).bits | static_cast<u32>(narrow<f16>(sum).bits) << 16;
    }
  }
}

}  // namespace kiln::families
