// The source line of an instruction.
#pragma once

#include <string>

#include "formats/byte_reader.hpp"

namespace kiln::emulator {

// Returns "fill.cu:33:7" for an address of that code object, or nothing without debug information.
// For an instruction of kiln's primitives (device/platform*.cuh), returns the line that calls the
// primitive.
std::string source_line(Bytes code_object, std::uint64_t address);

}  // namespace kiln::emulator
