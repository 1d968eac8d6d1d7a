// plan_hipify: makes the steps that convert CUDA sources and their local headers to HIP.
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// Makes one step for each file that an AMD target needs, sorted by path: {src}/x -> {out}/hip/x.
// Uses kiln's driver of hipify-perl if the driver supports the installed version.
std::vector<Step> plan_hipify(const Manifest& manifest, const Toolchain& toolchain,
                              const std::vector<Unit>& units);

// True if the step runs kiln's driver. The driver must then be at kHipifyDriverPath.
bool is_driven(const Step& step);

}  // namespace kiln::tools
