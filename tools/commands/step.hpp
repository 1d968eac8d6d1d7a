// kiln step: one step of a plan, as a Ninja file of `kiln plan --ninja` runs it.
//
// Reads no manifest: all that the step is, is on its command line. Puts output, log and dependency
// list in place as `kiln build` does, and neither reads nor writes a build's state or the cache.
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
  std::string source;                     // of a hipify step, relative to the source root
  std::vector<std::string> variables;     // NAME=VALUE
  std::vector<std::string> command;
};

Result<int> run_step_command(const StepOptions& options, World& world);

}  // namespace kiln::tools
