// The formats of images: their names, and the format for each kind of target.
#pragma once

#include <optional>
#include <string_view>

#include "formats/target_id.hpp"
#include "kiln/catalog.hpp"

namespace kiln {

std::string_view to_string(ImageFormat format);       // "hsaco", "cubin", "ptx", "host", "source"
std::string_view enumerator(ImageFormat format);      // "kHsaco", ...
std::string_view file_extension(ImageFormat format);  // "hsaco", "cubin", "ptx", "so", "source"

// The reverse of to_string().
std::optional<ImageFormat> parse_image_format(std::string_view name);

// Returns the format of the images for such targets.
ImageFormat format_of(TargetKind kind);

}  // namespace kiln
