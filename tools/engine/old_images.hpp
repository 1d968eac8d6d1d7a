// Images and bundles in the out folder that the present build did not make: of a target that was
// left out this time, or that the manifest no longer has. KILN_IMAGE_PATH may name the folder, so
// that an image of older sources must not stay there beside new ones.
#pragma once

#include <string>
#include <vector>

#include "tools/engine/assess.hpp"
#include "tools/engine/state.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

enum class BuildExtent : std::uint8_t {
  kWhole,     // of the manifest: what it does not make is dropped
  kSelected,  // --target or --module: what it does not make stays while its sources are the same
};

// Removes those, and returns their paths below the out folder. After the plan's steps, all of
// which succeeded.
std::vector<std::string> remove_old_images(BuildExtent extent, const BuildContext& context,
                                           const BuildState& state, Files& files);

}  // namespace kiln::tools
