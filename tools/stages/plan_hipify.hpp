// plan_hipify: the steps that turn CUDA sources and their local headers into HIP.
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// One step a file that some AMD target needs, by path: {src}/x -> {out}/hip/x.
std::vector<Step> plan_hipify(const Manifest& manifest, const std::vector<Unit>& units);

}  // namespace kiln::tools
