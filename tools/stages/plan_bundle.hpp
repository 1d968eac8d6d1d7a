// plan_bundle: the steps that put a unit's images into the vendors' own containers.
//
//   AMD      clang-offload-bundler: every image of the unit, aligned to 4096 as the HIP runtime maps it
//   NVIDIA   fatbinary, uncompressed: a compressed one asks for a newer driver than its images do
#pragma once

#include <vector>

#include "tools/model/plan.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

// `before` holds the plan's steps so far, which start the plan.
std::vector<Step> plan_bundle(const Manifest& manifest, const std::vector<Unit>& units,
                              const std::vector<Step>& before);

}  // namespace kiln::tools
