// Reads the head of an image: which devices it is for, and whether the image is complete. Loaders
// check this first, because drivers take an address without a size and read past the end of a
// truncated image.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/byte_reader.hpp"
#include "formats/target_id.hpp"

namespace kiln {

struct ImageHead {
  // Empty for containers and unknown formats.
  std::optional<TargetId> target;
  std::uint16_t ptx_isa = 0;  // 10 * major + minor of PTX, else 0
  // The targets of a container's entries, except those for the host. Empty for a compressed bundle.
  std::vector<TargetId> entries;
  bool has_unknown_entries = false;  // entries for targets that kiln does not know
};

// Errors: kInvalidInput for a file that is truncated. Does not notice PTX that lacks whole kernels
// at its end, and does not check a compressed bundle.
Result<ImageHead> read_image_head(Bytes image);

}  // namespace kiln
