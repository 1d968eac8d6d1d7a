// softmax of long rows, several blocks to a row, in two launches. A row is cut into parts of `each`
// elements, one for each block. In step 0 a block stores the sum of its part's weights in the
// workspace. In step 1 it joins the sums of its row and writes its results.
//
// The sums lie behind the workspace's counters, which are not used.
#pragma once

#include "device/block.cuh"
#include "families/softmax.cuh"
#include "tuning/workspace.hpp"

namespace kiln::families {

using namespace device;

// The sum of the weights of some elements, relative to a base. The base is one of the elements, and
// less than their maximum by at most 1, by at most 2 if sums were joined. So it rises rarely, and
// each time costs a rounding. If all elements are -infinity, so is the base, and the sum is 0.
template <class T>
struct SoftmaxSum {
  using N = typename Arithmetic<T>::Number;
  N base = Largest<N>::identity(), sum = 0;

  // Lets the base follow the maximum. Returns what to subtract from the elements that follow.
  KILN_DEVICE N follow(N maximum) {
    if (maximum > base + 1) move_to(maximum);
    return finite(base);
  }
  KILN_DEVICE void move_to(N other) {
    sum *= factor(base - finite(other));
    base = other;
  }
  KILN_DEVICE void join(const SoftmaxSum& other) {
    const N subtracted = follow(other.base);
    sum += other.sum * factor(other.base - subtracted);
  }

  KILN_DEVICE static N finite(N base) { return base == Largest<N>::identity() ? 0 : base; }
  KILN_DEVICE static N factor(N difference) {
    constexpr N kWhole = sizeof(T) == 2 ? 0x1p-24f : 1;  // 1 / softmax_weight(0)
    return softmax_weight<T>(difference) * kWhole;
  }
};

template <class T>
KILN_DEVICE void softmax_long(const T* src, T* dst, u8* workspace, u32 columns, u32 parts, u32 each,
                              u32 step) {
  using N = typename Arithmetic<T>::Number;
  constexpr u32 kCount = 16 / sizeof(T);
  const u32 row = block_index() / parts, part = block_index() - row * parts;
  const u32 begin = part * each, left = columns - begin;
  const bool same_alignment = (address_of(src) ^ address_of(dst)) % 16 == 0;
  const Team team = block_team();
  src += static_cast<u64>(row) * columns + begin;
  dst += static_cast<u64>(row) * columns + begin;
  const RowChunks<T, kCount, 1> its(team, src, left < each ? left : each, same_alignment);
  auto* const sums =
      reinterpret_cast<SoftmaxSum<T>*>(workspace + tuning::kWorkspaceCounters) + row * parts;

  Chunk<T, kCount> chunk;
  Chunk<T, 1> one;
  const auto load = [&](u32 i) {
    if (i < its.chunks) chunk.load(src + its.column_of_chunk(i));
    if (i < its.single) one.load(src + its.column_of_single(i));
  };
  load(team.rank);  // issued early, to overlap with what follows
  const bool kept = !its.has_slab(team.threads);
  // Calls use(column, elements) for each of the thread's chunks and single elements.
  const auto walk = [&](auto use) {
#pragma unroll 1
    for (u32 first = 0; its.has_slab(first); first += team.threads) {
      const u32 i = first + team.rank;
      if (opaque(!kept) != 0) load(i);
      if (i < its.chunks) use(its.column_of_chunk(i), chunk);
      if (i < its.single) use(its.column_of_single(i), one);
    }
  };

  SoftmaxSum<T> mine;
  if (step == 0) {
    walk([&](u32, const auto& elements) {
      N maximum = mine.base;
#pragma unroll
      for (u32 j = 0; j < elements.kBytes / sizeof(T); ++j) {
        maximum = Largest<N>::join(maximum, widen(elements.get(j)));
      }
      const N subtracted = mine.follow(maximum);
#pragma unroll
      for (u32 j = 0; j < elements.kBytes / sizeof(T); ++j) {
        mine.sum += softmax_weight<T>(widen(elements.get(j)) - subtracted);
      }
    });
  } else {
#pragma unroll 1
    for (u32 i = team.rank; i < parts; i += team.threads) mine.join(sums[i]);
  }
  mine.move_to(row_reduce<Largest<N>, false>(team, mine.base, 0, true));
  mine.sum = row_reduce<Total<N>, false>(team, mine.sum, 0, true);
  if (step == 0) {
    if (team.rank == 0) sums[part] = mine;
    return;
  }
  const N scale = softmax_scale<T>(mine.sum);
  walk([&](u32 column, const auto& elements) {
    auto results = elements;
    results.set(
        [&](u32 j) { return softmax_weight<T>(widen(elements.get(j)) - mine.base) * scale; });
    results.store(dst + column);
  });
}

}  // namespace kiln::families
