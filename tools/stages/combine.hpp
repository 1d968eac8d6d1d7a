// combine: the catalogs of builds that each made some of the targets -> the catalog of all of them,
// and back.
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

// At least one part. Equal to the catalog of one build of all targets. The error (kInvalidInput)
// names every source, option, tool, kernel and setting in which the parts differ, and every target
// that two of them have.
Result<Catalog> combine(const std::vector<Part>& parts);

// What a build of these targets alone would have given. Targets that the catalog lacks count for
// nothing.
Catalog keep_targets(Catalog catalog, const std::vector<TargetId>& targets);

}  // namespace kiln::tools
