// Where LDS and scratch lie in the flat address space: the upper 32 bits of an address. No address
// of a process looks like these.
#pragma once

#include "emulator/numbers.hpp"

namespace kiln::emulator {

inline constexpr u32 kSharedAperture = 0x00010000;
inline constexpr u32 kPrivateAperture = 0x00020000;
// Where the buffers of the host's services would lie, one in each quarter of the lower 32 bits:
// nothing is there, so that a kernel which calls one is told of by name.
inline constexpr u32 kHostAperture = 0x00030000;
inline constexpr u32 kHostServiceShift = 30;
inline constexpr const char* kHostServices[] = {
    "a call of the host (printf or assert)",
    "printf",
    "malloc on the device",
};

}  // namespace kiln::emulator
