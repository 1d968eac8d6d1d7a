// The options that `build` and `plan` share: what to build of a manifest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::tools {

// Selects whether a target with missing tools fails the build or is left out.
enum class MissingTargets : bool { kFail, kLeaveOut };

// How much of the manifest a build covers.
enum class BuildExtent : bool {
  kWhole,     // everything that the manifest names
  kSelected,  // the part that --target, --module or --allow-missing leave
};

struct Selection {
  std::filesystem::path manifest = "targets.json";
  std::filesystem::path out = "out";
  std::vector<std::string> targets;  // replace the manifest's targets; empty: the manifest's
  std::vector<std::string> modules;  // the only modules to build; empty: all
  MissingTargets missing_targets = MissingTargets::kFail;
};

}  // namespace kiln::tools
