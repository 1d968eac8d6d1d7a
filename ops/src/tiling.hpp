// Cuts large views into tiles, for kernels that move one tile per block. The grid's y and z walk
// the other dims (kernels/families/cast_tiles.cuh, where_tiles.cuh).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kiln/ops/launch.hpp"
#include "operands.hpp"

namespace kiln::ops {

struct TiledDim {
  std::uint32_t size = 1;
  std::uint32_t out = 0;              // stride in the output
  std::array<std::uint32_t, 3> in{};  // strides in the inputs
};

struct Tiling {
  TiledDim across, down;  // the dims that are cut: the output's innermost dim, and another one
  TiledDim y, z;
  std::size_t tiles = 0;  // tiles per plane; 0: the views cannot be cut

  std::size_t count() const { return tiles * y.size * z.size; }
};

// Returns the tiling with the fewest tiles of `across` by `down` elements, for views with merged
// dims. The neighbours of each input must lie in a dim that is cut. Every offset must fit into 32
// bits.
Tiling tiling_of(const ViewBlock& block, std::size_t inputs, std::size_t count, std::size_t across,
                 std::size_t down);
// True if `count` elements should be moved in tiles of `of_tile` elements: the views can be cut,
// and on average the tiles are at least half full, because an empty tile costs as much as a full
// one. With Tiles::kAlways, it is enough that the views can be cut.
bool serves(const Tiling& tiling, Tiles tiles, std::size_t count, std::size_t of_tile);
// Sets one block per tile.
void set_tile_grid(Launch& launch, const Tiling& tiling);

}  // namespace kiln::ops
