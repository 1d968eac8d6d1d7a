// Dependency files, as compilers write them and Make and Ninja read them.
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

// Returns the prerequisites in the order written, without repetitions.
Result<std::vector<std::string>> parse_depfile(std::string_view text);

// Checks that Make and Ninja both read this path in a rule literally. Some characters have no
// escape and would mean a command, an assignment or a pattern. The error (kInvalidInput) names the
// character.
Result<void> check_rule_path(std::string_view path);

// Writes the rule "target: prerequisites" with one prerequisite per line. Each prerequisite also
// gets an empty rule: if the file is gone, Make then treats it as changed instead of stopping.
// Prerequisites with '=' come last and get no rule of their own. Errors are those of
// check_rule_path.
Result<std::string> write_depfile(std::string_view target,
                                  const std::vector<std::string>& prerequisites);

// True if an existing depfile may be overwritten: it is empty or holds a rule for a stamp.
bool is_own_depfile(std::string_view text);

}  // namespace kiln::tools
