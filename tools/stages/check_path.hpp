// check_path: whether the tools can be given a path.
//
// nvcc and hipcc hand their command lines to a shell, with every word in double quotes; kiln itself
// spells places as {name}; lists of files are lines. A path with what any of them would take for
// more than a letter is refused, with the reason, before it is handed on.
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

// Why a file below the manifest's folder cannot be given to the tools under its relative path;
// empty: it can.
std::string why_not_a_source_path(std::string_view path);

// The same of a folder, under its absolute path.
std::string why_not_a_folder_path(std::string_view path);

// The same of a folder that is searched for headers.
std::string why_not_an_include_directory(std::string_view path);

}  // namespace kiln::tools
