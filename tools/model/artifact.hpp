// One image that a build made, with what it says of itself; or, where the header holds one, what a
// unit is compiled from (ImageFormat::kSource, without a target).
#pragma once

#include <cstdint>
#include <string>

#include "base/digest.hpp"
#include "formats/image.hpp"

namespace kiln::tools {

// Module x unit x target.
struct Artifact {
  std::string module;
  std::uint16_t unit = 0;
  std::string source;    // the unit's source, relative to the manifest
  TargetId target;       // what was asked for; `info` has what the image says
  std::string path;      // relative to the out folder
  std::string bytes;     // the image file
  Digest digest;         // SHA-256 of the bytes
  ImageInfo info;
  std::string tool_log;  // what the compiler printed (ptxas -v)

  // As the header holds it (stages/embed).
  Compression compression = Compression::kNone;
  std::string stored = {};
};

}  // namespace kiln::tools
