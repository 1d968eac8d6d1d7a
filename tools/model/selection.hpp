// What to build out of a manifest: the options that `build` and `plan` share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::tools {

// Whether a target whose tools are absent fails the build or is left out of it.
enum class MissingTargets : bool { kFail, kLeaveOut };

struct Selection {
  std::filesystem::path manifest = "targets.json";
  std::filesystem::path out = "out";
  std::vector<std::string> targets;  // instead of the manifest's; empty: the manifest's
  std::vector<std::string> modules;  // these alone; empty: all
  MissingTargets missing_targets = MissingTargets::kFail;
};

}  // namespace kiln::tools
