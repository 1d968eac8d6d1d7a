// compile_commands.json: tells clangd how to read each source.
//
// Each source has one entry, because clangd uses the first that it finds. For the HIP source, the
// entry is the AMD compile as it is run. For the CUDA source, it is nvcc's compile translated to
// clang's flags, because clangd does not understand nvcc's. If nvcc is not used, it is the compile
// of the HIP source. Source of the format: "JSON Compilation Database Format Specification", Clang
// documentation.
#pragma once

#include "tools/json/json.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

Json compile_commands(const Plan& plan, const Toolchain& toolchain);

}  // namespace kiln::tools
