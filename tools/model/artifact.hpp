// What a build made: each image with what it says of itself, and the catalog over all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "formats/image.hpp"

namespace kiln::tools {

// One image: module x unit x target.
struct Artifact {
  std::string module;
  std::uint16_t unit = 0;
  std::string source;        // the unit's source, relative to the manifest
  TargetId target;
  ImageFormat format = ImageFormat::kHsaco;
  std::string path;          // relative to the out folder
  std::string bytes;         // the raw image
  Digest digest;             // SHA-256 of the bytes
  ImageInfo info;
  std::string tool_log;      // what the compiler printed (ptxas -v)
};

// One module with all its images, ready to embed.
struct BuiltModule {
  std::string name;
  std::vector<std::string> sources;           // by unit
  std::vector<std::string> kernel_names;      // sorted
  std::vector<std::vector<Parameter>> parameters;  // by kernel; kinds known where any image tells
  std::vector<std::uint16_t> units;           // by kernel
  std::vector<Artifact> images;               // sorted by unit, then target
  std::vector<std::string> source_bundles;    // by unit; empty unless the header is to hold them
};

struct ToolRecord {
  std::string name, version, identity;  // identity: digest over the parts' bytes
};

struct BuiltCatalog {
  std::string name;
  std::vector<std::string> targets;          // sorted by vendor, then name
  std::vector<std::string> missing_targets;  // left out by --allow-missing
  std::vector<BuiltModule> modules;          // sorted by name
  std::vector<ToolRecord> tools;
};

}  // namespace kiln::tools
