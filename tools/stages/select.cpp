#include "tools/stages/select.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/compatibility.hpp"

namespace kiln::tools {
namespace {

Error wrong(std::string_view option, std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), Location{std::string(option)}};
}

Result<std::vector<Located<TargetId>>> read_targets(const std::vector<std::string>& texts) {
  std::vector<Located<TargetId>> targets;
  for (const std::string& text : texts) {
    Result<TargetId> target = parse_target_id(text);
    if (!target) {
      Error error = std::move(target).error();
      error.where.file = "--target";
      return error;
    }
    for (const Located<TargetId>& other : targets) {
      if (other.value == *target) return wrong("--target", "target " + quote(text) + " is given twice");
      if (!can_share_bundle(other.value, *target)) {
        return wrong("--target", "targets " + quote(to_string(other.value)) + " and " + quote(text) +
                                     " cannot be in one bundle")
            .hint("for one processor, either name a feature in every target or in none");
      }
    }
    targets.push_back({*std::move(target), Location{"--target"}});
  }
  return targets;
}

Result<void> keep_modules(Manifest& manifest, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const ModuleSpec& module : manifest.modules) known.push_back(module.name.value);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Error error = wrong("--module", "there is no module " + quote(name) + " in " +
                                        manifest.path.generic_string());
    const std::string near = nearest(name, known);
    return error.hint(near.empty() ? "the modules are " + join(known, ", ")
                                   : "did you mean " + quote(near) + "?");
  }
  std::erase_if(manifest.modules, [&](const ModuleSpec& module) {
    return std::find(names.begin(), names.end(), module.name.value) == names.end();
  });
  return {};
}

bool holds(const std::vector<Located<TargetId>>& targets, const TargetId& target) {
  return std::ranges::find(targets, target, &Located<TargetId>::value) != targets.end();
}

// A module with its own list of targets keeps those that are selected. All other modules are built
// for the selected targets, except those that only such lists name. A module without targets is
// left out.
Result<void> keep_targets(Manifest& manifest, std::vector<Located<TargetId>> targets) {
  std::vector<Located<TargetId>> general;
  for (const Located<TargetId>& target : targets) {
    const bool is_of_some_module = std::ranges::any_of(
        manifest.modules, [&](const ModuleSpec& module) { return holds(module.targets, target.value); });
    if (holds(manifest.targets, target.value) || !is_of_some_module) general.push_back(target);
  }
  std::erase_if(manifest.modules, [&](ModuleSpec& module) {
    if (module.targets.empty()) return general.empty();
    std::erase_if(module.targets, [&](const auto& own) { return !holds(targets, own.value); });
    return module.targets.empty();
  });
  if (manifest.modules.empty()) {
    return wrong("--target", "the modules have targets of their own, none of which is asked for")
        .hint("ask for one of them, or choose other modules with --module");
  }
  manifest.targets = std::move(general);
  return {};
}

}  // namespace

Result<Manifest> select(Manifest manifest, const Selection& selection) {
  if (!selection.modules.empty()) KILN_TRY(keep_modules(manifest, selection.modules));
  if (!selection.targets.empty()) {
    KILN_TRY_ASSIGN(std::vector<Located<TargetId>> targets, read_targets(selection.targets));
    KILN_TRY(keep_targets(manifest, std::move(targets)));
  }
  return manifest;
}

}  // namespace kiln::tools
