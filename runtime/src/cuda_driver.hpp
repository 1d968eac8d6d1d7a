// The Driver for NVIDIA GPUs, based on libcuda.
#pragma once

#include <memory>

#include "kiln/result.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime {

// Finds the functions in an opened libcuda and initialises it, which takes 0.1 to 0.2 s. Errors:
// kUnavailable if a required function is missing or there is no device, and kDriver otherwise.
Result<std::unique_ptr<Driver>> open_cuda_driver(const Library& library);

}  // namespace kiln::runtime
