// Where LDS and scratch lie in the flat address space: the upper 32 bits of an address. No address
// of a process looks like these.
#pragma once

#include "emulator/numbers.hpp"

namespace kiln::emulator {

inline constexpr u32 kSharedAperture = 0x00010000;
inline constexpr u32 kPrivateAperture = 0x00020000;

}  // namespace kiln::emulator
