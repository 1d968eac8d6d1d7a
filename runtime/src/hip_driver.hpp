// The Driver for AMD GPUs, based on libamdhip64.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime {

// Finds the functions in an opened libamdhip64 and initialises it. Errors: kUnavailable if a
// required function is missing or there is no device, and kDriver otherwise.
Result<std::unique_ptr<Driver>> open_hip_driver(const Library& library);

// Returns the target in a hipDeviceProp_t of any release: the first NUL-terminated text after the
// device's name that is a valid AMD target, such as "gfx90a:sramecc+:xnack-". Returns an empty
// string if there is none.
std::string find_gcn_arch(std::string_view properties);

}  // namespace kiln::runtime
