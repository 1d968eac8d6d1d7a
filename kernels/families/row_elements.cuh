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
KILN_DEVICE typename Reduction::State take_chunks(typename Reduction::State state, const T* from,
                                                  u32 chunks, u32 index, const Team& team) {
  constexpr u32 kCount = 16 / sizeof(T);
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

// What a thread sees of `count` elements, `stride` apart, of which so many are on their way at once.
template <class Reduction, u32 kAhead, class T>
KILN_DEVICE typename Reduction::State take_elements(typename Reduction::State state, const T* from,
                                                    u64 stride, u32 count, u32 index,
                                                    const Team& team) {
  constexpr u32 kCount = 16 / sizeof(T);
  u32 before = count, between = 0;  // elements before the chunks, and in them
  const u64 apart = team.threads * stride;
  const T* next = from + team.rank * stride;
  u32 i = team.rank;
  // Few elements are there sooner one by one.
  if (stride == 1 && count > 4 * team.threads) {
    const u32 gap = (0 - static_cast<u32>(address_of(from) / sizeof(T))) & (kCount - 1);
    before = gap < count ? gap : count;
    const u32 chunks = (count - before) / kCount;
    between = chunks * kCount;
    // The first of the others is on its way meanwhile.
    const u32 at = i < before ? i : i + between;
    T one = Reduction::neutral();
    if (at < count) one = from[at];
    state = take_chunks<Reduction>(state, from + before, chunks, index + before, team);
    state = Reduction::join(state, Reduction::take(Reduction::identity(), one, index + at));
    i += team.threads;
    next += apart;
  }
  const u32 single = count - between;
#pragma unroll 1
  while (i < single) {
    T x[kAhead];
    u32 at[kAhead];
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k, i += team.threads, next += apart) {
      const u32 skipped = i < before ? 0 : between;
      at[k] = i + skipped;
      x[k] = Reduction::neutral();
      if (i < single) x[k] = next[skipped];
    }
    auto few = Reduction::identity();
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) few = Reduction::take(few, x[k], index + at[k]);
    state = Reduction::join(state, few);
  }
  return state;
}

}  // namespace kiln::families
