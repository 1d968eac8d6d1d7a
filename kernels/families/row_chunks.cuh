// Splits a contiguous row of any alignment into aligned chunks and single elements: those before
// the first chunk and after the last one.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

// Chunks of `kCount` elements. A team walks a row by slabs, in which a thread has up to `kEach`
// chunks and one single element. The slab `first`, a multiple of the team's threads, begins with
// chunk kEach * `first` and single element `first`.
template <class T, u32 kCount, u32 kEach>
struct RowChunks {
  Team team;
  u32 before;  // elements before the first chunk
  u32 chunks;
  u32 single;  // elements outside of chunks

  // `same_alignment`: source and destination have the same alignment, so that chunks of both are
  // aligned. Otherwise all elements are single ones.
  KILN_DEVICE RowChunks(const Team& its, const T* from, u32 columns, bool same_alignment)
      : team(its) {
    const u32 gap = (0 - static_cast<u32>(address_of(from) / sizeof(T))) & (kCount - 1);
    before = gap < columns ? gap : columns;
    chunks = same_alignment ? (columns - before) / kCount : 0;
    single = columns - chunks * kCount;
  }

  KILN_DEVICE bool has_slab(u32 first) const { return (first * kEach < chunks) | (first < single); }
  // Returns the thread's chunk `c` of a slab.
  KILN_DEVICE u32 chunk_at(u32 first, u32 c) const {
    return first * kEach + c * team.threads + team.rank;
  }
  KILN_DEVICE u32 column_of_chunk(u32 chunk) const { return before + chunk * kCount; }
  KILN_DEVICE u32 column_of_single(u32 i) const { return i < before ? i : i + chunks * kCount; }
};

}  // namespace kiln::families
