#include "tools/stages/make_plan.hpp"

#include <iterator>

#include "tools/stages/plan_bundle.hpp"
#include "tools/stages/plan_compile.hpp"
#include "tools/stages/plan_hipify.hpp"

namespace kiln::tools {
namespace {

void append(std::vector<Step>& steps, std::vector<Step> more) {
  steps.insert(steps.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

}  // namespace

Plan make_plan(const Manifest& manifest, const Toolchain& toolchain, const std::vector<Unit>& units,
               const std::filesystem::path& out_root) {
  Plan plan;
  plan.source_root = manifest.directory;
  plan.out_root = out_root;
  for (const Tool& tool : toolchain.tools) {
    if (tool.found()) plan.placeholders.emplace(to_string(tool.kind), tool.path.string());
  }
  const Tool& hipify = toolchain.tool(ToolKind::kHipify);
  if (!hipify.driver_perl.empty()) plan.placeholders.emplace("perl", hipify.driver_perl.string());
  plan.placeholders.emplace("rocm", toolchain.rocm_path.string());
  plan.placeholders.emplace("bitcode", toolchain.device_library_path.string());

  plan.steps = plan_hipify(manifest, toolchain, units);
  append(plan.steps, plan_compile(manifest, toolchain, units, plan.steps));
  append(plan.steps, plan_bundle(manifest, units, plan.steps));
  append(plan.steps, plan_joined_ptx(manifest, toolchain, units));
  return plan;
}

}  // namespace kiln::tools
