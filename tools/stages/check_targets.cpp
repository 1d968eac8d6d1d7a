#include "tools/stages/check_targets.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/layout.hpp"

namespace kiln::tools {
namespace {

// bytes that the HIP runtime searches for the header
constexpr std::size_t kBundleHeaderLimit = 4096;

std::optional<Obstacle> missing_tool(const TargetId& target, const Toolchain& toolchain,
                                     std::initializer_list<ToolKind> needed) {
  for (const ToolKind kind : needed) {
    const Tool& tool = toolchain.tool(kind);
    if (tool.found()) continue;
    Error error{ErrorCode::kUnavailable, "target " + quote(to_string(target)) + " needs " +
                                             std::string(to_string(kind)) +
                                             ", which this machine lacks"};
    error.note(tool.missing).hint(tool.named_by.empty() ? "install it: " + tool.install : correction(tool));
    return Obstacle{kind, std::move(error)};
  }
  return std::nullopt;
}

// `known` are the sorted names that the tools support.
std::optional<Obstacle> unknown_target(const std::string& who, const TargetId& target,
                                       const std::string& name,
                                       const std::vector<std::string>& known) {
  if (std::binary_search(known.begin(), known.end(), name)) return std::nullopt;
  Error error{ErrorCode::kUnavailable,
              "target " + quote(to_string(target)) + " cannot be built by " + who};
  // The kind prefix: "sm_" of cubin targets, "compute_" of PTX targets.
  const std::string kind = name.substr(0, name.find_first_of("0123456789"));
  std::vector<std::string> of_kind;
  for (const std::string& other : known) {
    if (other.starts_with(kind)) of_kind.push_back(other);
  }
  if (of_kind.empty()) {
    error.note("it lists no target that it can build; it may be another program");
  } else {
    error.note("what can be built: " + join(of_kind, ", "));
  }
  return Obstacle{std::nullopt, std::move(error)};
}

// If many targets need the same missing tool, one error reports it. The other targets are named
// before its hint.
void add_note(Error& error, const std::string& target, const Location& where) {
  error.notes.insert(error.notes.end() - 1,
                     {Note::Kind::kNote, "target " + quote(target) + " needs it too", where});
}

// Returns the size of an offload bundle's header: magic and count, then three numbers and a name
// per entry.
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

std::optional<Obstacle> find_obstacle(const TargetId& target, const Toolchain& toolchain) {
  switch (target.kind) {
    case TargetKind::kAmd:
      if (auto obstacle = missing_tool(
              target, toolchain,
              {ToolKind::kHipCompiler, ToolKind::kHipify, ToolKind::kOffloadBundler})) {
        return obstacle;
      }
      return unknown_target("the device libraries in " + toolchain.device_library_path.string(),
                            target, target.processor, toolchain.amd_processors);
    case TargetKind::kCubin:
    case TargetKind::kPtx: {
      if (auto obstacle =
              missing_tool(target, toolchain, {ToolKind::kNvcc, ToolKind::kFatbinary})) {
        return obstacle;
      }
      // nvcc lists "sm_90". "sm_90a" and "sm_100f" are the same chips with chip-specific
      // instructions.
      std::string listed = target.processor;
      if (target.nvidia_suffix() != '\0') listed.pop_back();
      const std::string& version = toolchain.tool(ToolKind::kNvcc).version;
      return unknown_target(version.empty() ? "nvcc" : "nvcc " + version, target, listed,
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
  std::map<ToolKind, std::size_t> by_tool;  // index of the tool's error in `errors`
  const auto keep_buildable = [&](std::vector<Located<TargetId>>& targets) {
    std::erase_if(targets, [&](const Located<TargetId>& target) {
      std::optional<Obstacle> obstacle = find_obstacle(target.value, toolchain);
      if (!obstacle) return false;
      missing_names.insert(to_string(target.value));
      if (!reported.insert(target.value).second) return true;
      if (obstacle->missing) {
        const auto [first, is_new] = by_tool.emplace(*obstacle->missing, errors.size());
        if (!is_new) {
          add_note(errors[first->second], to_string(target.value), target.where);
          return true;
        }
      }
      obstacle->error.where = target.where;
      errors.push_back(std::move(obstacle->error));
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
  if (!errors.empty() && missing == MissingTargets::kFail) {
    errors.back().hint("--allow-missing leaves out what cannot be built here");
    return merge_errors(std::move(errors));
  }
  if (!errors.empty() && manifest.modules.empty()) return merge_errors(std::move(errors));
  errors.clear();
  check_bundle_sizes(manifest, errors);
  if (!errors.empty()) return merge_errors(std::move(errors));
  return CheckedManifest{std::move(manifest), {missing_names.begin(), missing_names.end()}};
}

}  // namespace kiln::tools
