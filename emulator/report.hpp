// A fault, told to people.
#pragma once

#include "emulator/dispatch.hpp"
#include "emulator/fault.hpp"

namespace kiln::emulator {

// "out-of-bounds access: kernel 'k': a write of 4 bytes at ...", with notes on who did it, by which
// instruction and, where the code object has debug information, at which line.
Error report(const Fault& fault, const LaunchPlan& plan);

}  // namespace kiln::emulator
