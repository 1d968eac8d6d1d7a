// The error of a step that failed: what its tool printed, the command, and what to do where that is known.
#pragma once

#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/model/plan.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// kBuildFailed. `log` is what the tool printed. It runs in the manifest's folder and names files from there;
// the error names those below the user's folder from that one, and others by their whole path. It is about
// the place of the tool's first error.
Error step_error(const Step& step, const BuildContext& context, const Files& files, std::string message,
                 std::string_view log);

// Whether a note of such an error is what the tool printed: the first is, unless it printed nothing.
bool is_printed(const Note& note);

}  // namespace kiln::tools
