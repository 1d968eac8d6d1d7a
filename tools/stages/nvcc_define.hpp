// A define as nvcc wants it. It splits what stands behind -D at commas, takes one backslash before a letter away,
// and gives the rest in double quotes to a shell.
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

// "NAME=VALUE" so that the compiler gets it letter by letter.
std::string nvcc_define(std::string_view define);

// What the compiler gets of such a one, or of any word without these letters.
std::string define_of_nvcc(std::string_view word);

}  // namespace kiln::tools
