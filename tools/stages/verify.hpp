// verify: every image is what was asked for, and all images of a module offer the same kernels.
//
// A program that runs on one GPU and lacks a kernel on the next is found here and not by its users.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/artifact.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

// `images` are those of one module, in any order; `abi` is what its images must export, or null: then
// each kernel that any image exports must be in all of them, and there must be one. With
// AbiCoverage::kSome, kernels of `abi` that no image exports are left out, and there must be such
// kernels. The error (kBuildFailed) says for each image which kernels are missing, unexpected, or have
// other parameters, by name.
Result<void> verify_module(const std::string& module, const std::vector<Artifact>& images,
                           const std::vector<AbiKernel>* abi,
                           AbiCoverage coverage = AbiCoverage::kAll);

// Whether `joined`, of all sources of a module, has the kernels of the images of its target. The error
// (kBuildFailed) is like verify_module's.
Result<void> verify_joined(const std::string& module, const std::vector<Artifact>& images,
                           const Artifact& joined);

}  // namespace kiln::tools
