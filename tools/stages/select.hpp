// select: the part of a manifest that the command line asks for.
//
// --target replaces the manifest's list of targets. A module with a list of its own keeps those of its
// own that are asked for, and is left out where that is none; a target that such modules alone name is
// for them alone. --module keeps the modules named.
#pragma once

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/selection.hpp"

namespace kiln::tools {

// Errors (kInvalidInput): an unknown or repeated target or module, no module left.
Result<Manifest> select(Manifest manifest, const Selection& selection);

}  // namespace kiln::tools
