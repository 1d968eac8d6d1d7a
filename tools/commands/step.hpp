// kiln step: runs one step of a plan, for a Ninja file from `kiln plan --ninja`.
//
// Reads no manifest: the command line describes the step completely. Puts the output, log and
// dependency list in place as `kiln build` does. Uses neither a build's state nor the cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct StepOptions {
  std::filesystem::path source_root = ".", out = "out";
  std::string kind, tool, id;
  std::filesystem::path output, depfile;  // below `out`; the depfile may be empty
  std::string source;                     // for a hipify step, relative to the source root
  std::vector<std::filesystem::path> converted;  // files below out/hip that a compiler may read
  std::vector<std::string> variables;     // NAME=VALUE
  std::vector<std::string> command;
};

Result<int> run_step_command(const StepOptions& options, World& world);

}  // namespace kiln::tools
