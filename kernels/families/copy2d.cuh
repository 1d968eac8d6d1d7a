// dst[r * dst_stride + c] = src[r * src_stride + c] for r < rows, c < columns.
//
// Elements are bits here: rows are moved in units of sixteen bytes where those divide their length,
// both pitches and both addresses, else by elements.
#pragma once

#include "device/chunk.cuh"
#include "device/dtypes.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// A thread steps from unit to unit without dividing again.
template <class Unit>
KILN_DEVICE void copy_units(const Spread& spread, u32 rows, u32 per_row, u32 src_pitch,
                            u32 dst_pitch, const Unit* src, Unit* dst) {
  // Elements need all threads.
  const u32 threads = sizeof(Unit) < 16
                          ? spread.threads
                          : spread.threads_for(static_cast<u64>(rows) * per_row);
  if (spread.self >= threads || per_row == 0) return;
  const u32 rows_apart = threads / per_row;
  const u32 columns_apart = threads - rows_apart * per_row;
  u64 row = spread.self / per_row;
  u32 column = spread.self - static_cast<u32>(row) * per_row;
#pragma unroll 1
  while (row < rows) {
    dst[row * dst_pitch + column] = src[row * src_pitch + column];
    row += rows_apart;
    if (column >= per_row - columns_apart) {
      column -= per_row;
      ++row;
    }
    column += columns_apart;
  }
}

template <class T>
KILN_DEVICE void copy2d(const T* src, T* dst, u32 rows, u32 columns, u32 src_stride,
                        u32 dst_stride) {
  using B = BitsOf<T>;
  const B* const from = reinterpret_cast<const B*>(src);
  B* const to = reinterpret_cast<B*>(dst);
  if (leaves_at_once()) return;
  const u64 numel = static_cast<u64>(rows) * columns;
  if (likely(takes_one_element(numel))) {
    const u32 i = thread_number();
    if (i >= static_cast<u32>(numel)) return;
    const u32 row = small_quotient(i, columns);
    const u32 column = i - row * columns;
    to[static_cast<u64>(row) * dst_stride + column] =
        from[static_cast<u64>(row) * src_stride + column];
    return;
  }
  const Spread spread(numel);
  if (spread.is_surplus()) return;
  constexpr u32 kCount = 16 / sizeof(T);
  const u32 pitches = rows < 2 ? 0 : src_stride | dst_stride;
  if ((address_of(src) | address_of(dst)) % 16 == 0 && (columns | pitches) % kCount == 0) {
    copy_units(spread, rows, columns / kCount, src_stride / kCount, dst_stride / kCount,
               reinterpret_cast<const Words*>(src), reinterpret_cast<Words*>(dst));
  } else {
    copy_units(spread, rows, columns, src_stride, dst_stride, from, to);
  }
}

}  // namespace kiln::families
