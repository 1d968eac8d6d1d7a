// What an earlier build left in the out folder and the present one does not make.
//
// Images and bundles: of a target that was left out this time, or that the manifest no longer has.
// KILN_IMAGE_PATH may name the folder, so that an image of older sources must not stay there beside new ones.
//
// Sources that hipify-perl made for AMD GPUs: a header that is gone would still be found by an #include.
#pragma once

#include <string>
#include <vector>

#include "tools/engine/assess.hpp"
#include "tools/engine/state.hpp"
#include "tools/model/selection.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// By its name, whether kiln would write such a file below images/ or bundles/: a user's own notes there stay.
bool is_of_kiln(const std::filesystem::path& path);

// Removes what a whole build does not make; what one of kSelected does not make stays while its
// sources are the same. Returns the paths below the out folder. After the plan's steps, all of which
// succeeded.
std::vector<std::string> remove_old_images(BuildExtent extent, const BuildContext& context,
                                           const BuildState& state, Files& files);

// Removes from hip/ what the plan does not make there; of kSelected what the sources no longer have. Before the
// plan's steps.
void remove_old_conversions(BuildExtent extent, const Plan& plan, Files& files);

}  // namespace kiln::tools
