// How a team of threads reduces the elements of a row or of a part of one. Contiguous elements are
// loaded by aligned chunks, with single elements before and after them.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/limits.cuh"
#include "device/platform.cuh"
#include "tuning/rows.hpp"

namespace kiln::families {

using namespace device;

// Chunks that a thread loads at once.
inline constexpr u32 kChunksAhead = tuning::kPiecesAhead;

// The order of the elements. InOrder leaves elements as they are. EitherOrder can reverse their
// order, so that a search for the greatest element finds the least.
template <class T>
struct InOrder {
  KILN_DEVICE explicit InOrder(bool /*reversed*/ = false) {}
  KILN_DEVICE T turned(T x) const { return x; }
  template <u32 kCount>
  KILN_DEVICE void turn(Chunk<T, kCount>&) const {}
};
template <class T>
struct EitherOrder {
  BitsOf<T> bits;  // to flip: none, or all (for floats the sign) to reverse the order

  KILN_DEVICE explicit EitherOrder(bool reversed) : bits(0) {
    constexpr u64 kAll = kIsInteger<T> ? ~0ull : 1ull << (8 * sizeof(T) - 1);
    if (reversed) bits = static_cast<BitsOf<T>>(kAll);
  }
  KILN_DEVICE T turned(T x) const { return bit_cast<T>(static_cast<BitsOf<T>>(bits_of(x) ^ bits)); }
  template <u32 kCount>
  KILN_DEVICE void turn(Chunk<T, kCount>& chunk) const {
    Chunk<T, kCount> all;
    all.fill(bit_cast<T>(bits));
#pragma unroll
    for (u32 w = 0; w < chunk.kWords; ++w) chunk.word[w] ^= all.word[w];
  }
};

// Returns the result of a reduction of elements that order.turned() has mapped.
template <class Reduction, class Out, class Order>
KILN_DEVICE Out result_of(typename Reduction::State state, u32 last_dim, const Order& order) {
  const Out result = Reduction::result(state, last_dim);
  if constexpr (Reduction::kIsIndex) {
    return result;
  } else {
    return order.turned(result);
  }
}

// Reduces `kCount` elements: element_of(k). They are joined pairwise, which loses less precision than
// one long sum.
template <class Reduction, u32 kCount, class ElementOf>
KILN_DEVICE typename Reduction::State take_pairwise(ElementOf element_of) {
  typename Reduction::State state[kCount];
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) state[k] = Reduction::of(element_of(k));
#pragma unroll
  for (u32 step = 1; step < kCount; step *= 2) {
#pragma unroll
    for (u32 k = 0; k < kCount; k += 2 * step) {
      state[k] = Reduction::join(state[k], state[k + step]);
    }
  }
  return state[0];
}

// Reduces chunks `team.rank`, `team.rank + team.threads`, ... below `chunks`. `index` is the index
// of the first element.
template <class Reduction, class T, class Order>
KILN_DEVICE typename Reduction::State take_chunks(const T* from, u32 chunks, u32 index,
                                                  const Team& team, const Order& order) {
  constexpr u32 kCount = 16 / sizeof(T);
  auto state = Reduction::identity();
#pragma unroll 1
  for (u32 c = team.rank; c < chunks;) {
    Chunk<T, kCount> chunk[kChunksAhead];
    u32 left = 0;
#pragma unroll
    for (u32 k = 0; k < kChunksAhead; ++k) {
      const u32 at = c + k * team.threads;
      if (k != 0 && at >= chunks) continue;
      chunk[k].load(from + static_cast<u64>(at) * kCount);
      ++left;
    }
#pragma unroll 1
    for (;;) {
      order.turn(chunk[0]);
      auto part = Reduction::identity();
      if constexpr (Reduction::kIsIndex) {
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) {
          part = Reduction::take(part, chunk[0].get(j), index + c * kCount + j);
        }
      } else {
        part = take_pairwise<Reduction, kCount>([&](u32 j) { return chunk[0].get(j); });
      }
      state = Reduction::join(state, part);
      c += team.threads;
      if (--left == 0) break;
#pragma unroll
      for (u32 k = 0; k + 1 < kChunksAhead; ++k) chunk[k] = chunk[k + 1];
    }
  }
  return state;
}

// Reduces a thread's share of `count` contiguous elements. `index` is the index of the first one.
template <class Reduction, class T, class Order>
KILN_DEVICE typename Reduction::State take_neighbours(const T* from, u32 count, u32 index,
                                                      const Team& team, const Order& order) {
  constexpr u32 kCount = 16 / sizeof(T);
  const u32 gap = (0 - static_cast<u32>(address_of(from) / sizeof(T))) & (kCount - 1);
  const u32 before = gap < count ? gap : count;
  const u32 chunks = (count - before) / kCount, between = chunks * kCount;
  const u32 single = count - between;
  // The first single element is loaded before the chunks, to overlap with them.
  const auto place = [&](u32 i) { return i < before ? i : i + between; };
  u32 i = team.rank;
  T one = Reduction::neutral();
  if (i < single) one = from[place(i)];
  auto state = take_chunks<Reduction>(from + before, chunks, index + before, team, order);
  auto few = Reduction::identity();
#pragma unroll 1
  while (i < single) {
    few = Reduction::take(few, order.turned(one), index + place(i));
    i += team.threads;
    if (i < single) one = from[place(i)];
  }
  return Reduction::join(state, few);
}

// Reduces a thread's share of elements that are `stride` apart, loading kAhead at once.
template <class Reduction, u32 kAhead, class T, class Order>
KILN_DEVICE typename Reduction::State take_strided(const T* from, u64 stride, u32 count, u32 index,
                                                   const Team& team, const Order& order) {
  const T nothing = order.turned(Reduction::neutral());
  const u64 step = team.threads * stride;
  auto state = Reduction::identity();
  from += team.rank * stride;
#pragma unroll 1
  for (u32 i = team.rank; i < count;) {
    T x[kAhead];
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      x[k] = nothing;
      if (i + k * team.threads < count) x[k] = *from;
      from += step;
    }
    auto few = Reduction::identity();
    if constexpr (Reduction::kIsIndex) {
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k, i += team.threads) {
        few = Reduction::take(few, order.turned(x[k]), index + i);
      }
    } else {
      few = take_pairwise<Reduction, kAhead>([&](u32 k) { return order.turned(x[k]); });
      i += kAhead * team.threads;
    }
    state = Reduction::join(state, few);
  }
  return state;
}

// Reduces a thread's share of contiguous or strided elements. Contiguous elements arrive sooner one
// by one if there are few.
template <class Reduction, u32 kAhead, class T, class Order>
KILN_DEVICE typename Reduction::State take_elements(const T* from, u64 stride, u32 count,
                                                    const Team& team, const Order& order) {
  if (stride == 1 && count > 4 * team.threads) {
    return take_neighbours<Reduction>(from, count, 0, team, order);
  }
  return take_strided<Reduction, kAhead>(from, stride, count, 0, team, order);
}

}  // namespace kiln::families
