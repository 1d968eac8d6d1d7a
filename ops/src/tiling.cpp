#include "tiling.hpp"

#include <algorithm>

#include "kernels/tuning/tiles.hpp"

namespace kiln::ops {
namespace {

constexpr std::size_t kMaxDims = 4;
constexpr std::size_t kMaxPlanes = 65535;  // limit of a grid's y and z

bool has_neighbours(const TiledDim& dim, std::size_t input) { return dim.in[input] <= 1; }

}  // namespace

Tiling tiling_of(const ViewBlock& block, std::size_t inputs, std::size_t count, std::size_t across,
                 std::size_t down) {
  const std::size_t rank = block.rank;
  if (rank < 2 || rank > kMaxDims || count >> 31 != 0) return {};
  std::array<TiledDim, kMaxDims> dims;
  std::array<std::size_t, 3> span{};
  std::size_t out = 1;
  for (std::size_t dim = rank; dim-- > 0;) {
    const std::size_t size = block.block[dim];
    dims[dim].size = static_cast<std::uint32_t>(size);
    dims[dim].out = static_cast<std::uint32_t>(out);
    for (std::size_t input = 0; input < inputs; ++input) {
      const std::size_t stride = block.block[(1 + input) * rank + dim];
      span[input] += (size - 1) * stride;
      if (span[input] >> 31 != 0) return {};
      dims[dim].in[input] = static_cast<std::uint32_t>(stride);
    }
    out *= size;
  }

  const std::size_t last = rank - 1;
  Tiling best;
  for (std::size_t chosen = 0; chosen < last; ++chosen) {
    Tiling tiling;
    tiling.across = dims[last];
    tiling.down = dims[chosen];
    bool suits = true;
    for (std::size_t input = 0; input < inputs; ++input) {
      suits = suits && (has_neighbours(tiling.across, input) || has_neighbours(tiling.down, input));
    }
    std::size_t planes = 0;
    for (std::size_t dim = 0; dim < last; ++dim) {
      if (dim == chosen) continue;
      suits = suits && dims[dim].size <= kMaxPlanes;
      (planes++ == 0 ? tiling.y : tiling.z) = dims[dim];
    }
    if (!suits) continue;
    tiling.tiles = ((tiling.across.size - 1) / across + 1) * ((tiling.down.size - 1) / down + 1);
    if (best.tiles == 0 || tiling.count() < best.count()) best = tiling;
  }
  return best;
}

bool serves(const Tiling& tiling, Tiles tiles, std::size_t count, std::size_t of_tile) {
  return tiling.tiles != 0 && (tiles == Tiles::kAlways || tiling.count() <= count / (of_tile / 2));
}

void set_tile_grid(Launch& launch, const Tiling& tiling) {
  launch.grid = {static_cast<std::uint32_t>(tiling.tiles), tiling.y.size, tiling.z.size};
  launch.block.x = tuning::kTileThreads;
}

}  // namespace kiln::ops
