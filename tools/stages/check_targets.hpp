// check_targets: can the tools that were found build every target that the manifest asks for?
//
// Answered before anything runs: a tool that is absent, a processor that the device libraries or the
// CUDA toolkit do not know, a bundle of more targets than loaders read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/selection.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

// Why a target cannot be built here (kUnavailable), with what to do.
struct Obstacle {
  std::optional<ToolKind> missing;  // the tool that is absent; empty: the tools do not know the target
  Error error;
};

// Nothing when the target can be built.
std::optional<Obstacle> find_obstacle(const TargetId& target, const Toolchain& toolchain);

struct CheckedManifest {
  Manifest manifest;                 // with the targets that can be built
  std::vector<std::string> missing;  // the others, sorted; always empty with kFail
};

// kFail: the error (kUnavailable) holds every obstacle, where its target was asked for.
// kLeaveOut: an error only when nothing is left to build.
Result<CheckedManifest> check_targets(Manifest manifest, const Toolchain& toolchain,
                                      MissingTargets missing);

}  // namespace kiln::tools
