// How a block multiplies one step of a tile of a convolution (families/convolve_channels.cuh): 128
// rows of weights by 128 rows of elements, 64 channels of each, in shared memory.
//
//   ChannelGroups  by the block's 128 threads together, where there are warp groups
//   ChannelTeams   by teams of kHalfThreads threads, elsewhere
//
// Both have:
//
//   kRowBytes      distance of rows in shared memory; place() says where eight channels are
//   kRowTiles      row tiles; of each a thread has kSums sums. A row tile is kTileRows rows of each of
//                  kTeamsDown equal parts of the rows.
//   row, column    of sum `i`, by the thread; if kHasPairs, sums i and i + 1 are neighbours in a row
//   multiply       adds a step's products. It calls the two functions, which begin copies, when
//                  these do not delay the products.
//   kTakesPlanes   the elements may also lie with the outputs of a channel side by side (kPlanes);
//                  place_in_planes() then says where eight outputs are
#pragma once

#include "device/chunk.cuh"
#include "device/half_matrix.cuh"
#include "device/platform.cuh"
#include "device/platform_copies.cuh"
#include "device/wave.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

using namespace device;

#if KILN_HAS_WARP_GROUPS
template <class T>
class ChannelGroups {
 public:
  static constexpr u32 kRowBytes = tuning::kChannelSpan * 2;
  static constexpr u32 kRowTiles = 2, kTileRows = 64, kTeamsDown = 1;
  static constexpr u32 kSums = 64;
  static constexpr bool kHasPairs = true;
  static constexpr bool kTakesPlanes = true;
  using Sums = f32[kSums / 4][4];

  KILN_DEVICE static u16* align(void* shared) {
    u8* const bytes = static_cast<u8*>(shared);
    return reinterpret_cast<u16*>(bytes + (-address_of(bytes) & 1023));
  }
  KILN_DEVICE static u32 place(u32 row, u32 channel) {
    return row * kRowBytes + (channel / 8 ^ row % 8) * 16;
  }
  KILN_DEVICE static u32 place_in_planes(u32 channel, u32 output) {
    return output / 64 * kPlaneBytes + place(channel, output % 64);
  }
  KILN_DEVICE static u32 row(u32 r, u32 i) {
    const u32 thread = thread_rank();
    return r * kTileRows + thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
  }
  KILN_DEVICE static u32 column(u32 i) { return i / 4 * 8 + thread_rank() % 4 * 2 + i % 2; }
  KILN_DEVICE static f32& sum(Sums& sums, u32 i) { return sums[i / 4][i % 4]; }
  KILN_DEVICE static f32 sum(const Sums& sums, u32 i) { return sums[i / 4][i % 4]; }

  KILN_DEVICE static void show_copies() { show_products(); }
  template <bool kPlanes, class First, class Second>
  KILN_DEVICE static void multiply(Sums (&sums)[kRowTiles], SharedPlace weights,
                                   SharedPlace elements, u32 rows, First first, Second second) {
    const u64 left = swizzled_columns(weights);
    const u64 right = kPlanes ? swizzled_rows(elements, kPlaneBytes) : swizzled_columns(elements);
    // Two paths, because ptxas runs products one after the other if branches lie between them.
    if (rows > kTileRows) {
      multiply_tiles<kPlanes, 2>(sums, left, right, first, second);
    } else {
      multiply_tiles<kPlanes, 1>(sums, left, right, first, second);
    }
  }

 private:
  static constexpr u32 kPlaneBytes = tuning::kChannelSpan * kRowBytes;  // of 64 outputs

  template <bool kPlanes, u32 kTiles, class First, class Second>
  KILN_DEVICE static void multiply_tiles(Sums (&sums)[kRowTiles], u64 left, u64 right, First first,
                                         Second second) {
    constexpr u32 kNextTile = kTileRows * kRowBytes / 16;
    constexpr u32 kNextRight = kPlanes ? 16 * kRowBytes / 16 : 2;
    pin<kTiles>(sums);
    begin_products();
#pragma unroll
    for (u32 k = 0; k < tuning::kChannelSpan / 16; ++k) {
#pragma unroll
      for (u32 r = 0; r < kTiles; ++r) {
        multiply_group<kPlanes>(sums[r], left + r * kNextTile + k * 2, right + k * kNextRight);
      }
    }
    end_products();
    first();
    second();
    wait_for_products<0>();
    pin<kTiles>(sums);
  }
  // Sums are in their registers here: the compiler moves no access to them past this point, into
  // the time of the products.
  template <u32 kTiles>
  KILN_DEVICE static void pin(Sums (&sums)[kRowTiles]) {
#pragma unroll
    for (u32 r = 0; r < kTiles; ++r) {
#pragma unroll
      for (u32 i = 0; i < kSums; ++i) pin_register(sum(sums[r], i));
    }
  }
  template <bool kPlanes>
  KILN_DEVICE static void multiply_group(Sums& sums, u64 left, u64 right) {
    if constexpr (kIsF16<T>) {
      multiply_f16_group<kPlanes>(sums, left, right);
    } else {
      multiply_bf16_group<kPlanes>(sums, left, right);
    }
  }
};
template <class T>
using ChannelProducts = ChannelGroups<T>;
#else
template <class T>
class ChannelTeams {
  static constexpr u32 kTile = tuning::kChannelTile;
  static constexpr u32 kTeams = tuning::kChannelThreads / kHalfThreads;
  static constexpr u32 kStride = tuning::kChannelStride;
  using Left = HalfLeft<T, kStride>;
  using Right = HalfRight<T, kStride>;

 public:
  static constexpr u32 kTeamsDown = 2, kTileRows = kHalfTile;
  static constexpr u32 kRowBytes = kStride * 2;
  static constexpr u32 kRowTiles = kTile / kTeamsDown / kTileRows;
  static constexpr u32 kColumns = kTile * kTeamsDown / kTeams;
  static constexpr u32 kColumnTiles = kColumns / kHalfTile, kSums = kColumnTiles * kHalfResults;
  static constexpr bool kHasPairs = kHalfPairs;
#if KILN_HAS_HALF_MMA
  static constexpr bool kTakesPlanes = true;
#else
  static constexpr bool kTakesPlanes = false;
#endif
  using Sums = f32[kColumnTiles][kHalfResults];

  KILN_DEVICE static u16* align(void* shared) { return static_cast<u16*>(shared); }
  KILN_DEVICE static u32 place(u32 row, u32 channel) { return row * kRowBytes + channel * 2; }
  KILN_DEVICE static u32 place_in_planes(u32 channel, u32 output) {
    return (channel * kPlaneStride + output) * 2;
  }
  KILN_DEVICE static u32 row(u32 r, u32 i) {
    return first_row() + r * kTileRows + half_tile_row(lane(), i % kHalfResults);
  }
  KILN_DEVICE static u32 column(u32 i) {
    return first_column() + i / kHalfResults * kHalfTile +
           half_tile_column(lane(), i % kHalfResults);
  }
  KILN_DEVICE static f32& sum(Sums& sums, u32 i) {
    return sums[i / kHalfResults][i % kHalfResults];
  }
  KILN_DEVICE static f32 sum(const Sums& sums, u32 i) {
    return sums[i / kHalfResults][i % kHalfResults];
  }

  KILN_DEVICE static void show_copies() {}
  template <bool kPlanes, class First, class Second>
  KILN_DEVICE static void multiply(Sums (&sums)[kRowTiles], SharedPlace weights,
                                   SharedPlace elements, u32, First first, Second second) {
    const SharedPlace left = weights + first_row() * kRowBytes + Left::own_element(lane()) * 2;
    const SharedPlace right = elements + own_column<kPlanes>() * 2;
#pragma unroll
    for (u32 k = 0; k < tuning::kChannelSpan; k += kHalfTile) {
      Left rows[kRowTiles];
      Right columns[kColumnTiles];
#pragma unroll
      for (u32 c = 0; c < kColumnTiles; ++c) {
        load<kPlanes>(columns[c], right, c * kHalfTile, k);
      }
#pragma unroll
      for (u32 r = 0; r < kRowTiles; ++r) rows[r].load(left + r * (kHalfTile * kRowBytes) + k * 2);
      // Operands are loaded before, because they would wait for all copies.
      if (k == 0) first();
      if (k == kHalfTile) second();
#pragma unroll
      for (u32 r = 0; r < kRowTiles; ++r) {
#pragma unroll
        for (u32 c = 0; c < kColumnTiles; ++c) rows[r].multiply(sums[r][c], columns[c], lane());
      }
    }
  }

 private:
  KILN_DEVICE static u32 lane() { return thread_rank() % kHalfThreads; }
  static constexpr u32 kPlaneStride = kTile + 8;
  static_assert(tuning::kChannelSpan * kPlaneStride <= kTile * kStride);

  // The element of this thread in the team's first right operand, and the loads of any.
  template <bool kPlanes>
  KILN_DEVICE static u32 own_column() {
#if KILN_HAS_HALF_MMA
    if constexpr (kPlanes) {
      return first_column() + Right::own_element_by_rows(lane(), kPlaneStride);
    }
#endif
    return first_column() * kStride + Right::own_element(lane());
  }
  template <bool kPlanes>
  KILN_DEVICE static void load(Right& operand, SharedPlace own, u32 output, u32 channel) {
#if KILN_HAS_HALF_MMA
    if constexpr (kPlanes) {
      operand.load_by_rows(own + place_in_planes(channel, output));
      return;
    }
#endif
    operand.load(own + place(output, channel));
  }
  KILN_DEVICE static u32 first_row() {
    return thread_rank() / kHalfThreads % kTeamsDown * (kTile / kTeamsDown);
  }
  KILN_DEVICE static u32 first_column() {
    return thread_rank() / kHalfThreads / kTeamsDown * kColumns;
  }
};
template <class T>
using ChannelProducts = ChannelTeams<T>;
#endif

}  // namespace kiln::families
