// Reductions of a pool's window: its largest element, or the mean of all elements.
#pragma once

#include "device/convert.cuh"
#include "functors/reduction.cuh"

namespace kiln::functors {

// identity() starts a state, take() adds an element, and result() takes the number of elements.
template <class T>
struct Largest {
  using State = typename Max<T>::State;
  KILN_DEVICE static State identity() { return Max<T>::identity(); }
  KILN_DEVICE static State take(State state, T x) { return Max<T>::take(state, x, 0); }
  KILN_DEVICE static T result(State state, u32) { return Max<T>::result(state, 0); }
};

// The type in which the elements of a window are summed. Sums of integers are exact.
template <class T>
struct WindowSumOf {
  using Type = Accumulate<T>;
};
template <>
struct WindowSumOf<u32> {
  using Type = u64;
};

// For integers, the quotient is truncated.
template <class T>
struct Mean {
  using State = typename WindowSumOf<T>::Type;
  KILN_DEVICE static State identity() { return 0; }
  KILN_DEVICE static State take(State state, T x) {
    return state + static_cast<State>(device::widen(x));
  }
  KILN_DEVICE static T result(State state, u32 count) {
    const State mean = state / static_cast<State>(count);
    if constexpr (device::kIsFloat<T>) {
      return device::narrow<T>(mean);
    } else {
      return static_cast<T>(mean);
    }
  }
};

}  // namespace kiln::functors
