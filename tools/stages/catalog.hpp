// catalog: all images of a build -> the one description that kiln.json and the header are written from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/file_digests.hpp"

namespace kiln::tools {

// One module out of its verified images: kernels sorted by name, each with the unit that holds it.
// Types and names of parameters are those of the abi file, else types are read from mangled names;
// kinds are what any image, type or abi file tells.
Module assemble_module(const ModuleSpec& module, std::vector<Artifact> images,
                            const std::vector<AbiKernel>* abi);

// What a unit is compiled from, out of the text of formats/source_bundle.hpp.
Result<UnitOrigin> origin_of(std::string_view source_bundle);

// The tools that the plan's steps use, with the digests over the bytes of their parts.
std::vector<ToolRecord> tool_records(const Plan& plan, const Toolchain& toolchain,
                                     FileDigests& digests);

// The targets that the modules' images are for, sorted by vendor, then name.
std::vector<std::string> built_targets(const std::vector<Module>& modules);

}  // namespace kiln::tools
