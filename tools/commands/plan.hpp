// kiln plan: the steps that a build would run, as text or JSON. Runs none of them.
#pragma once

#include "kiln/result.hpp"
#include "tools/commands/selection.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct PlanOptions {
  Selection selection;
  bool json = false;
};

Result<int> run_plan(const PlanOptions& options, World& world);

}  // namespace kiln::tools
