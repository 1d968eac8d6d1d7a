// select: reduces a manifest to the part that the command line asks for.
//
// --target replaces the manifest's list of targets. A module with its own list keeps the selected
// targets of that list and is left out if there are none. A target that only such lists name is
// built only for those modules. --module keeps the named modules.
#pragma once

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/selection.hpp"

namespace kiln::tools {

// Errors (kInvalidInput): an unknown or repeated target or module, or no module left.
Result<Manifest> select(Manifest manifest, const Selection& selection);

}  // namespace kiln::tools
