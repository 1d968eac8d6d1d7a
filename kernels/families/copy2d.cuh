// dst[r * dst_stride + c] = src[r * src_stride + c] for r < rows, c < columns.
//
// Elements are bits here: a row is moved in the widest unit, up to sixteen bytes, that divides its
// length, both pitches and both addresses, so there are no ragged ends.
#pragma once

#include "device/lanes.cuh"
#include "device/platform.cuh"
#include "device/schedule.cuh"

namespace kiln::families {

using namespace device;

template <class Unit>
KILN_DEVICE void copy_units(u64 rows, u64 per_row, u64 src_pitch, u64 dst_pitch, const void* src,
                            void* dst) {
  const u64 units = rows * per_row;
  const bool narrow = units < u64{1} << 32;
  const Share share = share_of_contiguous<u32>();
  if (share.is_empty()) return;
  for (u64 i = share.first; i < units; i += share.step) {
    const u64 row = narrow ? static_cast<u32>(i) / static_cast<u32>(per_row) : i / per_row;
    const u64 column = i - row * per_row;
    static_cast<Unit*>(dst)[row * dst_pitch + column] =
        static_cast<const Unit*>(src)[row * src_pitch + column];
  }
}

template <class T>
KILN_DEVICE void copy2d(const T* src, T* dst, u32 rows, u32 columns, u32 src_stride,
                        u32 dst_stride) {
  if (is_surplus()) return;
  constexpr u64 kSize = sizeof(T);
  const u64 pitches = rows < 2 ? 0 : src_stride | dst_stride;
  const u64 everything = address_of(src) | address_of(dst) | (columns | pitches) * kSize;
  const u64 unit = everything & 15;
  const auto copy = [&](auto zero) {
    using Unit = decltype(zero);
    constexpr u64 kPerUnit = sizeof(Unit) / kSize;
    copy_units<Unit>(rows, columns / kPerUnit, src_stride / kPerUnit, dst_stride / kPerUnit, src,
                     dst);
  };
  if (unit == 0) return copy(Words{});
  if constexpr (kSize <= 8)
    if (unit % 8 == 0) return copy(u64{});
  if constexpr (kSize <= 4)
    if (unit % 4 == 0) return copy(u32{});
  if constexpr (kSize <= 2)
    if (unit % 2 == 0) return copy(u16{});
  if constexpr (kSize <= 1) return copy(u8{});
}

}  // namespace kiln::families
