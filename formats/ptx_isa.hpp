// Which PTX versions the drivers of each CUDA release compile. Source: PTX ISA, section Release
// Notes.
#pragma once

#include <cstdint>
#include <optional>

namespace kiln {

// Returns the newest PTX version that a driver compiles, as 10 * major + minor. `cuda_version` is
// the CUDA version that the driver supports (1000 * major + 10 * minor). Returns nothing if that is
// newer than this table, and 0 if it is older.
std::optional<std::uint16_t> max_ptx_isa(int cuda_version);

// Returns the first CUDA version whose drivers compile this PTX version, or 0 if unknown.
int cuda_of_ptx_isa(std::uint16_t ptx_isa);

}  // namespace kiln
