// An image that a build made, and what it says about itself. In a header, an artifact may instead
// be the source of a unit (ImageFormat::kSource, without a target).
#pragma once

#include <cstdint>
#include <string>

#include "base/digest.hpp"
#include "formats/image.hpp"

namespace kiln::tools {

struct SourceFile {
  std::string path;  // relative to the manifest
  Digest digest;
};

// Identified by module, unit and target.
struct Artifact {
  std::string module;
  std::uint16_t unit = 0;
  std::string source;    // the unit's source, relative to the manifest
  TargetId target;       // as requested; `info` has what the image says
  std::string path;      // relative to the out folder
  std::string bytes;     // the image file
  Digest digest;         // SHA-256 of the bytes
  ImageInfo info;
  std::string tool_log;  // what the compiler printed (ptxas -v)
  // Files of the manifest's folder that the compiler read although no include of the source leads to
  // them: options name them (-include), or macros that only compilers evaluate. Sorted.
  std::vector<SourceFile> also_read = {};

  // The form that the header holds (stages/embed).
  Compression compression = Compression::kNone;
  std::string stored = {};
};

}  // namespace kiln::tools
