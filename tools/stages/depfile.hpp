// Dependency files as compilers write them and Make and Ninja read them.
//
//   file   = target { target } ":" { blank path } newline      one rule; later rules are ignored
//   blank  = space, tab, or backslash newline
//   path   = text with "\ " for a space, "\#" for a hash, "$$" for a dollar; other backslashes are kept
//
// Source: GNU make manual, sections Rule Syntax and Splitting Long Lines; GCC manual, option -M.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln::tools {

// The prerequisites in the order written, without repetitions.
Result<std::vector<std::string>> parse_depfile(std::string_view text);

// Whether Make and Ninja both read this path in a rule as what it is: some characters they have no
// escape for, and take for a command, an assignment or a pattern. The error (kInvalidInput) names
// it.
Result<void> check_rule_path(std::string_view path);

// The rule "target: prerequisites", a prerequisite a line, and for each an empty rule of its own:
// Make takes one that is gone for changed, and does not stop; but for those with '=', after the others.
// The error is that of check_rule_path.
Result<std::string> write_depfile(std::string_view target,
                                  const std::vector<std::string>& prerequisites);

// Whether a file that is there may be overwritten: it holds nothing, or a rule for a stamp.
bool is_own_depfile(std::string_view text);

}  // namespace kiln::tools
