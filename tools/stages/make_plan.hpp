// make_plan: a checked manifest, its sources and a toolchain -> the steps of its build.
//
// The parts, in the order of the plan: plan_hipify, plan_compile, plan_bundle.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// `out_root` is absolute. Every target of the manifest can be built (check_targets). `units` are the
// manifest's (plan_sources).
Plan make_plan(const Manifest& manifest, const Toolchain& toolchain, const std::vector<Unit>& units,
               const std::filesystem::path& out_root);

}  // namespace kiln::tools
