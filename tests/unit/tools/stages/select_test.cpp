#include "tools/stages/select.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;
using namespace kiln::tools;

namespace {

std::vector<Located<TargetId>> targets_of(const std::vector<std::string>& texts) {
  std::vector<Located<TargetId>> targets;
  for (const std::string& text : texts) targets.push_back({*parse_target_id(text), {}});
  return targets;
}

ModuleSpec module_of(const std::string& name, const std::vector<std::string>& targets) {
  ModuleSpec module;
  module.name.value = name;
  module.targets = targets_of(targets);
  return module;
}

// A manifest for gfx1100 and sm_90, with two modules that have their own targets.
Manifest manifest() {
  Manifest manifest;
  manifest.targets = targets_of({"gfx1100", "sm_90"});
  manifest.modules = {module_of("plain", {}), module_of("matrix", {"sm_90", "sm_90a"}),
                      module_of("host", {"host"})};
  return manifest;
}

// Returns "module: its targets" for each remaining module.
std::vector<std::string> left(std::vector<std::string> targets, std::vector<std::string> modules = {}) {
  Selection selection;
  selection.targets = std::move(targets);
  selection.modules = std::move(modules);
  const Result<Manifest> selected = select(manifest(), selection);
  if (!selected) return {selected.error().message};
  std::vector<std::string> lines;
  for (const ModuleSpec& module : selected->modules) {
    std::string line = module.name.value + ":";
    for (const auto& target : module.targets.empty() ? selected->targets : module.targets) {
      line += " " + to_string(target.value);
    }
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("modules with targets of their own keep those that are asked for, or are left out") {
  CHECK(left({}) == Lines{"plain: gfx1100 sm_90", "matrix: sm_90 sm_90a", "host: host"});
  CHECK(left({"gfx1100"}) == Lines{"plain: gfx1100"});
  CHECK(left({"sm_90"}) == Lines{"plain: sm_90", "matrix: sm_90"});
}

TEST_CASE("a target that some modules alone name is for them alone") {
  CHECK(left({"sm_90a"}) == Lines{"matrix: sm_90a"});
  CHECK(left({"host", "sm_90a", "gfx1100"}) ==
        Lines{"plain: gfx1100", "matrix: sm_90a", "host: host"});
  CHECK(left({"sm_90a"}, {"plain"}) == Lines{"plain: sm_90a"});
}

TEST_CASE("a target that nothing names is for modules without targets of their own") {
  CHECK(left({"gfx90a"}) == Lines{"plain: gfx90a"});
}

TEST_CASE("a selection without a module is an error") {
  CHECK(left({"gfx1100"}, {"host"}) ==
        Lines{"the modules have targets of their own, none of which is asked for"});
}
