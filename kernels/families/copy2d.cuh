// dst[r * dst_stride + c] = src[r * src_stride + c] for r < rows, c < columns.
//
// Elements are bits here: rows are moved in units of sixteen bytes where those divide their length,
// both pitches and both addresses, else by elements. 32 bits count the elements.
#pragma once

#include "device/chunk.cuh"
#include "device/dtypes.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

template <class T>
KILN_DEVICE void copy2d(const T* src, T* dst, u32 rows, u32 columns, u32 src_stride,
                        u32 dst_stride) {
  using B = BitsOf<T>;
  const B* const from = reinterpret_cast<const B*>(src);
  B* const to = reinterpret_cast<B*>(dst);
  if (leaves_to_few()) return;
  const u32 numel = rows * columns, self = thread_number();
  if (likely(takes_one_element(numel))) {
    if (self >= numel) return;
    const u32 row = small_quotient(self, columns);
    const u32 column = self - row * columns;
    to[static_cast<u64>(row) * dst_stride + column] =
        from[static_cast<u64>(row) * src_stride + column];
    return;
  }
  if (numel == 0) return;
  constexpr u32 kCount = 16 / sizeof(B);
  const u32 pitches = rows < 2 ? 0 : src_stride | dst_stride;
  const bool in_units =
      (address_of(src) | address_of(dst)) % 16 == 0 && (columns | pitches) % kCount == 0;
  u32 per_row = columns, src_pitch = src_stride, dst_pitch = dst_stride;
  if (in_units) {
    per_row /= kCount;
    src_pitch /= kCount;
    dst_pitch /= kCount;
  }
  // Elements need all threads.
  const u32 threads = threads_of_chunks(in_units ? numel / kCount : 0);
  if (self >= threads) return;
  // A thread steps from unit to unit without dividing again.
  const u32 rows_apart = threads / per_row, columns_apart = threads - rows_apart * per_row;
  u32 row = self / per_row, column = self - row * per_row;
  const auto step = [&] {
    const bool wraps = column >= per_row - columns_apart;
    const u32 down = rows_apart + (wraps ? 1 : 0);
    column += columns_apart - (wraps ? per_row : 0);
    row = rows - row <= down ? rows : row + down;
  };
  const auto* const units = reinterpret_cast<const Words*>(src);
  auto* const results = reinterpret_cast<Words*>(dst);
#pragma unroll 1
  while (row < rows) {
    const u64 at = static_cast<u64>(row) * src_pitch + column;
    const u64 place = static_cast<u64>(row) * dst_pitch + column;
    step();
    if (unknown(in_units ? 1 : 0) == 0) {  // one loop, not one for each answer
      to[place] = from[at];
      continue;
    }
    const Words unit = units[at];
    if (row < rows) {  // two are on their way at once
      results[static_cast<u64>(row) * dst_pitch + column] =
          units[static_cast<u64>(row) * src_pitch + column];
      step();
    }
    results[place] = unit;
  }
}

}  // namespace kiln::families
