// dst[r * dst_stride + c] = src[r * src_stride + c] for r < rows, c < columns.
//
// Elements are bits here: rows are moved in units of sixteen bytes where those divide their length,
// both pitches and both addresses, else by elements.
#pragma once

#include "device/chunk.cuh"
#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

template <class Unit>
KILN_DEVICE void copy_units(const Spread& spread, u32 rows, u32 per_row, u32 src_pitch,
                            u32 dst_pitch, const Unit* src, Unit* dst) {
  const u32 threads = spread.threads_for(static_cast<u64>(rows) * per_row);
  if (spread.self >= threads || per_row == 0) return;
  // Rows are taken in bands, within which units are counted in 32 bits.
  const u32 band = per_row >> 31 != 0 ? 1 : (1u << 31) / per_row;
#pragma unroll 1
  for (u32 first = 0; first < rows; first += band) {
    const u32 end = rows - first < band ? rows - first : band;
    const u64 units = static_cast<u64>(end) * per_row;
#pragma unroll 1
    for (u64 i = spread.self; i < units; i += threads) {
      const u32 row = static_cast<u32>(i) / per_row;
      const u32 column = static_cast<u32>(i) - row * per_row;
      dst[static_cast<u64>(first + row) * dst_pitch + column] =
          src[static_cast<u64>(first + row) * src_pitch + column];
    }
    if (rows - first <= band) return;
  }
}

template <class T>
KILN_DEVICE void copy2d(const T* src, T* dst, u32 rows, u32 columns, u32 src_stride,
                        u32 dst_stride) {
  using B = BitsOf<T>;
  const B* const from = reinterpret_cast<const B*>(src);
  B* const to = reinterpret_cast<B*>(dst);
  const u64 numel = static_cast<u64>(rows) * columns;
  if (leaves_at_once(numel)) return;
  if (takes_one_element(numel)) {
    const u32 i = block_index() * block_size() + thread_index();
    if (i >= numel) return;
    const u32 row = i / columns;
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
