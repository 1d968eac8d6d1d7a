// Which PTX the drivers of each CUDA release compile. Source: PTX ISA, section Release Notes.
#pragma once

#include <cstdint>

namespace kiln {

// The newest PTX that a driver compiles, as 10 * major + minor, from the CUDA version that it
// supports (1000 * major + 10 * minor). 0: newer than what is known here, so not limited.
std::uint16_t max_ptx_isa(int cuda_version);

// The first CUDA version whose drivers compile that PTX; 0: not known here.
int cuda_of_ptx_isa(std::uint16_t ptx_isa);

}  // namespace kiln
