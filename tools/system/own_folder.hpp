// The location of this program and of what was installed with it.
#pragma once

#include <filesystem>
#include <string>

namespace kiln::tools {

// Returns the absolute path of this program's file.
std::filesystem::path own_program();

// Returns the folder of kiln's own kernels: share/kiln/kernels beside the program's folder.
std::filesystem::path kernels_folder();

// Returns the path of a page of the documentation: its installed file, or otherwise "docs/HOST.md".
std::string page(const std::string& name);

}  // namespace kiln::tools
