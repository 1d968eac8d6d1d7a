// catalog: makes the one description of all images of a build, from which kiln.json and the header
// are written.
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

// Makes a module from its verified images. Kernels are sorted by name, each with the unit that
// holds it. Types and names of parameters come from the abi file; without one, types come from
// mangled names. The kind of a parameter may come from any image, type or abi file.
Module assemble_module(const ModuleSpec& module, std::vector<Artifact> images,
                            const std::vector<AbiKernel>* abi);

// Reads what a unit is compiled from, out of a text of formats/source_bundle.hpp.
Result<UnitOrigin> origin_of(std::string_view source_bundle);

// Returns the tools that the plan's steps use, with a digest per role over the files of their
// parts.
std::vector<ToolRecord> tool_records(const Plan& plan, const Toolchain& toolchain,
                                     FileDigests& digests);

// Returns the targets that the modules' images are for, sorted by vendor, then name.
std::vector<std::string> built_targets(const std::vector<Module>& modules);

}  // namespace kiln::tools
