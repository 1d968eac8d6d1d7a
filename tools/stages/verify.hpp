// verify: checks that every image is what was asked for, and that all images of a module have the
// same kernels.
//
// A kernel that is missing on one GPU is found at build time, not by the program's users.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/artifact.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

// Checks the images of one module, in any order. `abi` lists the kernels that they must export. If
// it is null, every image must export all kernels that any of them does, and there must be at least
// one. With AbiCoverage::kSome, kernels of `abi` that no image exports are ignored, but there must
// be such kernels. The error (kBuildFailed) names, for each image, the kernels that are missing,
// unexpected or have other parameters.
Result<void> verify_module(const std::string& module, const std::vector<Artifact>& images,
                           const std::vector<AbiKernel>* abi,
                           AbiCoverage coverage = AbiCoverage::kAll);

// Checks that `joined`, made from all sources of a module, has the kernels of the images for its
// target. Errors are like those of verify_module.
Result<void> verify_joined(const std::string& module, const std::vector<Artifact>& images,
                           const Artifact& joined);

}  // namespace kiln::tools
