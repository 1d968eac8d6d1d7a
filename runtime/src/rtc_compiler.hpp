// NVRTC and hipRTC, the vendors' run-time compilers. Their libraries are opened when needed.
#pragma once

#include <memory>
#include <string>

#include "kiln/device.hpp"
#include "runtime/src/compiler.hpp"

namespace kiln::runtime {

// Opens NVRTC for Backend::kCuda and hipRTC otherwise. If `library` is not empty, only that path is
// tried. Errors: kUnavailable with the reason for each path, or with the function that the library
// lacks.
Result<std::unique_ptr<Compiler>> open_rtc_compiler(Backend backend, const std::string& library);

}  // namespace kiln::runtime
