// Images that a user adds to a program without building it again: the files of the folders that
// KILN_IMAGE_PATH lists, laid out as `kiln build` lays out its images/:
//
//   <folder>/<module>/<any name>             an image of a module of one unit
//   <folder>/<module>/<any name>/<any name>  an image of one unit of several
//   <folder>/<module>.sources                what they were built from: formats/image_sources.hpp
//
// What a file is, and for which device, is read from the file and not from its name; which unit it
// is, from the kernels in it.
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
  // False where the folder does not tell it, or the module does not know its own sources. What is
  // told to be of others is refused.
  bool is_of_our_sources = false;

  // As the catalog would list it. Views into this object.
  ImageEntry entry(std::uint16_t unit) const;
};

struct FolderImages {
  std::vector<FolderImage> images;  // in the order of the folders, then of the paths
  std::vector<Refusal> refusals;    // files that are no image of the module, each with the reason
  std::vector<std::string> notes;   // of each folder that is not there, or has nothing of the module
};

// The images of one unit. Files of other units are passed over.
FolderImages find_folder_images(std::span<const std::string> folders, const ModuleEntry& module,
                                std::uint16_t unit);

}  // namespace kiln::runtime
