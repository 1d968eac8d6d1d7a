// kiln init: writes a manifest and a first program into a folder.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct InitOptions {
  std::filesystem::path folder = ".";
};

// If the folder has sources (*.cu), makes a module for each, also for the host if it uses kiln's
// spelling. Otherwise adds a first kernel with its abi file. Writes targets.json, CMakeLists.txt
// and main.cpp. Errors: kInvalidInput if one of the files exists; nothing is written then.
Result<int> run_init(const InitOptions& options, World& world);

}  // namespace kiln::tools
