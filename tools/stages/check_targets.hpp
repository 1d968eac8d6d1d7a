// check_targets: checks that the tools on this machine can build every target of the manifest.
//
// Runs before any step. Finds missing tools, processors that the device libraries or the CUDA
// toolkit do not support, and bundles with more targets than loaders read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/selection.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

// Why a target cannot be built on this machine (kUnavailable), and what to do.
struct Obstacle {
  std::optional<ToolKind> missing;  // the missing tool; empty if the tools do not know the target
  Error error;
};

// Returns nothing if the target can be built.
std::optional<Obstacle> find_obstacle(const TargetId& target, const Toolchain& toolchain);

struct CheckedManifest {
  Manifest manifest;                 // reduced to the targets that can be built
  std::vector<std::string> missing;  // all other targets, sorted; always empty with kFail
};

// kFail: the error (kUnavailable) lists every obstacle at the place in the manifest that asks for
// its target. kLeaveOut: fails only if nothing is left to build.
Result<CheckedManifest> check_targets(Manifest manifest, const Toolchain& toolchain,
                                      MissingTargets missing);

}  // namespace kiln::tools
