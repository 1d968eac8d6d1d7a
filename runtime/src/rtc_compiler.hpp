// NVRTC and hipRTC as compilers: the vendors' own, in libraries that are opened when one is needed.
#pragma once

#include <memory>
#include <string>

#include "kiln/device.hpp"
#include "runtime/src/compiler.hpp"

namespace kiln::runtime {

// For the devices of CUDA, else of HIP. With a `library` path only that one is tried. Errors:
// kUnavailable with each path's reason, or the function that the library lacks.
Result<std::unique_ptr<Compiler>> open_rtc_compiler(Backend backend, const std::string& library);

}  // namespace kiln::runtime
