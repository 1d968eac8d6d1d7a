// Spells a define for nvcc. nvcc splits the word after -D at commas, removes one backslash before a
// character, and passes the rest to a shell in double quotes.
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

// Escapes "NAME=VALUE" so that the compiler receives it unchanged.
std::string nvcc_define(std::string_view define);

// Returns what the compiler receives for such a word. Words without special characters stay the
// same.
std::string define_of_nvcc(std::string_view word);

}  // namespace kiln::tools
