#include "tools/engine/describe_build.hpp"

#include <set>

#include "base/diagnostic.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/stages/catalog.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

std::vector<ToolRecord> used_tools(const BuildContext& context) {
  std::vector<ToolRecord> tools = tool_records(context.plan, context.toolchain, context.digests);
  for (ToolRecord& record : tools) {
    for (const Tool& tool : context.toolchain.tools) {
      if (to_string(tool.kind) != record.name) continue;
      for (auto& [name, value] : passed_variables(tool.kind, context.environment)) {
        if (is_options(name) && !value.empty()) record.environment.emplace_back(name, value);
      }
    }
  }
  return tools;
}

BuildSettings settings_of(const Manifest& manifest) {
  return {.embed = manifest.embed,
          .minimum_runtime = manifest.minimum_runtime,
          .debug = manifest.debug,
          .joined_ptx = manifest.joined_ptx,
          .floors = manifest.floors,
          .budgets = manifest.budgets};
}

Result<void> describe_module(const Manifest& manifest, const ModuleSpec& spec,
                             const std::vector<Unit>& units, const ReadSource& read,
                             Module& module) {
  KILN_TRY_ASSIGN(std::vector<std::string> bundles, bundle_sources(manifest, spec, units, read));
  module.source_digest = source_digest(bundles);
  for (const std::string& bundle : bundles) {
    KILN_TRY_ASSIGN(UnitOrigin origin, origin_of(bundle));
    module.origins.push_back(std::move(origin));
  }
  module.has_own_targets = !spec.targets.empty();
  module.budgets = spec.budgets;
  if (manifest.embed.source != EmbedSource::kNone) module.source_bundles = std::move(bundles);
  return {};
}

Result<Catalog> describe_build(const Manifest& manifest, const std::vector<Unit>& units,
                               const BuildContext& context, const Files& files) {
  const auto read = [&](const std::filesystem::path& path) { return files.read(path); };
  Catalog catalog;
  catalog.name = manifest.name.value;
  catalog.tools = used_tools(context);
  catalog.settings = settings_of(manifest);
  std::set<TargetId> targets;
  for (const ModuleSpec& spec : manifest.modules) {
    Module module;
    module.name = spec.name.value;
    for (const Located<std::string>& source : spec.sources) module.sources.push_back(source.value);
    KILN_TRY(describe_module(manifest, spec, units, read, module));
    catalog.modules.push_back(std::move(module));
    for (const Located<TargetId>& target : targets_of(manifest, spec)) targets.insert(target.value);
  }
  for (const TargetId& target : targets) catalog.targets.push_back(to_string(target));
  return catalog;
}

}  // namespace kiln::tools
