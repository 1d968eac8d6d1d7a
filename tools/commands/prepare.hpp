// Shared by build and plan: makes a plan that can run from a manifest on disk.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/selection.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

struct Prepared {
  Manifest manifest;  // reduced to what is asked for and can be built
  Toolchain toolchain;
  std::vector<Unit> units;  // the manifest's sources; point into `manifest`
  Plan plan;
  std::vector<std::string> missing_targets;  // left out by --allow-missing, sorted
};

Result<Prepared> prepare(const Selection& selection, World& world);

// Tells whether a build of the selection covers the whole manifest.
BuildExtent extent_of(const Selection& selection, const Prepared& prepared);

}  // namespace kiln::tools
