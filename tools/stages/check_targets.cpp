#include "tools/stages/check_targets.hpp"

#include <algorithm>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/layout.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kBundleHeaderLimit = 4096;  // bytes that the HIP runtime looks at

std::optional<Error> missing_tool(const TargetId& target, const Toolchain& toolchain,
                                  std::initializer_list<ToolKind> needed) {
  for (const ToolKind kind : needed) {
    const Tool& tool = toolchain.tool(kind);
    if (tool.found()) continue;
    Error error{ErrorCode::kUnavailable, "target " + quote(to_string(target)) + " needs " +
                                             std::string(to_string(kind)) +
                                             ", which this machine lacks"};
    return error.note(tool.missing)
        .hint("install it (" + tool.install + "), or leave such targets out with --allow-missing");
  }
  return std::nullopt;
}

Error unknown_to(const std::string& who, const TargetId& target, const std::string& name,
                 const std::vector<std::string>& known) {
  Error error{ErrorCode::kUnavailable,
              "target " + quote(to_string(target)) + " cannot be built by " + who};
  const std::string near = nearest(name, known);
  error.note("it knows " + join(known, ", "));
  if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
  return error;
}

bool contains(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// The header of an offload bundle: magic and count, then three numbers and a name an entry.
std::size_t bundle_header_size(const std::vector<Located<TargetId>>& targets) {
  std::size_t size = 24 + 8 + 24 + kBundleHostEntry.size();
  for (const Located<TargetId>& target : targets) {
    if (target.value.kind == TargetKind::kAmd) size += 24 + bundle_entry_name(target.value).size();
  }
  return size;
}

void check_bundle_sizes(const Manifest& manifest, std::vector<Error>& errors) {
  std::set<const std::vector<Located<TargetId>>*> seen;
  for (const ModuleSpec& module : manifest.modules) {
    const std::vector<Located<TargetId>>& targets = targets_of(manifest, module);
    const std::size_t size = bundle_header_size(targets);
    if (size <= kBundleHeaderLimit || !seen.insert(&targets).second) continue;
    errors.push_back(Error{ErrorCode::kInvalidInput,
                           "too many AMD targets for one bundle: their table takes " +
                               std::to_string(size) + " bytes, loaders read " +
                               std::to_string(kBundleHeaderLimit),
                           targets.front().where});
  }
}

}  // namespace

std::optional<Error> why_not_buildable(const TargetId& target, const Toolchain& toolchain) {
  switch (target.kind) {
    case TargetKind::kAmd: {
      if (auto error = missing_tool(target, toolchain,
                                    {ToolKind::kHipCompiler, ToolKind::kHipify,
                                     ToolKind::kOffloadBundler})) {
        return error;
      }
      if (contains(toolchain.amd_processors, target.processor)) return std::nullopt;
      return unknown_to("the device libraries in " + toolchain.device_library_path.string(), target,
                        target.processor, toolchain.amd_processors);
    }
    case TargetKind::kCubin:
    case TargetKind::kPtx: {
      if (auto error =
              missing_tool(target, toolchain, {ToolKind::kNvcc, ToolKind::kFatbinary})) {
        return error;
      }
      // nvcc lists "sm_90"; "sm_90a" and "sm_100f" are the same chip with its own instructions.
      std::string listed = target.processor;
      if (target.nvidia_suffix() != '\0') listed.pop_back();
      if (contains(toolchain.nvidia_targets, listed)) return std::nullopt;
      return unknown_to("nvcc " + toolchain.tool(ToolKind::kNvcc).version, target, listed,
                        toolchain.nvidia_targets);
    }
    case TargetKind::kHost:
      break;
  }
  return missing_tool(target, toolchain, {ToolKind::kHostCompiler});
}

Result<CheckedManifest> check_targets(Manifest manifest, const Toolchain& toolchain,
                                      MissingTargets missing) {
  std::vector<Error> errors;
  std::set<std::string> missing_names;
  std::set<TargetId> reported;
  const auto keep_buildable = [&](std::vector<Located<TargetId>>& targets) {
    std::erase_if(targets, [&](const Located<TargetId>& target) {
      std::optional<Error> why = why_not_buildable(target.value, toolchain);
      if (!why) return false;
      missing_names.insert(to_string(target.value));
      why->where = target.where;
      if (reported.insert(target.value).second) errors.push_back(*std::move(why));
      return true;
    });
  };
  const bool manifest_has_targets = !manifest.targets.empty();
  const bool is_manifest_list_used =
      std::any_of(manifest.modules.begin(), manifest.modules.end(),
                  [](const ModuleSpec& module) { return module.targets.empty(); });
  if (is_manifest_list_used) keep_buildable(manifest.targets);
  std::erase_if(manifest.modules, [&](ModuleSpec& module) {
    if (module.targets.empty()) return manifest_has_targets && manifest.targets.empty();
    keep_buildable(module.targets);
    return module.targets.empty();
  });
  if (!errors.empty() &&
      (missing == MissingTargets::kFail || manifest.modules.empty())) {
    return merge_errors(std::move(errors));
  }
  errors.clear();
  check_bundle_sizes(manifest, errors);
  if (!errors.empty()) return merge_errors(std::move(errors));
  return CheckedManifest{std::move(manifest), {missing_names.begin(), missing_names.end()}};
}

}  // namespace kiln::tools
