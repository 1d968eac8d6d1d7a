// Upper 32 bits of the flat addresses of LDS and scratch. No address of a process looks like these.
#pragma once

#include "emulator/numbers.hpp"

namespace kiln::emulator {

inline constexpr u32 kSharedAperture = 0x00010000;
inline constexpr u32 kPrivateAperture = 0x00020000;
// The buffers of the host's services are given addresses here, one in each quarter of the lower 32
// bits. No memory is mapped there, so a kernel that uses a service faults, and the report names the
// service.
inline constexpr u32 kHostAperture = 0x00030000;
inline constexpr u32 kHostServiceShift = 30;
inline constexpr const char* kHostServices[] = {
    "a call of the host (printf or assert)",
    "printf",
    "malloc on the device",
};

}  // namespace kiln::emulator
