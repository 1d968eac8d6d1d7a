// Atomic updates of elements of every type: `update` of what lies there, by compare and swap of the
// word that holds it. Relaxed, visible to the whole device. Memory has to come in whole words of four
// bytes, of which the element may be the last.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "device/platform_atomics.cuh"

namespace kiln::device {

template <class T, class Update>
KILN_DEVICE void atomic_update(T* address, Update update) {
  using Word = Bits<(sizeof(T) == 8 ? 8 : 4)>;
  constexpr u64 kInWord = sizeof(Word) - 1;
  const u64 where = reinterpret_cast<u64>(address);
  Word* const word = reinterpret_cast<Word*>(where & ~kInWord);
  const u32 shift = static_cast<u32>(where & kInWord) * 8;
  const Word mask = static_cast<Word>(static_cast<BitsOf<T>>(~BitsOf<T>{0})) << shift;
  Word before = atomic_load(word);
  for (;;) {
    const T old = bit_cast<T>(static_cast<BitsOf<T>>(before >> shift));
    const Word bits = static_cast<Word>(bits_of(static_cast<T>(update(old)))) << shift;
    const Word found = atomic_exchange_if(word, before, (before & ~mask) | bits);
    if (found == before) return;
    before = found;
  }
}

// The sum is rounded to T each time.
template <class T>
KILN_DEVICE void atomic_sum(T* address, T value) {
  atomic_update(address, [value](T old) { return narrow<T>(widen(old) + widen(value)); });
}
KILN_DEVICE void atomic_sum(u32* address, u32 value) { atomic_add(address, value); }
#if KILN_HAS_FLOAT_ATOMICS
KILN_DEVICE void atomic_sum(f32* address, f32 value) { atomic_add(address, value); }
KILN_DEVICE void atomic_sum(f64* address, f64 value) { atomic_add(address, value); }
#endif
// Of two bytes by pairs: the hardware adds a single one in a loop, which waits for all others. H200, us,
// sum_f16 33x333 9.2, 3.1; sum_f16 transposed 384x1500 151, 16; sum_bf16 33x333 7.2, 3.1; without the
// question of NaN.
#if KILN_HAS_PAIR_ATOMICS
struct BesideNothing {
  u32* pair;
  u32 shift;  // of the element

  KILN_DEVICE explicit BesideNothing(const void* address) {
    const u64 where = reinterpret_cast<u64>(address);
    pair = reinterpret_cast<u32*>(where & ~u64{3});
    shift = static_cast<u32>(where & 2) * 8;
  }
  // -0 leaves a neighbour as it is, unless that is a NaN: the sum may have other bits. The neighbour
  // may be no element of the array, and no float.
  KILN_DEVICE u32 bits(u16 element) const {
    return static_cast<u32>(element) << shift | 0x80000000u >> shift;
  }
  KILN_DEVICE bool is_beside_nan(u32 infinity) const {
    return (atomic_load(pair) >> (16 - shift) & 0x7fff) > infinity;
  }
};
KILN_DEVICE void atomic_sum(f16* address, f16 value) {
  const BesideNothing place(address);
  if (!likely(!place.is_beside_nan(0x7c00))) return atomic_sum<f16>(address, value);
  atomic_add_f16_pair_bits(place.pair, place.bits(value.bits));
}
#endif
#if KILN_HAS_BF16_PAIR_ATOMICS
KILN_DEVICE void atomic_sum(bf16* address, bf16 value) {
  const BesideNothing place(address);
  if (!likely(!place.is_beside_nan(0x7f80))) return atomic_sum<bf16>(address, value);
  atomic_add_bf16_pair_bits(place.pair, place.bits(value.bits));
}
#endif

// A NaN that is there stays; one that comes is ignored.
template <class T>
KILN_DEVICE void atomic_minimum(T* address, T value) {
  atomic_update(address, [value](T old) { return widen(value) < widen(old) ? value : old; });
}
template <class T>
KILN_DEVICE void atomic_maximum(T* address, T value) {
  atomic_update(address, [value](T old) { return widen(value) > widen(old) ? value : old; });
}

}  // namespace kiln::device
