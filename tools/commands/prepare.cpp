#include "tools/commands/prepare.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tools/engine/find_tools.hpp"
#include "tools/stages/check_path.hpp"
#include "tools/stages/check_targets.hpp"
#include "tools/stages/make_plan.hpp"
#include "tools/stages/parse_manifest.hpp"
#include "tools/stages/select.hpp"
#include "tools/stages/tool_bounds.hpp"
#include "tools/system/own_folder.hpp"

namespace kiln::tools {
namespace {

// Replaces "{kiln}" in include directories.
Result<void> place_own_headers(CompileOptions& options, const World& world) {
  for (Located<std::string>& directory : options.include_directories) {
    if (directory.value != kKilnsOwnHeaders) continue;
    const std::filesystem::path kernels = kernels_folder();
    if (world.files.kind(kernels / "device/platform.cuh") != PathKind::kFile) {
      return Error{ErrorCode::kEnvironment, "this kiln has lost its own headers, '{kiln}'",
                   directory.where}
          .note("they were looked for in " + kernels.string())
          .hint("install kiln again: cmake --install build --prefix DIR");
    }
    directory.value = kernels.generic_string();
  }
  return {};
}

}  // namespace

Result<Prepared> prepare(const Selection& selection, World& world) {
  Prepared prepared;
  KILN_TRY_ASSIGN(Manifest manifest,
                  parse_manifest(selection.manifest, world.environment.current_directory,
                                 world.files));
  // Every value of the manifest is now well formed, and every source exists.

  KILN_TRY(place_own_headers(manifest.options, world));
  for (ModuleSpec& module : manifest.modules) KILN_TRY(place_own_headers(module.options, world));

  KILN_TRY_ASSIGN(manifest, select(std::move(manifest), selection));
  // Only what was asked for is left now.

  KILN_TRY_ASSIGN(prepared.toolchain,
                  find_tools(world.files, world.processes, world.environment));
  KILN_TRY_ASSIGN(CheckedManifest checked, check_targets(std::move(manifest), prepared.toolchain,
                                                         selection.missing_targets));
  prepared.manifest = std::move(checked.manifest);
  prepared.missing_targets = std::move(checked.missing);
  KILN_TRY(check_tool_versions(prepared.manifest.tool_bounds, prepared.manifest, prepared.toolchain));
  // Only what can be built here is left now.

  const std::filesystem::path out = world.environment.absolute(selection.out);
  if (const std::string why = why_not_a_folder_path(out.native()); !why.empty()) {
    return Error{ErrorCode::kInvalidInput,
                 "the out folder " + quote(out.string()) + " cannot be given to the compilers"}
        .note(why)
        .hint("choose another one: --out DIR");
  }
  KILN_TRY_ASSIGN(prepared.units, plan_sources(prepared.manifest, world.files));
  prepared.plan = make_plan(prepared.manifest, prepared.toolchain, prepared.units, out);
  const bool has_fatbin = std::ranges::any_of(
      prepared.plan.steps, [](const Step& step) { return step.kind == StepKind::kFatbin; });
  if (has_fatbin && out.native().find(',') != std::string::npos) {
    return Error{ErrorCode::kInvalidInput, "the out folder " + quote(out.string()) + " cannot be given to fatbinary"}
        .note("it holds ',', which ends a name there")
        .hint("choose another one: --out DIR");
  }
  return prepared;
}

BuildExtent extent_of(const Selection& selection, const Prepared& prepared) {
  const bool is_whole = selection.targets.empty() && selection.modules.empty() && prepared.missing_targets.empty();
  return is_whole ? BuildExtent::kWhole : BuildExtent::kSelected;
}

}  // namespace kiln::tools
