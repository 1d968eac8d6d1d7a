// find_tools: this machine -> Toolchain: which tools there are, where, which version, by which rule.
//
// Where each tool is looked for, first hit wins:
//   1. its own variable       KILN_HIPIFY_PERL, KILN_HIPCC (also HIPCXX), KILN_OFFLOAD_BUNDLER,
//                             KILN_NVCC, KILN_FATBINARY, KILN_CXX (also CXX): a path, or a name on PATH;
//                             set but wrong is "not found", with no further search
//   2. the vendor's folder    ROCM_PATH, HIP_PATH, /opt/rocm; CUDA_PATH, CUDA_HOME, /usr/local/cuda
//   3. PATH
//   4. the folder that tools/setup.sh fills (Environment::toolchain_directory)
// KILN_HIPCC and HIPCXX may name hipcc, amdclang++ or clang++: what it is called decides how it is
// called upon.
//
// The one stage that runs programs to learn about them. What it learns is kept per user, under the
// file status of every file it depends on (tool_memory.hpp), so that the next run runs none.
#pragma once

#include "kiln/result.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::tools {

// A tool that is missing, or does not run, is part of the value. The error is kInterrupted alone.
Result<Toolchain> find_tools(Files& files, Processes& processes, const Environment& environment);

}  // namespace kiln::tools
