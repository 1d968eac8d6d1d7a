// out[i] = f(in[place of i]) for large views, tile by tile through shared memory. Reads run along
// the input's lines and writes along the output's lines, even if the two lie in different dims.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "tuning/tiles.hpp"

namespace kiln::families {

using namespace device;

// The two dims that are cut into tiles, and their strides in both arrays. `length` is the size of
// the dim along the input's lines, `lines` that of the other. One of them is the output's innermost
// dim.
struct TiledPlane {
  u32 length, lines;
  u32 in_along, in_beside;
  u32 out_along, out_beside;
};

// Strides of the dims that are not cut. The grid's y and z run over these dims.
struct Planes {
  u32 in_y, out_y, in_z, out_z;
};

// Moves one tile with a block of 256 threads. All arrays have fewer than 2^31 elements.
template <class Out, class In, class F>
KILN_DEVICE void map_tile(const TiledPlane& plane, const Planes& planes, const In* in, Out* out,
                          const F& f) {
  constexpr u32 kLength = tuning::kTileLength, kLines = tuning::kTileLines, kPitch = kLength + 1;
  using B = BitsOf<In>;
  KILN_SHARED(kept, B[kLines * kPitch]);
  const u32 lane = thread_index() % 32, team = thread_index() / 32;
  const u32 tiles = (plane.length - 1) / kLength + 1;
  const u32 row = block_index() / tiles;
  const u32 first = (block_index() - row * tiles) * kLength, line = row * kLines;
  const u32 length = plane.length - first, lines = plane.lines - line;

  const u32 y = block_index_y(), z = block_index_z();
  const B* const source = reinterpret_cast<const B*>(in);
  u32 from = y * planes.in_y + z * planes.in_z + (first + lane) * plane.in_along +
             (line + team) * plane.in_beside;
#pragma unroll 2
  for (u32 k = 0; k < kLines; k += 8, from += 8 * plane.in_beside) {
    const u32 l = k + team, there = l < lines ? length : 0;
    if (lane < there) kept[l * kPitch + lane] = source[from];
    if (lane + 32 < there) kept[l * kPitch + lane + 32] = source[from + 32 * plane.in_along];
  }
  barrier();
  // Write the output line by line. `across` is the thread's position in a line.
  const bool turned = plane.out_along != 1;
  const u32 apart = turned ? plane.out_along : plane.out_beside;
  const u32 most = turned ? lines : length, end = turned ? length : lines;
  const u32 step = turned ? 8 : 8 * kPitch, half = turned ? 8 : 3;
  u32 across = lane, down = team;
  u32 element = turned ? lane * kPitch + team : team * kPitch + lane;
  u32 to = y * planes.out_y + z * planes.out_z + first * plane.out_along + line * plane.out_beside +
           lane + team * apart;
#pragma unroll 1
  for (u32 k = 0; k < 8; ++k) {
    if (across < most && down < end) out[to] = narrow<Out>(f(bit_cast<In>(kept[element])));
    down += 8;
    to += 8 * apart;
    element += step;
    if (k == half) {
      across += 32;
      down = team;
      to += 32 - 32 * apart;
      element += 32 - 32 * kPitch;
    }
  }
}

}  // namespace kiln::families
