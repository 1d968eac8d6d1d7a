// kiln __complete: offers completions that depend on a file. Not in --help; the shell functions of
// 'kiln completions' call it.
#pragma once

#include <filesystem>
#include <string>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct CompleteOptions {
  // "targets" or "modules" of a manifest or build, "kernels" of an image
  std::string kind;
  std::filesystem::path file;  // file named on the command line; may be empty
};

// Prints one name per line, or none if there is no such file. Never fails.
Result<int> run_complete(const CompleteOptions& options, World& world);

}  // namespace kiln::tools
