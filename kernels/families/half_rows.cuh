// Rows of floats as f16, which has numbers up to 65504 and loses bits below 2^-14. A row whose
// largest magnitude is far from both stays as it is; another is multiplied by the power of two that
// brings its largest magnitude to 2^14 to 2^15. NaN and infinities stay, and count for nothing.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/join.cuh"

namespace kiln::families {

using namespace device;

struct Largest {
  KILN_DEVICE static u32 identity() { return 0; }
  KILN_DEVICE static u32 join(u32 a, u32 b) { return a > b ? a : b; }
  KILN_DEVICE static u32 exchange(u32 value, u32 mask, u32 width, Here here) {
    return device::exchange(value, mask, width, here);
  }
};

// The factor's biased exponent, at most 253, so that its inverse has one, too. `largest`: bits of a
// finite f32.
KILN_DEVICE u32 half_exponent(u32 largest) {
  constexpr u32 kBias = 127, kLeast = (kBias - 6) << 23, kMost = 0x477fe000;  // 2^-6, 65504
  if (largest == 0 || (largest >= kLeast && largest <= kMost)) return kBias;
  const u32 exponent = 2 * kBias + 14 - (largest >> 23);
  return exponent < 253 ? exponent : 253;
}

// The larger one of `largest` and a magnitude, of finite numbers.
KILN_DEVICE u32 with_magnitude(u32 largest, f32 x) {
  const u32 magnitude = bit_cast<u32>(x) & 0x7fffffff;
  return Largest::join(largest, magnitude < 0x7f800000 ? magnitude : 0);
}

// Each row of `columns` values to `out`, and what undoes its factor to `scales`. A row a block.
template <class T>
KILN_DEVICE void half_rows(const T* x, f16* out, f32* scales, u32 columns) {
  constexpr u32 kAhead = 4;  // chunks that a thread has at once: a row of 4096 by 256 threads
  const u64 before = static_cast<u64>(block_index()) * columns;
  const T* const row = x + before;
  f16* const row_out = out + before;
  const bool by_chunks = columns % 4 == 0 && address_of(x) % (4 * sizeof(T)) == 0 &&
                         address_of(out) % (4 * sizeof(f16)) == 0;
  const u32 step = block_size() * 4, batch = kAhead * step;
  u32 largest = 0, first = thread_index() * 4;
  Chunk<T, 4> kept[kAhead];
  const auto load = [&] {
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      kept[k].clear();
      if (first + k * step < columns) kept[k].load(row + first + k * step);
    }
  };
  if (by_chunks) {
#pragma unroll 1
    for (;; first += batch) {
      load();
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
#pragma unroll
        for (u32 j = 0; j < 4; ++j) largest = with_magnitude(largest, widen(kept[k].get(j)));
      }
      if (first + batch >= columns) break;
    }
  } else {
#pragma unroll 1
    for (u32 i = thread_index(); i < columns; i += block_size()) {
      largest = with_magnitude(largest, widen(row[i]));
    }
  }
  const u32 exponent = half_exponent(block_reduce<Largest>(largest));
  if (thread_index() == 0) scales[block_index()] = bit_cast<f32>((254 - exponent) << 23);
  const f32 factor = bit_cast<f32>(exponent << 23);
  if (by_chunks) {
    // The last chunks are there still.
#pragma unroll 1
    for (;;) {
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        Chunk<f16, 4> chunk;
        chunk.set([&](u32 j) { return factor * widen(kept[k].get(j)); });
        if (first + k * step < columns) chunk.store(row_out + first + k * step);
      }
      if (first < batch) break;
      first -= batch;
      load();
    }
  } else {
#pragma unroll 1
    for (u32 i = thread_index(); i < columns; i += block_size()) {
      row_out[i] = narrow<f16>(factor * widen(row[i]));
    }
  }
}

}  // namespace kiln::families
