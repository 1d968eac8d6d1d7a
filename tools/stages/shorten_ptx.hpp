// shorten_ptx: removes from PTX what only people need. Programs embed the text, and a quarter of
// what nvcc writes is comments, blanks and long names.
//
//   comments, blank lines, blanks       removed; one blank stays where tokens might join
//   $L__BB3_12, a label of a body       $12
//   NAME_param_2, a parameter of NAME   p2, in its list and its body
//
// Statements stay on lines of their own, because messages of ptxas refer to lines.
//
// If such a short name may occur in the text already, another prefix is used, or the long names
// stay. All other names stay, because people see them in profilers: kernels, functions, variables.
// So do registers, and the parameters of functions with textures, samplers or surfaces, whose names
// ptxas keeps. So ptxas makes the same code from both texts.
//
// A text is returned as it is unless all of it is understood: if it does not start with .version,
// has debug information (.section), an odd character, or braces that do not match.
#pragma once

#include <string>

namespace kiln::tools {

std::string shorten_ptx(std::string text);

}  // namespace kiln::tools
