// Which line of which source an instruction comes from.
#pragma once

#include <string>

#include "formats/byte_reader.hpp"

namespace kiln::emulator {

// "fill.cu:33:7" for an address of that code object; empty without debug information. Of kiln's primitives
// (device/platform*.cuh) the line that calls them.
std::string source_line(Bytes code_object, std::uint64_t address);

}  // namespace kiln::emulator
