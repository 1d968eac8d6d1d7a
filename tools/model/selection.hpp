// What to build out of a manifest: the options that `build` and `plan` share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::tools {

// Whether a target whose tools are absent fails the build or is left out of it.
enum class MissingTargets : bool { kFail, kLeaveOut };

// What a build is of.
enum class BuildExtent : bool {
  kWhole,     // all that the manifest names
  kSelected,  // of --target or --module, or without the targets that --allow-missing leaves out
};

struct Selection {
  std::filesystem::path manifest = "targets.json";
  std::filesystem::path out = "out";
  std::vector<std::string> targets;  // instead of the manifest's; empty: the manifest's
  std::vector<std::string> modules;  // these alone; empty: all
  MissingTargets missing_targets = MissingTargets::kFail;
};

}  // namespace kiln::tools
