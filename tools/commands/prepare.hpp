// What build and plan have in common: from a manifest on disk to a plan that can run.
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
  Manifest manifest;  // what is asked for and can be built
  Toolchain toolchain;
  std::vector<Unit> units;  // its sources; they point into `manifest`
  Plan plan;
  std::vector<std::string> missing_targets;  // left out by --allow-missing, sorted
};

Result<Prepared> prepare(const Selection& selection, World& world);

// What a build of that selection is of.
BuildExtent extent_of(const Selection& selection, const Prepared& prepared);

}  // namespace kiln::tools
