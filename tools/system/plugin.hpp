// Opens libraries when a command needs them.
#pragma once

#include <string>

#include "kiln/result.hpp"

namespace kiln::tools {

// Returns a function of the library at `path`, a file or a name on the program's run path. The
// library stays open for the life of the process. The error (kUnavailable) has the linker's reason.
Result<void*> open_plugin(const std::string& path, const char* function);

}  // namespace kiln::tools
