// tool_messages: what the compilers of a build printed although they succeeded, such as warnings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/engine/assess.hpp"
#include "tools/engine/execute.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// Returns what a compiler's log says: its messages, each once, without the properties that `ptxas -v`
// prints for each kernel. Of many lines the first ones, and where all of them are. Files are named as
// in step_error(). Empty if the log says nothing, or is not a compiler's.
std::string tool_message(const Step& step, const BuildContext& context, const Files& files,
                         std::string_view log);

// Returns that text below a line that says where it comes from: "nvcc printed for 'compile k sm_90':".
std::string message_of(const Step& step, std::string_view text);

// Returns such a message for each step that compiled now or came from the cache, in plan order. What
// a source printed for an earlier target, too, is left out.
std::vector<std::string> tool_messages(const BuildContext& context, const Execution& execution,
                                       const Files& files);

}  // namespace kiln::tools
