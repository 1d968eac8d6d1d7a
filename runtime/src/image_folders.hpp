// Images that users add to a program without rebuilding it. They are in the folders that
// KILN_IMAGE_PATH lists, in the layout of `kiln build`'s images/:
//
//   <folder>/<module>/<any name>             an image of a module with one unit
//   <folder>/<module>/<any name>/<any name>  an image of one unit of several
//   <folder>/<module>.sources                what they were built from: formats/image_sources.hpp
//
// The kind of a file and its device are read from the file, not from its name. The kernels in it
// tell which unit it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/catalog.hpp"
#include "runtime/src/select_image.hpp"
#include "runtime/src/unpack_image.hpp"

namespace kiln::runtime {

struct FolderImage {
  std::string path;
  std::string target;
  ImageFormat format = ImageFormat::kHsaco;
  std::uint16_t ptx_isa = 0;
  ImageBytes image;
  // False if the folder does not tell, or the module does not know its own sources. An image that
  // is known to be of other sources is refused.
  bool has_matching_sources = false;

  // Returns the image as a catalog entry, with views into this object.
  ImageEntry entry(std::uint16_t unit) const;
};

struct FolderImages {
  std::vector<FolderImage> images;  // in the order of the folders, then of the paths
  std::vector<Refusal> refusals;    // files that are not an image of the module, with reasons
  std::vector<std::string> notes;   // about folders that are missing or have nothing of the module
};

// Finds the images of one unit. Ignores files of other units.
FolderImages find_folder_images(std::span<const std::string> folders, const ModuleEntry& module,
                                std::uint16_t unit);

}  // namespace kiln::runtime
