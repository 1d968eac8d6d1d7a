// Converts rows of floats to f16, which has numbers up to 65504 and loses bits below 2^-14. A row
// whose largest magnitude is 2^-6 to 65504 is not scaled. Any other is multiplied by the power of
// two that brings its largest magnitude to 2^14 to 2^15. NaN and infinities stay, and do not count.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/half_layout.cuh"
#include "device/join.cuh"
#include "tuning/fused_products.hpp"

namespace kiln::families {

using namespace device;

struct Largest {
  KILN_DEVICE static u32 identity() { return 0; }
  KILN_DEVICE static u32 join(u32 a, u32 b) { return a > b ? a : b; }
  KILN_DEVICE static u32 exchange(u32 value, u32 mask, u32 width, Here here) {
    return device::exchange(value, mask, width, here);
  }
};

// Returns the biased exponent of a row's factor, at most 253, so that the inverse is a normal
// number, too. `largest` has the bits of a finite f32.
KILN_DEVICE u32 half_exponent(u32 largest) {
  constexpr u32 kBias = 127, kMin = (kBias - 6) << 23, kMax = 0x477fe000;  // 2^-6, 65504
  if (largest == 0 || (largest >= kMin && largest <= kMax)) return kBias;
  const u32 exponent = 2 * kBias + 14 - (largest >> 23);
  return exponent < 253 ? exponent : 253;
}

// Returns the larger of `largest` and the magnitude of x. Infinity and NaN count as 0.
KILN_DEVICE u32 max_magnitude(u32 largest, f32 x) {
  const u32 magnitude = bit_cast<u32>(x) & 0x7fffffff;
  return Largest::join(largest, magnitude < 0x7f800000 ? magnitude : 0);
}

// Stores four columns of a vector. They are a pair in each of two pieces.
KILN_DEVICE void put_in_chunk(f16* tile, u32 vector, u32 column, const Chunk<f16, 4>& four) {
  const HalfPlace place = half_place(column % kHalfChunkColumns);
  f16* const chunk = tile + half_chunk(0, column, 0);
#pragma unroll
  for (u32 i = 0; i < 2; ++i) {
    u32* const to =
        reinterpret_cast<u32*>(chunk + half_piece(vector, place.piece + i) / 2 + place.within);
    *to = four.word[i];
  }
}

// Converts rows of `columns` values, one per block. They go to `out` one behind the other or, with
// `in_chunks`, in the layout of half_matrix (device/half_layout.cuh). The inverse of each factor
// goes to `scales`. With `places` (families/rank_experts.cuh), row r is stored for `each` tasks
// from r * each on.
template <class T>
KILN_DEVICE void half_rows(const T* x, f16* out, f32* scales, const u32* places, u32 columns,
                           u32 each, bool in_chunks) {
  constexpr u32 kAhead = 4;  // chunks that a thread holds; 256 threads hold a row of 4096
  const u32 number = block_index();
  const u64 before = static_cast<u64>(number) * columns;
  const T* const row = x + before;
  const auto place = [&](u32 t) {
    return places == nullptr ? number : places[static_cast<u64>(number) * each + t];
  };
  // Chunks are padded with zeros from `columns` on.
  const u32 all = in_chunks ? half_steps(columns) * tuning::kHalfSpan : columns;
  const bool by_chunks = columns % 4 == 0 && address_of(x) % (4 * sizeof(T)) == 0 &&
                         address_of(out) % (4 * sizeof(f16)) == 0;
  const u32 step = block_size() * 4, batch = kAhead * step;
  u32 largest = 0, first = thread_index() * 4;
  Chunk<T, 4> kept[kAhead];
  const auto load = [&] {
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      const u32 column = first + k * step;
      kept[k].clear();
      if (by_chunks) {
        if (column < columns) kept[k].load(row + column);
      } else {
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          if (column + j < columns) kept[k].put(j, row[column + j]);
        }
      }
    }
  };
#pragma unroll 1
  for (;; first += batch) {
    load();
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
#pragma unroll
      for (u32 j = 0; j < 4; ++j) largest = max_magnitude(largest, widen(kept[k].get(j)));
    }
    if (first + batch >= all) break;
  }
  const u32 exponent = half_exponent(block_reduce<Largest>(largest));
#pragma unroll 1
  for (u32 t = thread_index(); t < each; t += block_size()) {
    if (place(t) != tuning::kNoPlace) scales[place(t)] = bit_cast<f32>((254 - exponent) << 23);
  }
  const f32 factor = bit_cast<f32>(exponent << 23);
  // Goes backwards, because the last chunks are still in registers.
#pragma unroll 1
  for (;;) {
#pragma unroll 1
    for (u32 t = 0; t < each; ++t) {
      const u32 vector = place(t);
      if (vector == tuning::kNoPlace) continue;
      f16* const row_out = out + (in_chunks ? half_chunk(vector, 0, columns) : before);
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        const u32 column = first + k * step;
        if (column >= all) continue;
        Chunk<f16, 4> four;
        four.set([&](u32 j) { return factor * widen(kept[k].get(j)); });
        if (in_chunks) {
          put_in_chunk(row_out, vector % kHalfTileVectors, column, four);
        } else if (by_chunks) {
          four.store(row_out + column);
        } else {
#pragma unroll
          for (u32 j = 0; j < 4; ++j) {
            if (column + j < columns) row_out[column + j] = four.get(j);
          }
        }
      }
    }
    if (first < batch) break;
    first -= batch;
    load();
  }
}

}  // namespace kiln::families
