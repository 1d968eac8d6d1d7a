// kiln init: a manifest and a first program in a folder.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct InitOptions {
  std::filesystem::path folder = ".";
};

// With sources (*.cu) in the folder: a module for each, for the host too where it is in kiln's own
// spelling; else a first kernel as well. Writes
// targets.json, CMakeLists.txt and main.cpp, and with the first kernel its source and its abi file.
// Errors: kInvalidInput when one of them is there already; nothing is written then.
Result<int> run_init(const InitOptions& options, World& world);

}  // namespace kiln::tools
