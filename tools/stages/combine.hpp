// combine: merges the catalogs of builds for some of the targets each into the catalog of all
// targets. keep_targets() does the reverse.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

struct Part {
  std::string name;  // as the user gave it
  Catalog catalog;
};

// Takes at least one part. The result equals the catalog of a single build for all targets. The
// error (kInvalidInput) names every source, option, tool, kernel and setting in which the parts
// differ, and every target that is in two parts.
Result<Catalog> combine(const std::vector<Part>& parts);

// Returns the catalog of a build for these targets only. Ignores targets that the catalog lacks.
Catalog keep_targets(Catalog catalog, const std::vector<TargetId>& targets);

}  // namespace kiln::tools
