// select: the part of a manifest that the command line asks for.
//
// --target replaces the manifest's list of targets; a module with a list of its own keeps those of
// its own that are asked for. --module keeps the modules named.
#pragma once

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/selection.hpp"

namespace kiln::tools {

// Errors (kInvalidInput): an unknown or repeated target or module, a module without a target left.
Result<Manifest> select(Manifest manifest, const Selection& selection);

}  // namespace kiln::tools
