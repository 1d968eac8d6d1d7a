// kiln diff: shows what changed between two builds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct DiffOptions {
  std::filesystem::path before, after;  // out folders, or their kiln.json
  std::vector<std::string> fail_on;     // stages/diff_builds: add_regression_limit()
  bool json = false;
};

Result<int> run_diff(const DiffOptions& options, World& world);

}  // namespace kiln::tools
