// parse_modules: reads the modules of a manifest, with their sources, targets, options and budgets.
#pragma once

#include <vector>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

struct ParsedModules {
  std::vector<ModuleSpec> modules;  // sorted by name
  std::vector<Location> partial;    // places of the keys 'partial'
};

// Errors are reported to the source's reader.
ParsedModules parse_modules(ManifestSource& source, const Json& value);

}  // namespace kiln::tools
