// The error of a failed step: what its tool printed, the command, and what to do if that is known.
#pragma once

#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/model/plan.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// Makes the error (kBuildFailed). `log` is what the tool printed. The tool runs in the manifest's
// folder and names files relative to it. The error names files below the user's current folder
// relative to that folder, and other files by their whole path. Its location is the tool's first
// error.
Error step_error(const Step& step, const BuildContext& context, const Files& files, std::string message,
                 std::string_view log);

// Returns a tool's log with the files named in that way.
std::string log_for_user(std::string_view log, const BuildContext& context, const Files& files);

// True if a note of such an error holds the tool's output. The first note does, unless the tool
// printed nothing.
bool is_printed(const Note& note);

}  // namespace kiln::tools
