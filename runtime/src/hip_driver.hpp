// The Driver for AMD GPUs, over libamdhip64.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime {

// Finds the functions in an opened libamdhip64 and initialises it. Errors: kUnavailable when a
// required function is missing or there is no device, kDriver for the rest.
Result<std::unique_ptr<Driver>> open_hip_driver(const Library& library);

// The target in a hipDeviceProp_t of whatever release: the one NUL-terminated text behind the
// device's name that reads as an AMD target, "gfx90a:sramecc+:xnack-". Empty when there is none.
std::string find_gcn_arch(std::string_view properties);

}  // namespace kiln::runtime
