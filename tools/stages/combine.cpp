#include "tools/stages/combine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/compatibility.hpp"
#include "tools/stages/build_facts.hpp"
#include "tools/stages/catalog.hpp"
#include "tools/stages/tool_use.hpp"
#include "tools/stages/verify.hpp"

namespace kiln::tools {
namespace {

std::string signature(const Kernel& kernel) {
  std::vector<std::string> parameters;
  for (const KernelParameter& parameter : kernel.parameters) {
    std::string text = to_string(parameter.type);
    if (text.empty()) text = std::to_string(parameter.layout.size) + " bytes";
    parameters.push_back(parameter.name.empty() ? text : text + " " + parameter.name);
  }
  return "(" + join(parameters, ", ") + ")";
}

Facts facts_of_module(const Module& module) {
  Facts facts = facts_of_sources(module);
  for (const Kernel& kernel : module.kernels) {
    add_fact(facts, {"kernel " + quote(kernel.name) + " of module " + quote(module.name),
                     signature(kernel)});
  }
  // Compilers for other targets may read other files.
  for (const Artifact& image : module.images) {
    for (const SourceFile& file : image.also_read) {
      add_fact(facts, {.what = "file " + quote(file.path) + ", which compilers read,",
                       .value = file.digest.hex(),
                       .is_shown = false,
                       .is_optional = true});
    }
  }
  return facts;
}

const Module* find_module(const Catalog& catalog, const std::string& name) {
  const auto found = std::ranges::find(catalog.modules, name, &Module::name);
  return found == catalog.modules.end() ? nullptr : &*found;
}

// True if `b` lacks a module that it must have.
bool compare_parts(const Part& a, const Part& b, std::set<std::string>& notes) {
  bool lacks_module = false;
  compare_facts(facts_of_build(a.catalog), a.name, facts_of_build(b.catalog), b.name, notes);
  for (const Module& module : a.catalog.modules) {
    if (const Module* other = find_module(b.catalog, module.name)) {
      compare_facts(facts_of_module(module), a.name, facts_of_module(*other), b.name, notes);
    } else if (!module.has_own_targets) {
      notes.insert("module " + quote(module.name) + " is in " + quote(a.name) + " and not in " +
                   quote(b.name));
      lacks_module = true;
    }
  }
  return lacks_module;
}

void compare_targets(const Part& a, const Part& b, std::set<std::string>& notes) {
  for (const std::string& name_a : a.catalog.targets) {
    for (const std::string& name_b : b.catalog.targets) {
      const Result<TargetId> target_a = parse_target_id(name_a), target_b = parse_target_id(name_b);
      if (!target_a || !target_b) continue;
      if (*target_a == *target_b) {
        notes.insert("target " + quote(name_a) + " is in both " + quote(a.name) + " and " +
                     quote(b.name));
      } else if (!can_share_bundle(*target_a, *target_b)) {
        notes.insert("target " + quote(name_a) + " of " + quote(a.name) + " and target " +
                     quote(name_b) + " of " + quote(b.name) + " cannot be in one bundle");
      }
    }
  }
}

Result<void> check_parts(const std::vector<Part>& parts) {
  std::set<std::string> differences, targets;
  bool lacks_module = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (i != j && compare_parts(parts[i], parts[j], differences)) lacks_module = true;
      if (i < j) compare_targets(parts[i], parts[j], targets);
    }
  }
  if (differences.empty() && targets.empty()) return {};
  Error error{.code = ErrorCode::kInvalidInput,
              .message = std::string("the parts cannot be merged: ") +
                         (differences.empty() ? "their targets do not go together"
                                              : "they were not made of the same things")};
  differences.merge(targets);
  add_notes(error, differences);
  if (lacks_module) error.hint("a module that a part has no target of needs 'targets' of its own in the manifest");
  return error.hint("build each target once, all from the same sources, with the same tools");
}

void sort_images(Module& module) {
  std::ranges::sort(module.images, [](const Artifact& a, const Artifact& b) {
    return std::tie(a.unit, a.target) < std::tie(b.unit, b.target);
  });
}

void join_module(Module& module, const Module& more) {
  module.images.insert(module.images.end(), more.images.begin(), more.images.end());
  sort_images(module);
  for (std::size_t i = 0; i < std::min(module.kernels.size(), more.kernels.size()); ++i) {
    auto& known = module.kernels[i].parameters;
    const auto& other = more.kernels[i].parameters;
    for (std::size_t k = 0; k < std::min(known.size(), other.size()); ++k) {
      if (known[k].layout.kind == ParameterKind::kUnknown) {
        known[k].layout.kind = other[k].layout.kind;
      }
    }
  }
}

// Sorts by ToolKind.
void sort_tools(std::vector<ToolRecord>& tools) {
  const auto rank = [](const ToolRecord& tool) {
    int kind = 0;
    while (kind <= static_cast<int>(ToolKind::kHostCompiler) &&
           to_string(static_cast<ToolKind>(kind)) != tool.name) {
      ++kind;
    }
    return kind;
  };
  std::ranges::stable_sort(tools, {}, rank);
}

void join_tools(std::vector<ToolRecord>& tools, const std::vector<ToolRecord>& more) {
  for (const ToolRecord& tool : more) {
    const auto known = std::ranges::find(tools, tool.name, &ToolRecord::name);
    if (known == tools.end()) {
      tools.push_back(tool);
      continue;
    }
    for (const auto& role : tool.roles) {
      if (std::ranges::find(known->roles, role) == known->roles.end()) known->roles.push_back(role);
    }
    std::ranges::sort(known->roles);
  }
  sort_tools(tools);
}

}  // namespace

Result<Catalog> combine(const std::vector<Part>& parts) {
  KILN_TRY(check_parts(parts));
  Catalog whole = parts.front().catalog;
  std::set<std::string> missing(whole.missing_targets.begin(), whole.missing_targets.end());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Catalog& part = parts[i].catalog;
    for (const Module& module : part.modules) {
      const auto known = std::ranges::find(whole.modules, module.name, &Module::name);
      if (known == whole.modules.end()) {
        whole.modules.push_back(module);
      } else {
        join_module(*known, module);
      }
    }
    join_tools(whole.tools, part.tools);
    missing.insert(part.missing_targets.begin(), part.missing_targets.end());
  }
  std::ranges::sort(whole.modules, {}, &Module::name);
  whole.targets = built_targets(whole.modules);
  for (const std::string& target : whole.targets) missing.erase(target);
  whole.missing_targets.assign(missing.begin(), missing.end());
  std::vector<Error> errors;
  for (const Module& module : whole.modules) {
    Result<void> verified = verify_module(module.name, module.images, nullptr);
    if (!verified) errors.push_back(std::move(verified).error());
  }
  if (!errors.empty()) return merge_errors(std::move(errors));
  return whole;
}

Catalog keep_targets(Catalog catalog, const std::vector<TargetId>& targets) {
  std::vector<TargetId> kept;
  for (Module& module : catalog.modules) {
    std::erase_if(module.images, [&](const Artifact& image) {
      return std::ranges::find(targets, image.target) == targets.end();
    });
    for (const Artifact& image : module.images) kept.push_back(image.target);
  }
  std::erase_if(catalog.modules, [](const Module& module) { return module.images.empty(); });
  catalog.targets = built_targets(catalog.modules);
  catalog.missing_targets.clear();
  const auto used = roles_used(kept);
  for (ToolRecord& tool : catalog.tools) {
    std::erase_if(tool.roles, [&](const auto& role) {
      return std::ranges::none_of(used, [&](const auto& use) {
        return to_string(use.first) == tool.name && use.second.contains(role.first);
      });
    });
  }
  std::erase_if(catalog.tools, [](const ToolRecord& tool) { return tool.roles.empty(); });
  return catalog;
}

}  // namespace kiln::tools
