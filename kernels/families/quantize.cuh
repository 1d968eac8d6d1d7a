// Quantizes activations to Q8_1. The step of each 32 values is their largest magnitude / 127.
#pragma once

#include "device/chunk.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"
#include "gguf/q8_1.cuh"

namespace kiln::families {

using namespace device;

// Number of threads that share 32 values.
inline constexpr u32 kQuantizeThreads = 8;

// Loads four values from column `at` on of a row of `columns` columns. Behind the row's end they
// are 0.
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

// Quotients by one positive number, found and rounded like those of divisions. Divisions take more
// instructions, as each has a branch for numbers near the ends of f32. Here all numbers are scaled
// away from the lower end, and quants are far from the upper one.
struct Quotients {
  f32 scale, divisor, reciprocal;

  KILN_DEVICE explicit Quotients(f32 by)
      : scale(by < 0x1p-60f ? 0x1p100f : 1.0f),
        divisor(by * scale),
        reciprocal(reciprocal_approximate(divisor)) {
    reciprocal = math::fma(math::fma(-divisor, reciprocal, 1.0f), reciprocal, reciprocal);
  }
  KILN_DEVICE f32 of(f32 x) const {
    const f32 scaled = x * scale;
    f32 quotient = scaled * reciprocal;
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
      quotient = math::fma(math::fma(-divisor, quotient, scaled), reciprocal, quotient);
    }
    return quotient;
  }
};

// Returns the quotient rounded to an integer, halves away from zero, as a byte.
KILN_DEVICE u32 quantized(f32 quotient) {
  return static_cast<u32>(static_cast<i32>(math::round(quotient))) & 0xffu;
}

// Quantizes row y of `columns` values to row y of `padded` / 32 blocks, for each y of the grid.
// With `order`, reads row order[y] / each instead. `padded` is a multiple of 32. Each block has
// whole groups of kQuantizeThreads threads.
template <class T>
KILN_DEVICE void quantize_q8_1(const T* x, void* out, i32 columns, i32 padded,
                               const u32* order = nullptr, u32 each = 1) {
  const u32 groups = static_cast<u32>(padded) / 32;
  const u32 of_block = block_size() / kQuantizeThreads;
  if (leaves_to_all() || block_index() * of_block >= groups) return;
  const u64 y = block_index_y();
  const u32 lane = thread_index() % kQuantizeThreads;
  const u64 from = order == nullptr ? y : order[y] / each;
  const T* const row = x + from * static_cast<u32>(columns);
  gguf::Q8_1* const blocks = static_cast<gguf::Q8_1*>(out) + y * groups;
#pragma unroll 1
  for (u32 first = block_index() * of_block; first < groups; first += all_blocks() * of_block) {
    // All lanes stay for the exchanges. Lanes behind the end load and store nothing.
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
      const Quotients by_d(d);
#pragma unroll
      for (u32 k = 0; k < 4; ++k) quants |= quantized(by_d.of(v[k])) << 8 * k;
    }
    blocks[group].quants[lane] = quants;
    if (lane == 0) {
      blocks[group].d_and_s = narrow<f16>(d).bits | static_cast<u32>(narrow<f16>(sum).bits) << 16;
    }
  }
}

}  // namespace kiln::families
