// out[i] = condition[place] != 0 ? x[place] : y[place], bit by bit, for large views, tile by tile.
// An input whose neighbours lie in another dim than the output's goes through shared memory.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "tuning/tiles.hpp"

namespace kiln::families {

using namespace device;

// The dims of a view, in the order of `info`: the output's innermost dim, the other one that is cut
// into tiles, and those of the grid's y and z. `info` has their sizes, then the strides of each
// input.
enum TileDim { kAcross, kDown, kPlaneY, kPlaneZ, kTileDims };

// A tile of one input.
template <class T>
struct TileInput {
  const T* first;
  u32 across, down;  // strides

  KILN_DEVICE TileInput(const T* array, const u64* strides, u32 x, u32 y)
      : across(static_cast<u32>(strides[kAcross])), down(static_cast<u32>(strides[kDown])) {
    first = array + x * across + y * down + block_index_y() * static_cast<u32>(strides[kPlaneY]) +
            block_index_z() * static_cast<u32>(strides[kPlaneZ]);
  }
  KILN_DEVICE T at(u32 x, u32 y) const { return first[x * across + y * down]; }
};

// A block of 256 threads makes one tile. No array has 2^31 elements or more.
template <class T, class Condition>
KILN_DEVICE void choose_tile(const u64* info, u32 out_down, u32 out_y, u32 out_z,
                             const Condition* condition, const T* x, const T* y, T* out) {
  constexpr u32 kSide = tuning::kTileSide, kPitch = kSide + 1;
  KILN_SHARED(kept_condition, Condition[kSide * kPitch]);
  KILN_SHARED(kept_x, T[kSide * kPitch]);
  KILN_SHARED(kept_y, T[kSide * kPitch]);
  const u32 lane = thread_index() % 32, team = thread_index() / 32;
  const u32 width = static_cast<u32>(info[kAcross]), height = static_cast<u32>(info[kDown]);
  const u32 tiles = (width - 1) / kSide + 1, row = block_index() / tiles;
  const u32 left = (block_index() - row * tiles) * kSide, top = row * kSide;
  const TileInput<Condition> conditions(condition, info + kTileDims, left, top);
  const TileInput<T> xs(x, info + 2 * kTileDims, left, top);
  const TileInput<T> ys(y, info + 3 * kTileDims, left, top);
  // A bit for each input that goes through shared memory.
  const u32 which = (conditions.across > 1) | (xs.across > 1) << 1 | (ys.across > 1) << 2;

#pragma unroll 1
  for (u32 k = 0; k < kSide; k += 8) {
    const u32 column = k + team;
    if (left + column >= width || top + lane >= height) continue;
    const u32 place = column * kPitch + lane, turned = opaque(which);
    if ((turned & 1) != 0) kept_condition[place] = conditions.at(column, lane);
    if ((turned & 2) != 0) kept_x[place] = xs.at(column, lane);
    if ((turned & 4) != 0) kept_y[place] = ys.at(column, lane);
  }
  barrier();
  T* const to = out + block_index_y() * out_y + block_index_z() * out_z + left + top * out_down;
#pragma unroll 1
  for (u32 k = 0; k < kSide; k += 8) {
    const u32 line = k + team;
    if (left + lane >= width || top + line >= height) continue;
    const u32 place = lane * kPitch + line, turned = opaque(which);
    const Condition c = (turned & 1) != 0 ? kept_condition[place] : conditions.at(lane, line);
    const T a = (turned & 2) != 0 ? kept_x[place] : xs.at(lane, line);
    const T b = (turned & 4) != 0 ? kept_y[place] : ys.at(lane, line);
    to[lane + line * out_down] = c != 0 ? a : b;
  }
}

}  // namespace kiln::families
