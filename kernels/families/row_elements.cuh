// What a team of threads takes of the elements of a row, or of a part of one: whole aligned chunks
// where they lie side by side, and what lies before and behind these one by one.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

// Chunks that a thread has on their way at once.
inline constexpr u32 kChunksAhead = 4;

// Chunks `team.rank`, `team.rank + team.threads`, ... below `chunks`. The first element's number
// is `index`.
template <class Reduction, class T>
KILN_DEVICE typename Reduction::State take_chunks(const T* from, u32 chunks, u32 index,
                                                  const Team& team) {
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
      // Sums of chunks lose less than one long sum.
      auto part = Reduction::identity();
#pragma unroll
      for (u32 j = 0; j < kCount; ++j) {
        part = Reduction::take(part, chunk[0].get(j), index + c * kCount + j);
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

// What a thread of a team takes of `count` elements, `stride` apart, of which so many are on their
// way at once. The first element's number is `index`.
template <class Reduction, u32 kAhead, class T>
KILN_DEVICE typename Reduction::State take_elements(const T* from, u64 stride, u32 count, u32 index,
                                                    const Team& team) {
  constexpr u32 kCount = 16 / sizeof(T);
  auto state = Reduction::identity();
  // Few elements are there sooner one by one.
  if (stride == 1 && count > 4 * team.threads) {
    const u32 gap = (0 - static_cast<u32>(address_of(from) / sizeof(T))) & (kCount - 1);
    const u32 before = gap < count ? gap : count;
    const u32 chunks = (count - before) / kCount, between = chunks * kCount;
    const u32 single = count - between;
    // The first of the elements that are in no chunk is on its way meanwhile.
    const auto place = [&](u32 i) { return i < before ? i : i + between; };
    u32 i = team.rank;
    T one = Reduction::neutral();
    if (i < single) one = from[place(i)];
    state = take_chunks<Reduction>(from + before, chunks, index + before, team);
    auto few = Reduction::identity();
#pragma unroll 1
    while (i < single) {
      few = Reduction::take(few, one, index + place(i));
      i += team.threads;
      if (i < single) one = from[place(i)];
    }
    return Reduction::join(state, few);
  }
  const u64 apart = team.threads * stride;
  from += team.rank * stride;
#pragma unroll 1
  for (u32 i = team.rank; i < count;) {
    T x[kAhead];
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) {
      x[k] = Reduction::neutral();
      if (i + k * team.threads < count) x[k] = *from;
      from += apart;
    }
    auto few = Reduction::identity();
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k, i += team.threads) {
      few = Reduction::take(few, x[k], index + i);
    }
    state = Reduction::join(state, few);
  }
  return state;
}

}  // namespace kiln::families
