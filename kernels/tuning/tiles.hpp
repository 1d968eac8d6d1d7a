// Tiles of large views. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

inline constexpr unsigned kTileThreads = 256;

// A tile of a cast: the length of its lines in elements, and the number of neighbouring lines.
inline constexpr unsigned kTileLength = 64, kTileLines = 32;
// The side of a tile of `where`, in both dims.
inline constexpr unsigned kTileSide = 32;

}  // namespace kiln::tuning
