// Reads the head of an image: which devices it is for, and whether the image is complete. Loaders
// check this first, because drivers take an address without a size and read past the end of a
// truncated image.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/byte_reader.hpp"
#include "formats/target_id.hpp"

namespace kiln {

struct ImageHead {
  // Empty if the head does not tell: for containers and unknown formats.
  std::optional<TargetId> target;
  std::uint16_t ptx_isa = 0;  // 10 * major + minor of PTX, else 0
};

// Errors: kInvalidInput for an ELF file, a fat binary or an offload bundle that is truncated.
Result<ImageHead> read_image_head(Bytes image);

// The same for PTX text. Finds the first .version and .target directives by a text search.
ImageHead read_ptx_head(std::string_view text);

}  // namespace kiln
