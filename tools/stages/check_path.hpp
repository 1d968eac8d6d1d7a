// check_path: decides whether a path can be given to the tools.
//
// nvcc and hipcc pass their command lines to a shell with every word in double quotes. kiln itself
// writes places as {name} and lists of files as lines. A path with a character that is special to
// any of them is refused in advance, with the reason.
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

// Returns why a file below the manifest's folder cannot be given to the tools by its relative path.
// Empty if it can.
std::string why_not_a_source_path(std::string_view path);

// The same for a folder given by its absolute path.
std::string why_not_a_folder_path(std::string_view path);

// The same for a folder that is searched for headers.
std::string why_not_an_include_directory(std::string_view path);

}  // namespace kiln::tools
