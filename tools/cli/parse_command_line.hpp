// Parses the command line into the options of a command. Prints nothing and runs nothing.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/cli/invocation.hpp"

namespace kiln::tools {

// Parses the arguments that follow the program's name. The error (kInvalidInput) names the wrong
// argument and the nearest valid one.
Result<Invocation> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace kiln::tools
