// plan_hipify: the steps that turn CUDA sources and their local headers into HIP.
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// One step a file that some AMD target needs, by path: {src}/x -> {out}/hip/x. By our driver of
// hipify-perl, where this version of it can be driven.
std::vector<Step> plan_hipify(const Manifest& manifest, const Toolchain& toolchain,
                              const std::vector<Unit>& units);

// Whether the step runs our driver, which must then lie at kHipifyDriverPath.
bool is_driven(const Step& step);

}  // namespace kiln::tools
