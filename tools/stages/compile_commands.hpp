// compile_commands.json: how clangd is to read each source.
//
// One entry a source: clangd uses the first it finds, and a second target would add nothing. An AMD
// compile is given as it is run, for the HIP source. nvcc's own flags mean nothing to clangd, so the
// CUDA source gets clang's spelling of the same compile; where nvcc is not used, that of the HIP one.
// Source of the format: "JSON Compilation Database Format Specification", Clang documentation.
#pragma once

#include "tools/json/json.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

Json compile_commands(const Plan& plan, const Toolchain& toolchain);

}  // namespace kiln::tools
