// How generated text is laid out: lists broken over lines, names in comments.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln::generator {

inline constexpr std::size_t kColumns = 100;

// `line` and "a, b, c" and `end`, broken over lines of at most kColumns that start with `lead`,
// later ones indented to the first element.
std::string listed(std::string line, const std::vector<std::string>& elements, char end,
                   const std::string& lead = {});

// The name as it is, or where it could end the comment's line or go on in the next, as a literal.
// An assembly label can hold any character.
std::string in_comment(const std::string& name);

}  // namespace kiln::generator
