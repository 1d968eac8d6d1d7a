#include "tools/stages/plan_bundle.hpp"

#include <algorithm>
#include <map>

#include "tools/stages/layout.hpp"
#include "tools/stages/plan_compile.hpp"
#include "tools/stages/tool_use.hpp"

namespace kiln::tools {
namespace {

using Positions = std::map<std::string, std::uint32_t>;  // output -> position in the plan

Step container_step(const Unit& unit, StepKind kind, std::string_view extension,
                    const std::vector<TargetId>& targets, const Positions& positions) {
  Step step;
  step.id = std::string(to_string(kind)) + " " + step_subject(unit);
  step.kind = kind;
  step.module = unit.module->name.value;
  step.unit = unit.index;
  step.output = bundle_path(*unit.module, unit.index, extension);
  step.tool_roles = packing_roles();
  for (const TargetId& target : targets) {
    step.inputs.push_back(image_path(*unit.module, unit.index, target));
    step.after.push_back(positions.at(step.inputs.back()));
  }
  std::sort(step.inputs.begin(), step.inputs.end());
  return step;
}

Step offload_bundle(const Unit& unit, const std::vector<TargetId>& targets,
                    const Positions& positions) {
  Step step = container_step(unit, StepKind::kBundle, "hsaco", targets, positions);
  step.tool = ToolKind::kOffloadBundler;
  std::string names = "-targets=" + std::string(kBundleHostEntry);
  for (const TargetId& target : targets) names += "," + bundle_entry_name(target);
  // The first entry must be the host's, although it is empty.
  step.argv = {"{clang-offload-bundler}", "-type=o", "-bundle-align=4096", names,
               "-input=/dev/null"};
  for (const TargetId& target : targets) {
    step.argv.push_back("-input=" + image_path(*unit.module, unit.index, target));
  }
  step.argv.push_back("-output=" + step.output);
  return step;
}

Step fatbin(const Unit& unit, const std::vector<TargetId>& targets, const Positions& positions) {
  Step step = container_step(unit, StepKind::kFatbin, "fatbin", targets, positions);
  step.tool = ToolKind::kFatbinary;
  step.argv = {"{fatbinary}", "--create=" + step.output, "--compress=false"};
  for (const TargetId& target : targets) {
    // "sm_90a" and "compute_90a" both have the number 90a.
    const std::string number = target.processor.substr(target.processor.find('_') + 1);
    step.argv.push_back(std::string("--image3=kind=") +
                        (target.kind == TargetKind::kPtx ? "ptx" : "elf") + ",sm=" + number +
                        ",file=" + image_path(*unit.module, unit.index, target));
  }
  return step;
}

}  // namespace

std::vector<Step> plan_bundle(const Manifest& manifest, const std::vector<Unit>& units,
                              const std::vector<Step>& before) {
  Positions positions;
  for (std::uint32_t i = 0; i < before.size(); ++i) positions.emplace(before[i].output, i);
  std::vector<Step> steps;
  for (const Unit& unit : units) {
    const auto amd = sorted_targets(manifest, unit, {TargetKind::kAmd});
    if (!amd.empty()) steps.push_back(offload_bundle(unit, amd, positions));
    const auto nvidia = sorted_targets(manifest, unit, {TargetKind::kCubin, TargetKind::kPtx});
    if (!nvidia.empty()) steps.push_back(fatbin(unit, nvidia, positions));
  }
  return steps;
}

}  // namespace kiln::tools
