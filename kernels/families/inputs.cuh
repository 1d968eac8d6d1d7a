// The inputs of an elementwise kernel, which may differ in type: a chunk of each, and functions
// that compare their sizes.
#pragma once

#include "device/chunk.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

template <u32... I>
struct Sequence {};
template <u32 N, u32... I>
struct MakeSequence : MakeSequence<N - 1, N - 1, I...> {};
template <u32... I>
struct MakeSequence<0, I...> {
  using Type = Sequence<I...>;
};

// Slot holds a chunk of input I, Slots a chunk of every input.
template <u32 I, class T, u32 kCount>
struct Slot {
  Chunk<T, kCount> chunk;
};
template <class Numbers, u32 kCount, class... In>
struct Slots;
template <u32... I, u32 kCount, class... In>
struct Slots<Sequence<I...>, kCount, In...> : Slot<I, In, kCount>... {};

template <u32 I, class T, u32 kCount>
KILN_DEVICE Chunk<T, kCount>& chunk_of(Slot<I, T, kCount>& slot) {
  return slot.chunk;
}
template <u32 I, class T, u32 kCount>
KILN_DEVICE const Chunk<T, kCount>& chunk_of(const Slot<I, T, kCount>& slot) {
  return slot.chunk;
}

// Position of the first number behind `wanted` that equals it, or their count if none does.
constexpr u32 first_of(u32) { return 0; }
template <class... Rest>
constexpr u32 first_of(u32 wanted, u32 a, Rest... rest) {
  return a == wanted ? 0 : 1 + first_of(wanted, rest...);
}

constexpr KILN_DEVICE u32 log_of(u32 power) { return power == 1 ? 0 : 1 + log_of(power / 2); }

constexpr u32 largest(u32 a) { return a; }
template <class... Rest>
constexpr u32 largest(u32 a, u32 b, Rest... rest) {
  return largest(a > b ? a : b, rest...);
}

constexpr u32 smallest(u32 a) { return a; }
template <class... Rest>
constexpr u32 smallest(u32 a, u32 b, Rest... rest) {
  return smallest(a < b ? a : b, rest...);
}

}  // namespace kiln::families
