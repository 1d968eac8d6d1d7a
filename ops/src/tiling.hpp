// How large views are cut into tiles: for kernels that move a tile a block, with the other dims as the
// grid's y and z (kernels/families/cast_tiles.cuh, where_tiles.cuh).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kiln/ops/launch.hpp"
#include "operands.hpp"

namespace kiln::ops {

struct TiledDim {
  std::uint32_t size = 1;
  std::uint32_t out = 0;              // stride of the output
  std::array<std::uint32_t, 3> in{};  // of the inputs
};

struct Tiling {
  TiledDim across, down;  // that are cut: the output's innermost, and another one
  TiledDim y, z;
  std::size_t tiles = 0;  // of a plane; 0: the views cannot be cut so

  std::size_t count() const { return tiles * y.size * z.size; }
};

// Of views of merged dims, with tiles of so many elements, the tiling of fewest tiles where each input's
// neighbours lie in a dim that is cut. 32 bits hold every place.
Tiling tiling_of(const ViewBlock& block, std::size_t inputs, std::size_t count, std::size_t across,
                 std::size_t down);
// Whether `count` elements go by that tiling, of tiles of so many: where they can be cut so, and, unless
// `tiles` asks for it always, tiles are half full at least, as empty ones cost as much.
bool serves(const Tiling& tiling, Tiles tiles, std::size_t count, std::size_t of_tile);
// A block a tile.
void set_tile_grid(Launch& launch, const Tiling& tiling);

}  // namespace kiln::ops
