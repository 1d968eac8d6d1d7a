// make_plan: makes the steps of a build from a checked manifest, its sources and a toolchain.
//
// The parts in the order of the plan: plan_hipify, plan_compile, plan_bundle.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// `out_root` is absolute. The toolchain must be able to build every target (check_targets). `units`
// come from plan_sources.
Plan make_plan(const Manifest& manifest, const Toolchain& toolchain, const std::vector<Unit>& units,
               const std::filesystem::path& out_root);

}  // namespace kiln::tools
