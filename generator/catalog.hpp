// What a header is made of: the generator's input, plain values.
//
// tools/stages/embed makes one from a finished build; the generator reads nothing else. Orders are
// part of the value, and the generator keeps them: same catalog, same text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "kiln/catalog.hpp"

namespace kiln::generator {

// One kernel of a module, the same in every image.
struct Kernel {
  std::string name;  // as the images export it
  std::uint16_t unit = 0;
  std::vector<Parameter> parameters;
};

// One image as it will lie in the program.
struct Image {
  std::string target;
  ImageFormat format = ImageFormat::kHsaco;
  Compression compression = Compression::kNone;
  std::uint16_t unit = 0;
  std::uint16_t ptx_isa = 0;
  std::string stored;    // the bytes to embed
  std::size_t size = 0;  // bytes once decompressed; PTX: with its final NUL
  Digest digest;         // of the image file; PTX: without the NUL
};

struct Module {
  std::string name;
  std::uint16_t unit_count = 1;
  std::vector<Kernel> kernels;  // sorted by name, byte by byte
  std::vector<Image> images;    // sorted by unit, then target
};

struct Catalog {
  std::string name;
  std::vector<std::string> targets;          // in the order of every module's images
  std::vector<std::string> missing_targets;  // asked for and left out
  std::vector<Module> modules;               // sorted by name; the position is the module's id
};

}  // namespace kiln::generator
