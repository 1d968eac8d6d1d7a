// Which sources the images of a module were built from: the file images/<module>.sources of an out
// folder. `kiln build` writes it, and the runtime checks images of KILN_IMAGE_PATH against it.
//
//   text = "kiln image sources 1\n" { digest of the image " " digest of the sources "\n" }
//
// Both digests are SHA-256 in hexadecimal: of the image file, and of everything that the module's
// units are compiled from (formats/source_bundle.hpp).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/digest.hpp"

namespace kiln {

// Image -> sources.
using ImageSources = std::map<Digest, Digest>;

// Returns the path of the file, relative to the folder of images.
std::string image_sources_path(std::string_view module);

std::string write_image_sources(const ImageSources& sources);

// Returns an empty map if the text has another format or a damaged line.
ImageSources read_image_sources(std::string_view text);

}  // namespace kiln
