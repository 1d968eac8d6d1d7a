// Collective operations of a wave, for any wave width: 32 or 64, asked of the machine and never
// hard-coded. Each function works on a group of `width` lanes, by default the whole wave. All lanes
// of the group must call it together.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

KILN_DEVICE u32 thread_rank() { return thread_y() * block_size() + thread_index(); }
KILN_DEVICE u32 block_threads() { return block_size() * block_y(); }

KILN_DEVICE u32 lane_index() { return thread_rank() & (wave_width() - 1); }
KILN_DEVICE u32 wave_index() { return thread_rank() / wave_width(); }
KILN_DEVICE u32 wave_count() { return (block_threads() + wave_width() - 1) / wave_width(); }

// Returns the value that lane `source` of the group holds. Values have 4 or 8 bytes.
template <class T>
KILN_DEVICE T shuffle(T value, u32 source, u32 width = wave_width(), Here here = KILN_HERE) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "widen small values first");
  if constexpr (sizeof(T) == 4) {
    return bit_cast<T>(shuffle_word(bit_cast<u32>(value), source, width, here));
  } else {
    const u64 bits = bit_cast<u64>(value);
    const u32 low = shuffle_word(static_cast<u32>(bits), source, width, here);
    const u32 high = shuffle_word(static_cast<u32>(bits >> 32), source, width, here);
    return bit_cast<T>(static_cast<u64>(high) << 32 | low);
  }
}

// Returns the value of the lane whose index differs from this one's in the bits of `mask`.
template <class T>
KILN_DEVICE T shuffle_xor(T value, u32 mask, u32 width = wave_width(), Here here = KILN_HERE) {
  return shuffle(value, (lane_index() ^ mask) & (width - 1), width, here);
}

// Reduces over the group; every lane gets the result. `join` is associative and commutative.
template <class T, class Join>
KILN_DEVICE T wave_reduce(T value, Join join, u32 width = wave_width(), Here here = KILN_HERE) {
  for (u32 mask = width / 2; mask != 0; mask /= 2) {
    value = join(value, shuffle_xor(value, mask, width, here));
  }
  return value;
}

template <class T>
KILN_DEVICE T wave_sum(T value, u32 width = wave_width(), Here here = KILN_HERE) {
  return wave_reduce(
      value, [](T a, T b) { return a + b; }, width, here);
}

// Returns the sum of the values of this lane and all lanes before it.
template <class T>
KILN_DEVICE T wave_inclusive_sum(T value, Here here = KILN_HERE) {
  const u32 lane = lane_index();
  for (u32 distance = 1; distance < wave_width(); distance *= 2) {
    const T before = shuffle(value, (lane - distance) & (wave_width() - 1), wave_width(), here);
    if (lane >= distance) value += before;
  }
  return value;
}

// Votes of the whole wave. Bit i of a ballot is the vote of lane i.
KILN_DEVICE bool wave_any(bool predicate, Here here = KILN_HERE) {
  return wave_ballot(predicate, here) != 0;
}
KILN_DEVICE bool wave_all(bool predicate, Here here = KILN_HERE) {
  return wave_ballot(!predicate, here) == 0;
}

// The lanes before this one.
KILN_DEVICE Lanes lanes_below() { return (Lanes{1} << lane_index()) - 1; }

// Returns the lanes that take part and agree with this lane in the lowest `kBits` bits of `value`.
template <u32 kBits>
KILN_DEVICE Lanes wave_match(u32 value, bool takes_part, Here here = KILN_HERE) {
  Lanes peers = wave_ballot(takes_part, here);
#pragma unroll
  for (u32 b = 0; b < kBits; ++b) {
    const bool is_set = (value >> b & 1u) != 0;
    const Lanes votes = wave_ballot(is_set, here);
    peers &= is_set ? votes : ~votes;
  }
  return peers;
}

}  // namespace kiln::device
