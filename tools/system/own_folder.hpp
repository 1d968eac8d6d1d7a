// Where this program lies, and what was installed with it.
#pragma once

#include <filesystem>
#include <string>

namespace kiln::tools {

// This program's file, absolute.
std::filesystem::path own_program();

// The folder of kiln's own kernels, share/kiln/kernels beside the folder of the program.
std::filesystem::path kernels_folder();

// A page of the documentation: its file where it was installed with this program, else "docs/HOST.md".
std::string page(const std::string& name);

}  // namespace kiln::tools
