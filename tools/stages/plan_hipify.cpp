#include "tools/stages/plan_hipify.hpp"

#include <algorithm>
#include <set>

#include "tools/hipify/hipify_driver.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/tool_use.hpp"

namespace kiln::tools {

std::vector<Step> plan_hipify(const Manifest& manifest, const Toolchain& toolchain,
                              const std::vector<Unit>& units) {
  const bool is_driven = !toolchain.tool(ToolKind::kHipify).driver_perl.empty();
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
    step.tool_roles = hipify_roles();
    step.output = hip_path(file);
    step.inputs = {"{src}/" + file};
    step.argv = {"{hipify-perl}", "-o=" + step.output, "{src}/" + file};
    if (is_driven) {
      step.argv.insert(step.argv.begin(), {"{perl}", std::string(kHipifyDriverPath)});
    }
    // hipify-perl prints its warnings in the order of Perl's hash tables. The seed fixes that
    // order.
    step.environment = {{"PERL_HASH_SEED", "0"}};
    steps.push_back(std::move(step));
  }
  return steps;
}

bool is_driven(const Step& step) {
  return step.kind == StepKind::kHipify && step.argv.size() > 1 &&
         step.argv[1] == kHipifyDriverPath;
}

}  // namespace kiln::tools
