// The sources of a build as the planning stages use them: one Unit per module and source, with the
// files that it reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

struct Unit {
  const ModuleSpec* module = nullptr;
  std::uint16_t index = 0;  // position in module->sources
  std::string source;       // relative to the manifest's folder
  // The manifest's include directories, then the module's.
  std::vector<std::string> include_directories;
  std::vector<std::string> files;  // the source and its local headers, sorted
  // Files outside of the manifest's folder whose existence decides a condition (SourceFiles).
  std::vector<std::string> outside = {};

  const std::vector<Located<TargetId>>& targets(const Manifest& manifest) const {
    return targets_of(manifest, *module);
  }
};

// Returns all units, sorted by module and then by position. The error (kInvalidInput) lists every
// include that cannot be followed.
Result<std::vector<Unit>> plan_sources(const Manifest& manifest, const Files& files);

}  // namespace kiln::tools
