// What the images of a module were built from: the text images/<module>.sources of an out folder.
// `kiln build` writes it, and the runtime holds images of KILN_IMAGE_PATH to it.
//
//   text = "kiln image sources 1\n" { digest of the image " " digest of the sources "\n" }
//
// Both are SHA-256 in hexadecimal: of the image's file, and of what all units of the module are
// compiled from (formats/source_bundle.hpp).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/digest.hpp"

namespace kiln {

// By image, the sources.
using ImageSources = std::map<Digest, Digest>;

// Where it lies, relative to the folder of images.
std::string image_sources_path(std::string_view module);

std::string write_image_sources(const ImageSources& sources);

// Nothing where the text is no such text, or any line of it is damaged.
ImageSources read_image_sources(std::string_view text);

}  // namespace kiln
