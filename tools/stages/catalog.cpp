#include "tools/stages/catalog.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/diagnostic.hpp"
#include "formats/mangled_name.hpp"
#include "formats/source_bundle.hpp"

namespace kiln::tools {
namespace {

// Sets `known` to `kind` if nothing is known yet.
void learn_kind(ParameterKind& known, ParameterKind kind) {
  if (known == ParameterKind::kUnknown) known = kind;
}

Kernel first_seen(const KernelInfo& info, std::uint16_t unit) {
  Kernel kernel{info.name, unit, {}};
  for (const Parameter& layout : info.parameters) kernel.parameters.push_back({.layout = layout});
  return kernel;
}

void learn_kinds(Kernel& kernel, const KernelInfo& info) {
  for (std::size_t i = 0; i < std::min(kernel.parameters.size(), info.parameters.size()); ++i) {
    learn_kind(kernel.parameters[i].layout.kind, info.parameters[i].kind);
  }
}

void learn_types(Kernel& kernel, const AbiKernel& abi) {
  for (std::size_t i = 0; i < std::min(kernel.parameters.size(), abi.parameters.size()); ++i) {
    KernelParameter& parameter = kernel.parameters[i];
    learn_kind(parameter.layout.kind, abi.parameters[i].layout.kind);
    parameter.type = abi.parameters[i].type;
    parameter.name = abi.parameters[i].name;
  }
}

// Ignores a name that contradicts the images: either it is not a mangled name, or the kernel takes
// structs.
void learn_types_from_name(Kernel& kernel) {
  const std::optional<std::vector<ParameterType>> types = parameters_of_mangled_name(kernel.name);
  if (!types || types->size() != kernel.parameters.size()) return;
  for (std::size_t i = 0; i < types->size(); ++i) {
    KernelParameter& parameter = kernel.parameters[i];
    const ParameterType& type = (*types)[i];
    const ParameterKind kind = type.is_pointer ? ParameterKind::kPointer : ParameterKind::kValue;
    if (!type.is_known() || size_of(type) != parameter.layout.size) continue;
    learn_kind(parameter.layout.kind, kind);
    if (parameter.layout.kind == kind) parameter.type = type;
  }
}

}  // namespace

Module assemble_module(const ModuleSpec& module, std::vector<Artifact> images,
                       const std::vector<AbiKernel>* abi) {
  std::sort(images.begin(), images.end(), [](const Artifact& a, const Artifact& b) {
    return std::tie(a.unit, a.target) < std::tie(b.unit, b.target);
  });
  std::map<std::string, Kernel> kernels;
  for (const Artifact& image : images) {
    for (const KernelInfo& info : image.info.kernels) {
      Kernel& kernel = kernels.try_emplace(info.name, first_seen(info, image.unit)).first->second;
      learn_kinds(kernel, info);
    }
  }
  for (auto& [name, kernel] : kernels) learn_types_from_name(kernel);
  if (abi != nullptr) {
    for (const AbiKernel& declared : *abi) {
      const auto known = kernels.find(declared.name);
      if (known != kernels.end()) learn_types(known->second, declared);
    }
  }
  Module built;
  built.name = module.name.value;
  for (const Located<std::string>& source : module.sources) built.sources.push_back(source.value);
  for (Artifact& image : images) {
    if (image.unit < built.sources.size()) image.source = built.sources[image.unit];
  }
  for (auto& [name, kernel] : kernels) built.kernels.push_back(std::move(kernel));
  built.images = std::move(images);
  return built;
}

Result<UnitOrigin> origin_of(std::string_view source_bundle) {
  KILN_TRY_ASSIGN(const SourceBundle bundle, read_source_bundle(source_bundle));
  UnitOrigin origin;
  for (const SourceBundle::File& file : bundle.files) {
    origin.files.push_back({file.path, sha256(file.text)});
  }
  const auto add = [&](const char* key, const std::vector<std::string>& options) {
    if (!options.empty()) origin.options.emplace_back(key, options);
  };
  add("include_directories", bundle.include_directories);
  add("defines", bundle.defines);
  add("flags", bundle.flags);
  add("amd_flags", bundle.amd_flags);
  add("nvidia_flags", bundle.nvidia_flags);
  add("host_flags", bundle.host_flags);
  return origin;
}

std::vector<ToolRecord> tool_records(const Plan& plan, const Toolchain& toolchain,
                                     FileDigests& digests) {
  // Counts only the roles that some step names: a build of PTX, for instance, does not depend on
  // ptxas.
  std::map<ToolKind, std::set<std::string>> roles;
  for (const Step& step : plan.steps) {
    roles[step.tool].insert(step.tool_roles.begin(), step.tool_roles.end());
  }
  std::vector<ToolRecord> records;
  for (const auto& [kind, used] : roles) {
    const Tool& tool = toolchain.tool(kind);
    std::map<std::string, KeyHasher> hashers;
    for (const Tool::Part& part : tool.parts) {
      if (!used.contains(part.role)) continue;
      const std::optional<Digest> digest = digests.digest(part.path);
      hashers[part.role].add("part " + part.path.filename().string(),
                             digest ? digest->hex() : "missing");
    }
    ToolRecord record{.name = std::string(to_string(kind)), .version = tool.version};
    for (auto& [role, hasher] : hashers) record.roles.emplace_back(role, hasher.finish().hex());
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<std::string> built_targets(const std::vector<Module>& modules) {
  std::set<TargetId> targets;
  for (const Module& module : modules) {
    for (const Artifact& image : module.images) targets.insert(image.target);
  }
  std::vector<std::string> names;
  for (const TargetId& target : targets) names.push_back(to_string(target));
  return names;
}

}  // namespace kiln::tools
