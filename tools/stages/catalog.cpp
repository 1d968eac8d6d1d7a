#include "tools/stages/catalog.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kiln::tools {
namespace {

void learn_kinds(std::vector<Parameter>& known, const std::vector<Parameter>& other) {
  for (std::size_t i = 0; i < std::min(known.size(), other.size()); ++i) {
    if (known[i].kind == ParameterKind::kUnknown) known[i].kind = other[i].kind;
  }
}

}  // namespace

BuiltModule assemble_module(const ModuleSpec& module, std::vector<Artifact> images,
                            const std::vector<AbiKernel>* abi) {
  std::sort(images.begin(), images.end(), [](const Artifact& a, const Artifact& b) {
    return std::tie(a.unit, a.target) < std::tie(b.unit, b.target);
  });
  struct Known {
    std::uint16_t unit;
    std::vector<Parameter> parameters;
  };
  std::map<std::string, Known> kernels;
  for (const Artifact& image : images) {
    for (const KernelInfo& kernel : image.info.kernels) {
      Known& known = kernels.try_emplace(kernel.name, Known{image.unit, kernel.parameters}).first->second;
      learn_kinds(known.parameters, kernel.parameters);
    }
  }
  if (abi != nullptr) {
    for (const AbiKernel& kernel : *abi) {
      const auto known = kernels.find(kernel.name);
      if (known == kernels.end()) continue;
      std::vector<Parameter> places;
      for (const KernelParameter& parameter : kernel.parameters) places.push_back(parameter.place);
      learn_kinds(known->second.parameters, places);
    }
  }
  BuiltModule built;
  built.name = module.name.value;
  for (const Located<std::string>& source : module.sources) built.sources.push_back(source.value);
  for (Artifact& image : images) {
    if (image.unit < built.sources.size()) image.source = built.sources[image.unit];
    for (KernelInfo& kernel : image.info.kernels) {
      learn_kinds(kernel.parameters, kernels.at(kernel.name).parameters);
    }
  }
  for (auto& [name, known] : kernels) {
    built.kernel_names.push_back(name);
    built.units.push_back(known.unit);
    built.parameters.push_back(std::move(known.parameters));
  }
  built.images = std::move(images);
  return built;
}

std::vector<ToolRecord> tool_records(const Plan& plan, const Toolchain& toolchain,
                                     FileDigests& digests) {
  // A build for one vendor's PTX does not depend on ptxas: only roles that some step names count.
  std::map<ToolKind, std::set<std::string>> roles;
  for (const Step& step : plan.steps) {
    roles[step.tool].insert(step.tool_roles.begin(), step.tool_roles.end());
  }
  std::vector<ToolRecord> records;
  for (const auto& [kind, used] : roles) {
    const Tool& tool = toolchain.tool(kind);
    KeyHasher hasher;
    for (const Tool::Part& part : tool.parts) {
      if (!used.contains(part.role)) continue;
      const std::optional<Digest> digest = digests.digest(part.path);
      hasher.add("part " + part.role + " " + part.path.filename().string(),
                 digest ? digest->hex() : "missing");
    }
    records.push_back({.name = std::string(to_string(kind)),
                       .version = tool.version,
                       .identity = hasher.finish().hex()});
  }
  return records;
}

std::vector<std::string> built_targets(const std::vector<BuiltModule>& modules) {
  std::set<TargetId> targets;
  for (const BuiltModule& module : modules) {
    for (const Artifact& image : module.images) targets.insert(image.target);
  }
  std::vector<std::string> names;
  for (const TargetId& target : targets) names.push_back(to_string(target));
  return names;
}

}  // namespace kiln::tools
