// Turns a fault into an error message for people.
#pragma once

#include "emulator/dispatch.hpp"
#include "emulator/fault.hpp"

namespace kiln::emulator {

// "out-of-bounds access: kernel 'k': a write of 4 bytes at ...", with notes that name the
// workgroup, wave and lane, the instruction and, if the code object has debug information, the
// source line.
Error report(const Fault& fault, const LaunchPlan& plan);

}  // namespace kiln::emulator
