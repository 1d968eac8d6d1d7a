// The command line: arguments in, one command's options out. Prints nothing and runs nothing.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/cli/invocation.hpp"

namespace kiln::tools {

// Reads the arguments that follow the program's name. The error (kInvalidInput) names the argument
// and the nearest valid one.
Result<Invocation> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace kiln::tools
