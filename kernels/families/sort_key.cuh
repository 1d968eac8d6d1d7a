// Numbers that are ordered as the elements are. Sorts compare them.
#pragma once

#include "device/convert.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

template <class T>
using SortKey = Bits<(sizeof(T) == 8 ? 8 : 4)>;

// Returns a number of 8 * sizeof(T) bits. NaN has the greatest in either order.
template <class T>
KILN_DEVICE SortKey<T> sort_key(T x, bool descending) {
  using Key = SortKey<T>;
  constexpr u32 kBits = 8 * sizeof(T);
  constexpr Key kAll = static_cast<Key>(~0ull >> (64 - kBits));
  constexpr Key kSign = Key{1} << (kBits - 1);
  Key key = static_cast<Key>(bits_of(x));
  if constexpr (kIsFloat<T>) {
    const auto number = widen(x);
    if (number != number) return kAll;
    if (number == 0) key = 0;  // also for -0
    key = (key & kSign) != 0 ? kAll - key : key | kSign;
  } else if constexpr (static_cast<T>(-1) < 0) {
    key ^= kSign;
  }
  return descending ? kAll - key : key;
}

}  // namespace kiln::families
