// dst[r * dst_stride + c] = src[r * src_stride + c] for r < rows, c < columns.
//
// Elements are moved as bits, in 16-byte units if these divide the row length, both pitches and
// both addresses, and otherwise one by one. 32 bits count the elements.
#pragma once

#include "device/chunk.cuh"
#include "device/dtypes.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/inputs.cuh"
#include "families/spread.cuh"
#include "tuning/fill.hpp"

namespace kiln::families {

using namespace device;

// Source and target of a copy of elements whose size the compiler knows.
template <class B>
struct Elements {
  const B* from;
  B* to;

  KILN_DEVICE u32 log_count() const { return log_of(16 / sizeof(B)); }  // elements in a unit
  KILN_DEVICE void move(u64 at, u64 place) const { to[place] = from[at]; }
};
// The same for any element size, which is 16 >> log bytes.
struct AnyElements {
  const void* from;
  void* to;
  u32 log;

  KILN_DEVICE u32 log_count() const { return log; }
  KILN_DEVICE void move(u64 at, u64 place) const {
    switch (log) {
      case 4: static_cast<u8*>(to)[place] = static_cast<const u8*>(from)[at]; break;
      case 3: static_cast<u16*>(to)[place] = static_cast<const u16*>(from)[at]; break;
      case 2: static_cast<u32*>(to)[place] = static_cast<const u32*>(from)[at]; break;
      default: static_cast<u64*>(to)[place] = static_cast<const u64*>(from)[at];
    }
  }
};

// Copies the rows in any launch geometry.
template <class Pair>
KILN_DEVICE void copy_rows(const Pair& pair, u32 rows, u32 columns, u32 src_stride,
                           u32 dst_stride) {
  const u32 numel = rows * columns, self = thread_number();
  if (numel == 0) return;
  const u32 log_count = pair.log_count(), pitches = rows < 2 ? 0 : src_stride | dst_stride;
  const bool in_units = (address_of(pair.from) | address_of(pair.to)) % 16 == 0 &&
                        (columns | pitches) % (1u << log_count) == 0;
  const u32 log_unit = in_units ? log_count : 0;
  const u32 per_row = columns >> log_unit;
  const u32 src_pitch = src_stride >> log_unit, dst_pitch = dst_stride >> log_unit;
  // Single elements occupy all resident threads, as do units of two elements up to twice as many
  // units (share_of() in families/spread.cuh).
  const u32 threads =
      threads_of_chunks(in_units ? (numel >> log_count) / (log_count == 1 ? 2 : 1) : 0);
  if (self >= threads) return;
  // A thread steps from unit to unit without further divisions.
  const u32 rows_apart = threads / per_row, columns_apart = threads - rows_apart * per_row;
  u32 row = self / per_row, column = self - row * per_row;
  const auto step = [&] {
    const bool wraps = column >= per_row - columns_apart;
    const u32 down = rows_apart + (wraps ? 1 : 0);
    column += columns_apart - (wraps ? per_row : 0);
    row = rows - row <= down ? rows : row + down;
  };
  const auto* const units = reinterpret_cast<const Words*>(pair.from);
  auto* const results = reinterpret_cast<Words*>(pair.to);
#pragma unroll 1
  while (row < rows) {
    const u64 at = static_cast<u64>(row) * src_pitch + column;
    const u64 place = static_cast<u64>(row) * dst_pitch + column;
    step();
    if (opaque(in_units ? 1 : 0) == 0) {  // one loop, not a copy of it for each case
      pair.move(at, place);
      continue;
    }
    const Words unit = units[at];
    if (row < rows) {  // keep two loads in flight
      results[static_cast<u64>(row) * dst_pitch + column] =
          units[static_cast<u64>(row) * src_pitch + column];
      step();
    }
    results[place] = unit;
  }
}

// Not inlined for sm_80, which is also shipped as PTX: inlining would put a copy into every kernel.
KILN_NOINLINE void copy_rows_outlined(AnyElements elements, u32 rows, u32 columns, u32 src_stride,
                                      u32 dst_stride) {
  copy_rows(elements, rows, columns, src_stride, dst_stride);
}

inline constexpr u32 kRowCopyBlocks = tuning::row_copy_blocks(kMachine);
static_assert(kRowCopyBlocks * 1024 <= kSmallIndex);

template <class T>
KILN_DEVICE void copy2d(const T* src, T* dst, u32 rows, u32 columns, u32 src_stride,
                        u32 dst_stride) {
  using B = BitsOf<T>;
  const Elements<B> elements{reinterpret_cast<const B*>(src), reinterpret_cast<B*>(dst)};
  if (block_index() >= (block_size() == 1024 ? kRowCopyBlocks : kAllBlocks)) return;
  const u32 numel = rows * columns, self = thread_number();
  const bool are_units = columns % (16 / sizeof(B)) == 0;
  // Measured in us, by rows -> an element a thread: H100, copy2d_f64 of 383,617 elements 4.6 -> 4.0;
  // H200, reference geometry, 301x999, f32 3.13 -> 2.72, u8 3.23 -> 2.79.
  const u32 most = !are_units ? kRowCopyBlocks : sizeof(B) == 8 ? kTwiceBlocks : kFitBlocks;
  if (likely(takes_one_element(numel, most))) {
    if (self >= numel) return;
    const u32 row = small_quotient(self, columns);
    const u32 column = self - row * columns;
    elements.move(static_cast<u64>(row) * src_stride + column,
                  static_cast<u64>(row) * dst_stride + column);
  } else if constexpr (kArchitecture == tuning::Architecture::kSm80) {
    copy_rows_outlined({src, dst, elements.log_count()}, rows, columns, src_stride, dst_stride);
  } else {
    copy_rows(elements, rows, columns, src_stride, dst_stride);
  }
}

}  // namespace kiln::families
