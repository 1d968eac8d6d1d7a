#include "tools/stages/lock_file.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "base/version_text.hpp"
#include "kiln/version.hpp"
#include "tools/json/json_fields.hpp"
#include "tools/stages/build_facts.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/origin_json.hpp"

namespace kiln::tools {
namespace {

constexpr int kFormat = 1;

// Reduces `catalog` to the modules of `wanted`: a lock may cover more than a build of some targets.
Catalog part_of(Catalog catalog, const Catalog& wanted) {
  std::erase_if(catalog.modules, [&](const Module& module) {
    return std::ranges::find(wanted.modules, module.name, &Module::name) == wanted.modules.end();
  });
  return catalog;
}

// A lock is complete, so a fact that it lacks is a difference.
Facts all_required(Facts facts) {
  for (auto& [what, fact] : facts) fact.is_optional = false;
  return facts;
}

Facts facts_of(const Catalog& catalog, const std::string& kiln) {
  Facts facts = facts_of_build(catalog);
  add_fact(facts, {"the version of kiln", kiln});
  return facts;
}

}  // namespace

Json lock_json(const Catalog& catalog) {
  Json::Array modules, tools;
  Json::Object images;
  for (const ToolRecord& tool : catalog.tools) tools.push_back(tool_json(tool));
  for (const Module& module : catalog.modules) {
    modules.push_back(module_json(module));
    for (const Artifact& image : module.images) images.push_back({image.path, image.digest.hex()});
  }
  return Json::Object{{"format", kFormat},
                      {"kiln", version_text(KILN_VERSION)},
                      {"name", catalog.name},
                      {"targets", strings(catalog.targets)},
                      {"settings", settings_json(catalog.settings)},
                      {"modules", std::move(modules)},
                      {"tools", std::move(tools)},
                      {"images", std::move(images)}};
}

Result<Lock> read_lock(std::string_view text, const std::string& file) {
  constexpr JsonLimits kLimits{.bytes = 64U << 20, .depth = 32};
  const std::string hint = "write it anew: kiln lock out --out " + shell_quote(file);
  Result<Json> read = read_json(text, file, kLimits);
  if (!read) return std::move(read).error().hint(hint);
  const Json document = *std::move(read);
  const auto settings = read_settings(document);
  const bool is_lock = integer_of(document, "format") == kFormat && settings &&
                       document.find("kiln") != nullptr && document.find("images") != nullptr;
  if (!is_lock) {
    return Error{ErrorCode::kInvalidInput, "not a lock file of this kiln", {file, 0, 0}}.hint(
        "name one that was written so: kiln lock out --out kiln.lock");
  }
  Lock lock;
  lock.kiln = text_of(document, "kiln");
  lock.catalog.name = text_of(document, "name");
  lock.catalog.targets = texts_of(array_of(document, "targets"));
  lock.catalog.settings = *settings;
  lock.catalog.modules = read_module_origins(document);
  lock.catalog.tools = read_tools(document);
  for (const JsonMember& image : object_of(document, "images")) {
    if (image.value.text() != nullptr) lock.images[image.key] = *image.value.text();
  }
  return lock;
}

Result<void> check_lock(const Lock& lock, const Catalog& now, const std::string& file,
                        BuildExtent extent) {
  const std::string here = "this build";
  std::set<std::string> notes;
  const auto compare = [&](const Facts& built, const Facts& locked) {
    compare_facts(all_required(built), here, locked, file, notes);
    compare_facts(locked, file, built, here, notes);
  };
  const Catalog locked = part_of(lock.catalog, now);
  compare(facts_of(now, version_text(KILN_VERSION)), facts_of(locked, lock.kiln));
  for (const Module& module : now.modules) {
    const auto same = std::ranges::find(locked.modules, module.name, &Module::name);
    if (same == locked.modules.end()) {
      notes.insert("module " + quote(module.name) + " is not in " + quote(file));
    } else {
      compare(facts_of_sources(module), facts_of_sources(*same));
    }
  }
  for (const std::string& target : now.targets) {
    if (std::ranges::find(lock.catalog.targets, target) == lock.catalog.targets.end()) {
      notes.insert("target " + quote(target) + " is not in " + quote(file));
    }
  }
  if (extent == BuildExtent::kWhole) {
    for (const std::string& target : lock.catalog.targets) {
      if (std::ranges::find(now.targets, target) == now.targets.end()) {
        notes.insert("target " + quote(target) + " is in " + quote(file) + " and not in this build");
      }
    }
    for (const Module& module : lock.catalog.modules) {
      if (std::ranges::find(now.modules, module.name, &Module::name) == now.modules.end()) {
        notes.insert("module " + quote(module.name) + " is in " + quote(file) +
                     " and not in this build");
      }
    }
  }
  if (notes.empty()) return {};
  Error error{ErrorCode::kBuildFailed, "this build would differ from " + quote(file)};
  add_notes(error, notes);
  return error.hint("build with what the lock names, or without --locked and write it anew: kiln lock");
}

Result<void> check_locked_images(const Lock& lock, const std::map<std::string, std::string>& images,
                                 const std::string& file) {
  std::set<std::string> notes;
  for (const auto& [path, digest] : images) {
    const auto locked = lock.images.find(path);
    if (locked == lock.images.end()) {
      notes.insert(quote(path) + " is not in " + quote(file));
    } else if (locked->second != digest) {
      notes.insert(quote(path) + " is " + digest.substr(0, 16) + "..., and " +
                   locked->second.substr(0, 16) + "... in " + quote(file));
    }
  }
  if (notes.empty()) return {};
  Error error{ErrorCode::kBuildFailed, counted(notes.size(), "image") + " of this build " +
                                           (notes.size() == 1 ? "differs" : "differ") + " from " +
                                           quote(file)};
  add_notes(error, notes);
  return error
      .note("sources, options and tools are those of the lock: what differs is something else that a "
            "compiler read, such as a system header")
      .hint("kiln diff tells what changed in them");
}

}  // namespace kiln::tools
