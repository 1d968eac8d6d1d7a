// Includes whose names kiln cannot tell in advance, such as `#include TEXT(x.cuh)`. The headers that
// they name are not converted for AMD.
#pragma once

#include <filesystem>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/model/plan.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// True if `header`, which `file` includes and hipcc does not find, lies where only its conversion is
// missing: in the manifest's folder, beside the file or in an include directory of the step.
bool is_unconverted(std::string_view header, const std::filesystem::path& file, const Step& step,
                    const Plan& plan, const Files& files);

// Says which headers kiln knows, and how to make this one known.
void explain_computed_include(Error& error, std::string_view header);

}  // namespace kiln::tools
