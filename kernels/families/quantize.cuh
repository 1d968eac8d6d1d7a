// Quantizes activations to Q8_1. The step of each 32 values is their largest magnitude / 127.
#pragma once

#include "device/chunk.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "device/platform_extreme.cuh"
#include "families/spread.cuh"
#include "gguf/q8_1.cuh"
#include "tuning/quantized.hpp"

namespace kiln::families {

using namespace device;

// Loads kCount values from column `at` on of a row of `columns` columns. Behind the row's end they
// are 0.
template <u32 kCount, class T>
KILN_DEVICE void load_values(const T* row, u32 at, u32 columns, f32* x) {
  if (likely(at + kCount <= columns && address_of(row + at) % (kCount * sizeof(T)) == 0)) {
    Chunk<T, kCount> chunk;
    chunk.load(row + at);
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) x[k] = widen(chunk.get(k));
  } else {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) x[k] = at + k < columns ? widen(row[at + k]) : 0;
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

// Returns largest / 127, rounded once unless it is subnormal. Quotients by this number are right
// after one correction, because its reciprocal and all remainders are.
KILN_DEVICE f32 step_of(f32 largest) {
  constexpr f32 kReciprocal = 1.0f / 127;
  const f32 quotient = largest * kReciprocal;
  return math::fma(math::fma(-127.0f, quotient, largest), kReciprocal, quotient);
}

// Returns four quotients rounded to integers, halves away from zero, as bytes.
KILN_DEVICE u32 quantized(const Quotients& by, const f32* x) {
  u32 quants[4];
#pragma unroll
  for (u32 k = 0; k < 4; ++k) quants[k] = static_cast<u32>(math::rounded_integer(by.of(x[k])));
  return permute_bytes<0, 1, 4, 5>(permute_bytes<0, 4, 0, 4>(quants[0], quants[1]),
                                   permute_bytes<0, 4, 0, 4>(quants[2], quants[3]));
}

// Quantizes a row of `columns` values to `groups` blocks. `kThreads` neighbouring threads share 32
// values.
template <u32 kThreads, class T>
KILN_DEVICE void quantize_row(const T* row, gguf::Q8_1* blocks, u32 columns, u32 groups) {
  constexpr u32 kValues = 32 / kThreads;                                        // of a thread
  constexpr u32 kAtOnce = kValues < 16 / sizeof(T) ? kValues : 16 / sizeof(T);  // loaded together
  const u32 of_block = block_size() / kThreads, lane = thread_index() % kThreads;
  // The place of a thread's value `k` among the 32.
  const auto column_of = [&](u32 k) {
    return (k / kAtOnce * kThreads + lane) * kAtOnce + k % kAtOnce;
  };
#pragma unroll 1
  for (u32 first = block_index() * of_block; first < groups; first += all_blocks() * of_block) {
    // All lanes stay for the exchanges. Lanes behind the end load and store nothing.
    const u32 group = first + thread_index() / kThreads;
    f32 v[kValues];
#pragma unroll
    for (u32 k = 0; k < kValues; k += kAtOnce) {
      load_values<kAtOnce>(row, group * 32 + column_of(k), columns, v + k);
    }
    f32 largest = 0, sum = 0;
#pragma unroll
    for (u32 k = 0; k < kValues; ++k) {
      largest = math::extreme<1, false>(largest, math::abs(v[k]));
      sum += v[k];
    }
#pragma unroll
    for (u32 mask = kThreads / 2; mask != 0; mask /= 2) {
      largest = math::extreme<1, false>(largest, exchange(largest, mask, kThreads));
      sum += exchange(sum, mask, kThreads);
    }
    if (group >= groups) continue;
    const f32 d = step_of(largest);
    u32 quants[kValues / 4] = {};
    if (d != 0) {
      const Quotients by_d(d);
#pragma unroll
      for (u32 w = 0; w < kValues / 4; ++w) quants[w] = quantized(by_d, v + 4 * w);
    }
#pragma unroll
    for (u32 w = 0; w < kValues / 4; ++w) blocks[group].quants[column_of(4 * w) / 4] = quants[w];
    if (lane == 0) {
      blocks[group].d_and_s = narrow<f16>(d).bits | static_cast<u32>(narrow<f16>(sum).bits) << 16;
    }
  }
}

// Quantizes row y of `columns` values to row y of `padded` / 32 blocks, for each y of the grid.
// With `order`, reads row order[y] / each instead. `padded` is a multiple of 32. Each block has a
// multiple of eight threads.
template <class T>
KILN_DEVICE void quantize_q8_1(const T* x, void* out, i32 columns, i32 padded,
                               const u32* order = nullptr, u32 each = 1) {
  const u32 groups = static_cast<u32>(padded) / 32;
  const bool are_many = static_cast<u64>(groups) * block_count_y() >= tuning::kManyQuantized;
  const u32 of_block = block_size() / (are_many ? 4 : 8);
  if (leaves_to_all() || block_index() * of_block >= groups) return;
  const u64 y = block_index_y();
  const u64 from = order == nullptr ? y : order[y] / each;
  const T* const row = x + from * static_cast<u32>(columns);
  gguf::Q8_1* const blocks = static_cast<gguf::Q8_1*>(out) + y * groups;
  if (likely(!are_many)) return quantize_row<8>(row, blocks, static_cast<u32>(columns), groups);
  quantize_row<4>(row, blocks, static_cast<u32>(columns), groups);
}

}  // namespace kiln::families
