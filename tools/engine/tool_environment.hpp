// The environment that tools run in: selected variables of the user's environment, and nothing
// else.
//
// Every variable that a tool sees may decide its output, so each is an ingredient of the step. PATH
// is the exception: the programs found on it count by their content. The language of messages is
// fixed, because messages are kept beside the images.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"

namespace kiln::tools {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Returns the user's variables that are passed on to tools of this kind, sorted by name: those that
// are set and are in the tool's list or in KILN_PASS_ENVIRONMENT (names separated by commas).
Variables passed_variables(ToolKind tool, const Environment& environment);

// True if a variable of a tool's list holds command-line options.
bool is_options(std::string_view name);

// Returns the whole environment of a tool of this kind, except the variables that the step itself
// sets.
Variables tool_environment(ToolKind tool, const Environment& environment);

}  // namespace kiln::tools
