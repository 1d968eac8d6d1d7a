// The reductions. Each is a monoid with an identity: State is what is kept of the elements seen so
// far, take() joins an element, join() joins two states, and result() is what is written. of() is
// the state of one element, which reductions with kIsIndex lack.
// device/block.cuh runs it. neutral() is an element that changes no state when it follows elements
// of lower indices. A reduction with kHasOrder is computed by the reduction Given. If kReversed is
// set, Given takes the elements in reversed order, the least as the greatest
// (families/row_elements.cuh).
#pragma once

#include "device/arithmetic.cuh"
#include "device/join.cuh"
#include "device/limits.cuh"
#include "device/platform_extreme.cuh"

namespace kiln::functors {

using device::Here;

// The type in which elements of T are summed: f32 for f16, bf16 and f8. Integers are summed modulo
// 2^64.
template <class T>
struct AccumulateOf {
  using Type = typename device::Arithmetic<T>::Number;
};
template <>
struct AccumulateOf<u8> {
  using Type = u32;
};
template <class T>
using Accumulate = typename AccumulateOf<T>::Type;

template <class T>
struct Sum {
  static constexpr bool kIsIndex = false;
  static constexpr bool kHasOrder = false;
  using State = Accumulate<T>;
  KILN_DEVICE static State identity() { return 0; }
  KILN_DEVICE static T neutral() { return result(0, 0); }
  KILN_DEVICE static State of(T x) { return static_cast<State>(device::widen(x)); }
  KILN_DEVICE static State take(State state, T x, u32) { return join(state, of(x)); }
  KILN_DEVICE static State join(State a, State b) {
    if constexpr (device::kIsInteger<State>) {
      return static_cast<State>(static_cast<u64>(a) + static_cast<u64>(b));
    } else {
      return a + b;
    }
  }
  KILN_DEVICE static State exchange(State s, u32 mask, u32 width, Here here) {
    return device::exchange(s, mask, width, here);
  }
  KILN_DEVICE static T result(State state, u32) {
    return device::narrow<T>(static_cast<Accumulate<T>>(state));
  }
};
template <>
KILN_DEVICE u8 Sum<u8>::result(u32 state, u32) {
  return static_cast<u8>(state);
}

// The greatest element, or the least for kSign = -1. f16 and bf16 keep a NaN; other types ignore
// it.
template <class T, int kSign>
struct Extreme {
  static constexpr bool kHasOrder = true, kReversed = kSign < 0;
  using Given = Extreme<T, 1>;
  using Number = typename device::Arithmetic<T>::Number;
  using State = Accumulate<T>;
  static constexpr bool kKeepsNan = sizeof(T) == 2;
  static constexpr bool kIsIndex = false;

  KILN_DEVICE static State identity() {
    return kSign > 0 ? device::least<Number, T>() : device::greatest<Number, T>();
  }
  KILN_DEVICE static T neutral() { return result(identity(), 0); }
  KILN_DEVICE static State of(T x) { return static_cast<State>(device::widen(x)); }
  KILN_DEVICE static State take(State state, T x, u32) { return join(state, of(x)); }
  KILN_DEVICE static State join(State a, State b) {
    if constexpr (sizeof(State) == 4 && !device::kIsInteger<State>) {
      return device::math::extreme<kSign, kKeepsNan>(a, b);
    } else {
      const bool better = kSign > 0 ? b > a : b < a;
      return better || (!device::kIsInteger<State> && a != a) ? b : a;
    }
  }
  KILN_DEVICE static State exchange(State s, u32 mask, u32 width, Here here) {
    return device::exchange(s, mask, width, here);
  }
  KILN_DEVICE static T result(State state, u32) {
    return device::narrow<T>(static_cast<Number>(state));
  }
};
template <class T>
using Max = Extreme<T, 1>;
template <class T>
using Min = Extreme<T, -1>;

// The smallest index of the extreme. NaNs are skipped. If all elements are NaN, the index is 0.
template <class T, int kSign>
struct ExtremeIndex {
  static constexpr bool kHasOrder = true, kReversed = kSign < 0;
  using Given = ExtremeIndex<T, 1>;
  using Value = Accumulate<T>;
  static constexpr u32 kNone = ~0u;
  static constexpr bool kIsIndex = true;
  struct State {
    Value value;
    u32 index;
  };
  // For floats, the value is NaN.
  KILN_DEVICE static State identity() {
    using Number = typename device::Arithmetic<T>::Number;
    if constexpr (!device::kIsInteger<T>) return {device::quiet_nan<Number>(), kNone};
    return {kSign > 0 ? device::least<Number, T>() : device::greatest<Number, T>(), kNone};
  }
  KILN_DEVICE static T neutral() {
    using Number = typename device::Arithmetic<T>::Number;
    if constexpr (device::kIsInteger<T>) {
      return kSign > 0 ? device::least<T, T>() : device::greatest<T, T>();
    } else {
      return device::narrow<T>(device::quiet_nan<Number>());
    }
  }
  // True if `value` is better than the state's, or is the first one.
  KILN_DEVICE static bool beats(Value value, State state) {
    if constexpr (device::kIsInteger<Value>) {
      const bool better = kSign > 0 ? value > state.value : value < state.value;
      return better | (state.index == kNone);
    } else {
      const bool loses = kSign > 0 ? value <= state.value : value >= state.value;
      return !loses & (value == value);
    }
  }
  // Takes elements in the order of their indices. It has no branches, so that the elements of a
  // chunk are taken side by side.
  KILN_DEVICE static State take(State state, T x, u32 index) {
    const Value value = static_cast<Value>(device::widen(x));
    const bool wins = beats(value, state);
    return {wins ? value : state.value, wins ? index : state.index};
  }
  KILN_DEVICE static State join(State a, State b) {
    const bool ties = (b.value == a.value) & (b.index < a.index);
    const bool given = !device::kIsInteger<Value> || b.index != kNone;
    const bool wins = given & (beats(b.value, a) | ties);
    return {wins ? b.value : a.value, wins ? b.index : a.index};
  }
  KILN_DEVICE static State exchange(State s, u32 mask, u32 width, Here here) {
    return {device::exchange(s.value, mask, width, here),
            device::exchange(s.index, mask, width, here)};
  }
  // Indices count within a dim of size `last_dim`.
  KILN_DEVICE static u32 result(State state, u32 last_dim) {
    const u32 index = state.index == kNone ? 0 : state.index;
    return index < last_dim ? index : index % last_dim;
  }
};
template <class T>
using ArgMax = ExtremeIndex<T, 1>;
template <class T>
using ArgMin = ExtremeIndex<T, -1>;

}  // namespace kiln::functors
