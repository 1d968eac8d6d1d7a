// kiln assemble: the last step of a Ninja file from `kiln plan --ninja`. Makes the catalog and the
// header from images that are already in place. Runs no tool.
#pragma once

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"
#include "tools/model/selection.hpp"

namespace kiln::tools {

struct AssembleOptions {
  Selection selection;
};

Result<int> run_assemble(const AssembleOptions& options, World& world);

}  // namespace kiln::tools
