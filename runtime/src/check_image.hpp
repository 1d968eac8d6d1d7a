// Checks images that no build of kiln vouches for: those that the caller brings and those of
// KILN_IMAGE_PATH.
#pragma once

#include <cstddef>
#include <span>

#include "kiln/result.hpp"
#include "runtime/src/select_image.hpp"

namespace kiln::runtime {

// Checks that the image is whole and runs on the device. What the image's head does not tell is
// left to the driver. Errors: kInvalidInput if it is truncated or damaged, kNoImage if it is for
// other devices. Both say what to do.
Result<void> check_image(std::span<const std::byte> image, const DeviceTarget& device);

}  // namespace kiln::runtime
