// Reductions over the lanes of a wave by monoids. A monoid's values may be structs. It provides
// identity(), an associative and commutative join(a, b), and exchange(value, mask, width), which
// moves a value between lanes.
#pragma once

#include "device/platform_lanes.cuh"
#include "device/wave.cuh"

namespace kiln::device {

// Returns the value of the lane whose index differs from this one's in the bits of `mask`, which is
// below `width`. All groups of the wave call it together. Values have 4 or 8 bytes.
template <class T>
KILN_DEVICE T exchange(T value, u32 mask, u32 width, Here here = KILN_HERE) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "widen small values first");
  if constexpr (sizeof(T) == 4) {
    return bit_cast<T>(exchange_word(bit_cast<u32>(value), lane_index(), mask, width, here));
  } else {
    const u64 bits = bit_cast<u64>(value);
    const u32 low = exchange_word(static_cast<u32>(bits), lane_index(), mask, width, here);
    const u32 high = exchange_word(static_cast<u32>(bits >> 32), lane_index(), mask, width, here);
    return bit_cast<T>(static_cast<u64>(high) << 32 | low);
  }
}

// Reduces over the lanes of each group of `width` whose indices have the same remainder modulo
// `step`; both are powers of two. Every lane gets the result. All groups of the wave call it
// together.
template <class Monoid, class T>
KILN_DEVICE T join_lanes(T value, u32 width = wave_width(), u32 step = 1, Here here = KILN_HERE) {
#pragma unroll 1
  for (u32 mask = width / 2; mask >= step; mask /= 2) {
    value = Monoid::join(value, Monoid::exchange(value, mask, width, here));
  }
  return value;
}

}  // namespace kiln::device
