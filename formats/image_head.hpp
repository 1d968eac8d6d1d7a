// What the head of an image tells: which devices it is for, and whether all of it is there. A
// loader asks that before a driver sees the image, because drivers take an address without a size,
// and read past the end of an image that is cut short.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/byte_reader.hpp"
#include "formats/target_id.hpp"

namespace kiln {

struct ImageHead {
  // Empty where the head does not tell: containers, and what kiln does not know. Of a cubin without
  // its 'a' or 'f' where only the rest of the file has it.
  std::optional<TargetId> target;
  std::uint16_t ptx_isa = 0;  // 10 * major + minor of PTX, else 0
};

// Errors: kInvalidInput for an ELF file, a fat binary or an offload bundle that is not all there.
Result<ImageHead> read_image_head(Bytes image);

// The same for PTX text: the first .version and .target directives, by their look alone.
ImageHead read_ptx_head(std::string_view text);

}  // namespace kiln
