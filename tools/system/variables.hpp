// Warnings about environment variables that were probably meant for kiln.
#pragma once

#include <string>
#include <vector>

#include "tools/system/environment.hpp"

namespace kiln::tools {

// Returns a line for each variable whose name is nearly one of kiln's ("KILN_DEVCE is set, ..."),
// and for each name in KILN_PASS_ENVIRONMENT that cannot be a variable.
std::vector<std::string> misspelt_variables(const Environment& environment);

}  // namespace kiln::tools
