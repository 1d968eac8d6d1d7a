// dst[r] = softmax of row r: rows are contiguous. The threads along y share a row; each thread
// along x has a row of its own.
//
// One walk finds the row's maximum and the sum of its exponentials together, a second writes.
#pragma once

#include "device/arithmetic.cuh"
#include "device/block.cuh"
#include "device/limits.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

// The maximum of some numbers, and the sum of exp(number - maximum).
template <class M>
struct Exponentials {
  using N = typename M::Number;
  struct State {
    N maximum;
    N sum;
  };
  KILN_DEVICE static State identity() { return {least<N, N>(), 0}; }
  KILN_DEVICE static State join(State a, State b) {
    if (b.sum == 0) return a;
    if (a.sum == 0) return b;
    const bool swapped = b.maximum > a.maximum;
    const State& high = swapped ? b : a;
    const State& low = swapped ? a : b;
    return {high.maximum, high.sum + low.sum * M::exp(low.maximum - high.maximum)};
  }
  // Infinity makes the sum NaN, as NaN does; its negative adds nothing.
  KILN_DEVICE static State take(State state, N x) {
    if (x == least<N, N>()) return state;
    return join(state, {x, x - x + 1});
  }
  KILN_DEVICE static State shuffle(State s, u32 source, u32 width, Here here) {
    return {device::shuffle(s.maximum, source, width, here),
            device::shuffle(s.sum, source, width, here)};
  }
};

template <class T>
KILN_DEVICE void softmax(const T* src, T* dst, i32 columns) {
  // Exact exponentials: those of f16 are summed, where an approximation's bias would add up.
  using M = Arithmetic<typename Arithmetic<T>::Number>;
  using E = Exponentials<M>;
  const u32 count = static_cast<u32>(columns);
  // Threads that share rows with others along x take them alone.
  const bool shared = block_size() == 1;
  const u64 row = static_cast<u64>(block_index()) * block_size() + thread_index();
  const T* const from = src + row * count;
  T* const to = dst + row * count;
  const u32 first = shared ? thread_y() : 0;
  const u32 step = shared ? block_y() : 1;
  if (!shared && thread_y() != 0) return;

  typename E::State state = E::identity();
#pragma unroll 1
  for (u32 i = first; i < count; i += step) state = E::take(state, widen(from[i]));
  if (shared) state = block_reduce<E>(state);
  const auto scale = 1 / state.sum;
#pragma unroll 1
  for (u32 i = first; i < count; i += step) {
    to[i] = narrow<T>(M::exp(widen(from[i]) - state.maximum) * scale);
  }
}

}  // namespace kiln::families
