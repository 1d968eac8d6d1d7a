// Tiles of large views. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

inline constexpr unsigned kTileThreads = 256;

// Of a cast: lines of so many elements, and lines side by side.
inline constexpr unsigned kTileLength = 64, kTileLines = 32;
// Of `where`, along both dims.
inline constexpr unsigned kTileSide = 32;

}  // namespace kiln::tuning
