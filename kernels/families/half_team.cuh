// How the threads of a block share a tile of products with vectors of f16.
#pragma once

#include "device/half_fragments.cuh"
#include "device/half_layout.cuh"
#include "device/platform.cuh"
#include "families/quantized_matrix.cuh"
#include "tuning/half_products.hpp"

namespace kiln::families {

using namespace device;

// The parts of a block have the same rows, and each has some of a step's columns. Threads behind
// the parts help to copy or, with warp groups, do all copying.
struct HalfTeam {
  u32 parts, threads;  // number of parts, and threads of each
  u32 part, wave, lane;

  KILN_DEVICE HalfTeam(u32 count, u32 threads_of_part)
      : parts(count),
        threads(threads_of_part),
        part(thread_index() / threads),
        wave(thread_index() % threads / kTileThreads),
        lane(thread_index() % kTileThreads) {}

  // True if the thread decodes and multiplies.
  KILN_DEVICE bool multiplies() const { return part < parts; }
  KILN_DEVICE u32 waves() const { return threads / kTileThreads; }
  // Rows of a tile.
  KILN_DEVICE u32 rows() const { return threads / 2; }
  // The thread's first row in the tile. Its other row is eight rows further.
  KILN_DEVICE u32 row() const { return wave * kTileRows + lane / 4; }
};

// A step's rows in shared memory, kRowBytes for each.
template <class Format>
struct HalfRowsOf {
  using Unit = UnitRows<Format>;
  static constexpr u32 kUnits = kHalfSpan / 32 / Unit::kGroups;                // in a step
  static constexpr u32 kBytes = kHalfSpan / Format::kValues * Format::kBytes;  // of a row in a step
  static constexpr u32 kRowBytes = tuning::half_row_bytes(Format::kBytes, Format::kValues);

  const u8* weights;
  u64 row_bytes;
  u32 rows, columns;
  u32 others;  // rows of earlier matrices

  // For matrix `number` of several that lie one behind the other.
  KILN_DEVICE HalfRowsOf(const void* matrices, u32 count, u32 values, u32 number)
      : weights(static_cast<const u8*>(matrices)),
        row_bytes(static_cast<u64>(values / Format::kValues) * Format::kBytes),
        rows(count),
        columns(values),
        others(number * count) {}

  KILN_DEVICE u32 steps() const { return half_steps(columns); }
  KILN_DEVICE const u8* place(u32 row, u32 step) const {
    return weights + (u64{others} + row) * row_bytes + step * kBytes;
  }
  // The row's address modulo 16, the same in global and in shared memory. Each step adds kBytes.
  KILN_DEVICE u32 place_among_16(u32 row, u32 step) const {
    const u32 begin = (others + row) * static_cast<u32>(row_bytes);
    return advanced((static_cast<u32>(address_of(weights)) + begin) % 16, step);
  }
  KILN_DEVICE static u32 advanced(u32 place, u32 step) {
    return kBytes % 16 == 0 ? place : (place + step * kBytes) % 16;
  }
  // True if the step has kHalfSpan columns; true if all rows begin at multiples of 16 bytes.
  KILN_DEVICE bool are_whole(u32 step) const { return columns - step * kHalfSpan >= kHalfSpan; }
  KILN_DEVICE bool are_aligned() const { return (address_of(weights) | row_bytes) % 16 == 0; }

  // Copies up to `count` rows of a step from `first_row` on, eight threads to a row, 16 bytes at a
  // time by copy_async() except at the ends of rows and of the matrix. Returns false if there may
  // be exceptions.
  KILN_DEVICE bool copy(u8* stage, u32 first_row, u32 count, u32 step, u32 thread,
                        u32 threads) const {
    constexpr u32 kLanes = 8, kEach = (kRowBytes / 16 + kLanes - 1) / kLanes;
    const u32 end = min_of(count, rows - first_row), own = thread / kLanes, lane = thread % kLanes;
    const u32 at_once = threads / kLanes;
    if (are_whole(step) && are_aligned()) {
      const u32 before = place_among_16(first_row, step), last = (before + kBytes - 1) / 16;
      const u8* from = place(first_row + own, step) - before + 16 * lane;
      u8* to = stage + own * kRowBytes + 16 * lane;
      const u64 stride = at_once * row_bytes;
#pragma unroll 4
      for (u32 row = own; row < end; row += at_once) {
#pragma unroll
        for (u32 c = 0; c < kEach; ++c) {
          constexpr u32 kApart = 16 * kLanes;
          if (c * kLanes + lane <= last) copy_async<16>(to + c * kApart, from + c * kApart);
        }
        from += stride;
        to += at_once * kRowBytes;
      }
      return true;
    }
    const u32 size =
        min_of(columns - step * kHalfSpan, kHalfSpan) / Format::kValues * Format::kBytes;
#pragma unroll 1
    for (u32 row = own; row < end; row += at_once) {
      const u32 before = place_among_16(first_row + row, step);
      const u8* const from = place(first_row + row, step) - before;
      u8* const to = stage + row * kRowBytes;
      const u64 behind = address_of(weights) + (u64{others} + rows) * row_bytes - address_of(from);
#pragma unroll 1
      for (u32 i = 16 * lane; i < before + kBytes; i += 16 * kLanes) {
        if (are_whole(step) && (i >= before || from >= weights) && i + 16 <= behind) {
          copy_async<16>(to + i, from + i);
          continue;
        }
#pragma unroll 1
        for (u32 k = i < before ? before : i; k < i + 16 && k < before + kBytes; ++k) {
          to[k] = k < before + size ? from[k] : u8{0};  // zero behind the last column
        }
      }
    }
    return false;
  }
};

}  // namespace kiln::families
