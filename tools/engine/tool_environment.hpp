// The environment that tools run in: what is passed on of the user's own, and nothing else.
//
// Every variable that a tool sees decides what it makes, so each is in this list, and counts as an
// ingredient of the step. PATH alone does not count as text: what is found on it counts, by its
// bytes. The language of messages is fixed, because messages are kept beside the images.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"

namespace kiln::tools {

using Variables = std::vector<std::pair<std::string, std::string>>;

// What is passed on of the user's own variables to tools of this kind, sorted by name: those that
// are set, of the tool's list and of KILN_PASS_ENVIRONMENT (names with commas between).
Variables passed_variables(ToolKind tool, const Environment& environment);

// Whether a variable of a tool's list holds options of its command line.
bool is_options(std::string_view name);

// All that a tool of this kind runs with, but for what the step itself sets.
Variables tool_environment(ToolKind tool, const Environment& environment);

}  // namespace kiln::tools
