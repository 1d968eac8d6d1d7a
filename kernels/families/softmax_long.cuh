// softmax of a few long rows, several blocks to a row, in two launches. A row is cut into parts of
// `each` elements, one for each block. In step 0 a block stores the state of its part in the
// workspace. In step 1 it joins the states of its row and writes its results.
//
// The states lie behind the workspace's counters, which are not used.
#pragma once

#include "device/block.cuh"
#include "families/softmax.cuh"
#include "tuning/workspace.hpp"

namespace kiln::families {

using namespace device;

// The maximum of a part, and the sum of its weights relative to that maximum: 0 if all elements are
// -infinity.
template <class N>
struct SoftmaxState {
  N maximum, sum;
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
  auto* const states =
      reinterpret_cast<SoftmaxState<N>*>(workspace + tuning::kWorkspaceCounters) + row * parts;

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

  N maximum = Largest<N>::identity(), sum = 0;
  if (step == 0) {
    walk([&](u32, const auto& elements) {
#pragma unroll
      for (u32 j = 0; j < elements.kBytes / sizeof(T); ++j) {
        maximum = Largest<N>::join(maximum, widen(elements.get(j)));
      }
    });
  } else {
#pragma unroll 1
    for (u32 i = team.rank; i < parts; i += team.threads) {
      maximum = Largest<N>::join(maximum, states[i].maximum);
    }
  }
  maximum = row_reduce<Largest<N>, false>(team, maximum, 0, true);
  const N base = maximum == Largest<N>::identity() ? 0 : maximum;
  if (step == 0) {
    walk([&](u32, const auto& elements) {
#pragma unroll
      for (u32 j = 0; j < elements.kBytes / sizeof(T); ++j) {
        sum += softmax_weight<T>(widen(elements.get(j)) - base);
      }
    });
  } else {
    constexpr N kWhole = sizeof(T) == 2 ? 0x1p-24f : 1;  // 1 / softmax_weight(0)
#pragma unroll 1
    for (u32 i = team.rank; i < parts; i += team.threads) {
      sum += states[i].sum * (softmax_weight<T>(states[i].maximum - base) * kWhole);
    }
  }
  sum = row_reduce<Total<N>, false>(team, sum, 0, true);
  if (step == 0) {
    if (team.rank == 0) states[part] = {maximum, sum};
    return;
  }
  const N scale = softmax_scale<T>(sum);
  walk([&](u32 column, const auto& elements) {
    auto results = elements;
    results.set([&](u32 j) { return softmax_weight<T>(widen(elements.get(j)) - maximum) * scale; });
    results.store(dst + column);
  });
}

}  // namespace kiln::families
