// catalog: all images of a build -> the one description that kiln.json and the header are written from.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/artifact.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/file_digests.hpp"

namespace kiln::tools {

// One module out of its verified images: kernels sorted by name, each with the unit that holds it, and
// with the parameter kinds that the abi file or any image tells, in the images too.
BuiltModule assemble_module(const ModuleSpec& module, std::vector<Artifact> images,
                            const std::vector<AbiKernel>* abi);

// The tools that the plan's steps use, each with the digest over the bytes of its parts.
std::vector<ToolRecord> tool_records(const Plan& plan, const Toolchain& toolchain,
                                     FileDigests& digests);

// The targets that the modules' images are for, sorted by vendor, then name.
std::vector<std::string> built_targets(const std::vector<BuiltModule>& modules);

}  // namespace kiln::tools
