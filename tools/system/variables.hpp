// What kiln says of variables of the environment that are probably meant for it.
#pragma once

#include <string>
#include <vector>

#include "tools/system/environment.hpp"

namespace kiln::tools {

// A line for each variable that is set and is called nearly as one of those: "KILN_DEVCE is set, ...";
// and for each name in KILN_PASS_ENVIRONMENT that can be none.
std::vector<std::string> misspelt_variables(const Environment& environment);

}  // namespace kiln::tools
