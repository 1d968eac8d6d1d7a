// find_tools: searches this machine and makes the Toolchain: which tools exist, where, in which
// version, and by which rule each was found.
//
// Each tool is looked for in this order; the first hit wins:
//   1. its own variable       KILN_HIPIFY_PERL, KILN_HIPCC (also HIPCXX), KILN_OFFLOAD_BUNDLER,
//                             KILN_NVCC, KILN_FATBINARY, KILN_CXX (also CXX): path or name on PATH.
//                             If it is set but wrong, the tool is "not found"; the search ends.
//   2. the vendor's folder    ROCM_PATH, HIP_PATH, /opt/rocm; CUDA_PATH, CUDA_HOME, /usr/local/cuda
//   3. PATH
//   4. the folder that tools/setup.sh fills (Environment::toolchain_directory)
// KILN_HIPCC and HIPCXX may name hipcc, amdclang++ or clang++. The program's name decides which
// options it is given.
//
// This is the only stage that runs programs to learn about them. The results are cached per
// user with the file status of every file they depend on (probe_cache.hpp), so that the next run
// runs none.
#pragma once

#include "kiln/result.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::tools {

// A tool that is missing or does not run is part of the result. The only error is kInterrupted.
Result<Toolchain> find_tools(Files& files, Processes& processes, const Environment& environment);

}  // namespace kiln::tools
