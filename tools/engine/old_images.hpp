// Removes what an earlier build left in the out folder and the present one does not make.
//
// Images and bundles: of targets that this build leaves out or that the manifest no longer has.
// KILN_IMAGE_PATH may name the out folder, so images of older sources must not stay beside new
// ones.
//
// Sources that hipify-perl made for AMD GPUs: an #include would still find a removed header.
#pragma once

#include <string>
#include <vector>

#include "tools/engine/assess.hpp"
#include "tools/engine/state.hpp"
#include "tools/model/selection.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// True if kiln writes files with such a name below images/ or bundles/. A user's own files there
// stay.
bool is_of_kiln(const std::filesystem::path& path);

// Removes images and bundles that the build does not make. With kSelected, files whose sources have
// not changed stay. Call it after all steps of the plan have succeeded. Returns the removed paths,
// relative to the out folder.
std::vector<std::string> remove_old_images(BuildExtent extent, const BuildContext& context,
                                           const BuildState& state, Files& files);

// Removes converted sources from hip/ that the plan does not make. With kSelected, removes only
// those whose source is gone. Call it before the plan's steps. Returns the removed paths, relative to
// the out folder.
std::vector<std::string> remove_old_conversions(BuildExtent extent, const Plan& plan, Files& files);

}  // namespace kiln::tools
