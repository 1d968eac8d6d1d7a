// Whether an image that no build of kiln vouches for is whole, and runs on a device: images that
// the caller brings, and those of KILN_IMAGE_PATH.
#pragma once

#include <cstddef>
#include <span>

#include "kiln/result.hpp"
#include "runtime/src/select_image.hpp"

namespace kiln::runtime {

// What the image's head does not tell is left to the driver. Errors: kInvalidInput, it is cut short
// or damaged; kNoImage, it is for other devices. Both say what to do.
Result<void> check_image(std::span<const std::byte> image, const DeviceTarget& device);

}  // namespace kiln::runtime
