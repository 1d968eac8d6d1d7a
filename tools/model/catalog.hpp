// The catalog of a build: all modules with their kernels and images.
//
// stages/catalog makes it out of inspected images; kiln.json and the generated header are written from
// it. Orders are part of the value: the same catalog gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "tools/model/artifact.hpp"
#include "tools/model/kernel.hpp"

namespace kiln::tools {

struct Module {
  std::string name;
  std::vector<std::string> sources;  // by unit; at least one
  std::vector<Kernel> kernels;       // sorted by name, byte by byte
  std::vector<Artifact> images;      // sorted by unit, then target
  // By unit: what the unit is compiled from (formats/source_bundle.hpp). Empty unless the header is to
  // hold it.
  std::vector<std::string> source_bundles = {};
  // SHA-256 of what all units are compiled from: sources, the headers of the manifest's folder that
  // they reach, and options.
  Digest source_digest = {};
};

struct ToolRecord {
  std::string name, version, identity;  // identity: digest over the parts' bytes
};

struct Catalog {
  std::string name;
  std::vector<std::string> targets;          // sorted by vendor, then name
  std::vector<std::string> missing_targets;  // left out by --allow-missing
  std::vector<Module> modules;               // sorted by name; the position is the module's id
  std::vector<ToolRecord> tools = {};
};

}  // namespace kiln::tools
