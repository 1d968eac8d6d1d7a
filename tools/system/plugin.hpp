// Libraries that the tool opens when a command needs them.
#pragma once

#include <string>

#include "kiln/result.hpp"

namespace kiln::tools {

// The function of that name in the library at `path`, or of that name on the program's run path;
// the library stays open for the life of the process. The error (kUnavailable) has the linker's
// reason.
Result<void*> open_plugin(const std::string& path, const char* function);

}  // namespace kiln::tools
