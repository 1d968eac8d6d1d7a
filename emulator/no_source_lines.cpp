// For machines without libdw: no address has a source line.
#include "emulator/source_lines.hpp"

namespace kiln::emulator {

std::string source_line(Bytes, std::uint64_t) { return {}; }

}  // namespace kiln::emulator
