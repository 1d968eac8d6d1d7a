// parse_modules: the modules of a manifest, with their sources, targets, options and budgets.
#pragma once

#include <vector>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

struct ParsedModules {
  std::vector<ModuleSpec> modules;  // sorted by name
  std::vector<Location> partial;    // where 'partial' stands
};

// What is wrong is reported to the source's reader.
ParsedModules parse_modules(ManifestSource& source, const Json& value);

}  // namespace kiln::tools
