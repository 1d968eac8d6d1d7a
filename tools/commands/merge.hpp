// kiln merge combines builds for some of the targets each into one build; kiln strip does the
// reverse. Neither runs a tool or needs files outside the folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct MergeOptions {
  std::vector<std::filesystem::path> parts;  // out folders of builds
  std::filesystem::path out = "out";
};

struct StripOptions {
  std::filesystem::path folder;   // the out folder of a build
  std::vector<std::string> keep;  // targets
  std::filesystem::path out;
};

Result<int> run_merge(const MergeOptions& options, World& world);
Result<int> run_strip(const StripOptions& options, World& world);

}  // namespace kiln::tools
