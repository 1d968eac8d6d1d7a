// kiln assemble: the last step of a Ninja file of `kiln plan --ninja`: catalog and header of images
// that are all in place. Runs no tool.
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
