// The layout of generated text: lists broken over lines, names in comments.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln::generator {

inline constexpr std::size_t kColumns = 100;

// Returns `line`, "a, b, c" and `end`, broken into lines of at most kColumns. Further lines start
// with `lead` and are indented to the first element.
std::string listed(std::string line, const std::vector<std::string>& elements, char end,
                   const std::string& lead = {});

// Returns the name, or a literal if the name could end the comment or continue it on the next line.
// An assembly label can contain any character.
std::string in_comment(const std::string& name);

}  // namespace kiln::generator
