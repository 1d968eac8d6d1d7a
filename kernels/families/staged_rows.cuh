// Stages many short rows in a block's dynamic shared memory. Rows are moved by whole chunks,
// wherever each begins, and each row is processed by one thread. The block has a thread and room
// for each row.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/platform_copies.cuh"

namespace kiln::families {

using namespace device;

// Calls use(row) with each row of the block in shared memory. `use` replaces the row by its result.
template <class T, class Use>
KILN_DEVICE void stage_rows(const T* src, T* dst, u32 rows, u32 columns, Use use) {
  constexpr u32 kCount = 16 / sizeof(T);
  T* const tile = static_cast<T*>(dynamic_shared());
  const u32 threads = block_threads(), self = thread_rank();
  const u32 first = block_index() * threads, left = first < rows ? rows - first : 0;
  const u32 its = left < threads ? left : threads, elements = its * columns;
  src += static_cast<u64>(first) * columns;
  dst += static_cast<u64>(first) * columns;
  const u32 chunks = (address_of(src) | address_of(dst)) % 16 == 0 ? elements / kCount : 0;
#pragma unroll 1
  for (u32 c = self; c < chunks; c += threads) copy_async<16>(tile + c * kCount, src + c * kCount);
#pragma unroll 1
  for (u32 i = chunks * kCount + self; i < elements; i += threads) tile[i] = src[i];
  wait_for_copies();
  barrier();
  if (self < its) use(tile + self * columns);
  barrier();
#pragma unroll 4
  for (u32 c = self; c < chunks; c += threads) {
    store_16_bytes(dst + c * kCount, load_16_bytes(tile + c * kCount));
  }
#pragma unroll 1
  for (u32 i = chunks * kCount + self; i < elements; i += threads) dst[i] = tile[i];
}

}  // namespace kiln::families
