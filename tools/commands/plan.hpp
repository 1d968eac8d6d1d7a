// kiln plan: shows the steps that a build would run, as text, as JSON or as a Ninja file. Runs
// none.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/selection.hpp"

namespace kiln::tools {

struct PlanOptions {
  Selection selection;
  bool json = false;
  std::filesystem::path ninja;  // the Ninja file to write; empty: none
};

// Returns one block per step: its id, and its command with {src}, {out} and the tools' names.
std::string plan_as_text(const Plan& plan, const std::vector<std::string>& missing_targets);
// The same with all details of each step, format 1; documented in docs/MANIFEST.md.
std::string plan_as_json(const Plan& plan, const std::vector<std::string>& missing_targets);

Result<int> run_plan(const PlanOptions& options, World& world);

}  // namespace kiln::tools
