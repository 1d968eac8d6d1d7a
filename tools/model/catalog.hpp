// The catalog of a build: all modules with their kernels and images, and what they were made from.
//
// stages/catalog makes it from inspected images, and stages/read_catalog from a kiln.json.
// kiln.json and the generated header are written from it. Orders are part of the value: equal
// catalogs give equal bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/model/artifact.hpp"
#include "tools/model/kernel.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

// The files and options that a unit is compiled from.
struct UnitOrigin {
  std::vector<SourceFile> files;  // the source, then the local headers that it reaches, sorted
  // By key of the manifest, such as "flags". Empty lists are omitted.
  std::vector<std::pair<std::string, std::vector<std::string>>> options;
};

struct Module {
  std::string name;
  std::vector<std::string> sources;  // by unit; at least one
  std::vector<Kernel> kernels;       // sorted by name, byte by byte
  std::vector<Artifact> images;      // sorted by unit, then target
  // By unit: everything that the unit is compiled from (formats/source_bundle.hpp). Empty unless
  // the header embeds sources.
  std::vector<std::string> source_bundles = {};
  // SHA-256 of everything that the units are compiled from: sources, the local headers that they
  // reach, and options.
  Digest source_digest = {};
  std::vector<UnitOrigin> origins = {};  // by unit
  bool has_own_targets = false;          // the manifest lists targets for this module
  Budgets budgets = {};                  // the module's own
};

struct ToolRecord {
  std::string name, version;
  // For each role that a step of the build names: a digest over the role's files. Sorted by role.
  std::vector<std::pair<std::string, std::string>> roles = {};
  // The user's environment variables that hold options for the tool.
  std::vector<std::pair<std::string, std::string>> environment = {};
};

// Returns the digest over all roles of a tool.
std::string identity_of(const ToolRecord& tool);

// The settings of the whole build from the manifest and the command line.
struct BuildSettings {
  EmbedOptions embed;
  std::uint32_t minimum_runtime = 0;  // KILN_VERSION form; 0: any
  DebugInfo debug = DebugInfo::kNone;
  JoinedPtx joined_ptx = JoinedPtx::kNo;
  Floors floors;
  Budgets budgets;
};

struct Catalog {
  std::string name;
  std::vector<std::string> targets;          // sorted by vendor, then name
  std::vector<std::string> missing_targets;  // left out by --allow-missing
  std::vector<Module> modules;               // sorted by name; the position is the module's id
  std::vector<ToolRecord> tools = {};
  BuildSettings settings = {};
};

// A file made from images: bundles/<module>.{hsaco,fatbin}.
struct BundleRecord {
  std::string module;
  std::string path;  // relative to the out folder
  std::uint64_t size = 0;
  Digest digest;
};

}  // namespace kiln::tools
