// plan_bundle: makes the steps that put a unit's images into the vendors' own containers.
//
//   AMD      clang-offload-bundler: every image of the unit, aligned to 4096 as the HIP runtime maps it
//   NVIDIA   fatbinary, uncompressed: a compressed one needs a newer driver than its images do
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// `before` holds the steps of the plan so far, in the order of the plan.
std::vector<Step> plan_bundle(const Manifest& manifest, const std::vector<Unit>& units,
                              const std::vector<Step>& before);

}  // namespace kiln::tools
