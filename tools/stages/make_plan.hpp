// make_plan: a checked manifest and a toolchain -> the steps of its build.
//
// Pure but for the sources, which are read to find their local headers. The parts, in the order of
// the plan: plan_hipify, plan_compile, plan_bundle.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// `out_root` is absolute. Every target of the manifest can be built (check_targets).
Result<Plan> make_plan(const Manifest& manifest, const Toolchain& toolchain,
                       const std::filesystem::path& out_root, const Files& files);

}  // namespace kiln::tools
