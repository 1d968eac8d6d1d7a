#include "tools/stages/plan_hipify.hpp"

#include <algorithm>
#include <set>

#include "tools/stages/layout.hpp"

namespace kiln::tools {

std::vector<Step> plan_hipify(const Manifest& manifest, const std::vector<Unit>& units) {
  std::set<std::string> files;
  for (const Unit& unit : units) {
    const auto& targets = unit.targets(manifest);
    const bool is_for_amd = std::any_of(targets.begin(), targets.end(), [](const auto& target) {
      return target.value.kind == TargetKind::kAmd;
    });
    if (is_for_amd) files.insert(unit.files.begin(), unit.files.end());
  }
  std::vector<Step> steps;
  for (const std::string& file : files) {
    Step step;
    step.id = "hipify " + file;
    step.kind = StepKind::kHipify;
    step.tool = ToolKind::kHipify;
    step.tool_roles = {"program", "interpreter"};
    step.output = hip_path(file);
    step.inputs = {"{src}/" + file};
    step.argv = {"{hipify-perl}", "-o=" + step.output, "{src}/" + file};
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace kiln::tools
