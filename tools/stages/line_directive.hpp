// line_directive: makes the lines of a converted source count as those of its original, so that
// compilers, debuggers and __FILE__ refer to the file that people edit.
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

// Returns `converted` with a #line directive for `path`. The directive comes first, or after an
// #include that the converter added as the first line. If the converter changed the number of lines
// otherwise, no directive is added. A byte order mark is removed.
std::string add_line_directive(std::string converted, std::string_view original,
                               std::string_view path);

}  // namespace kiln::tools
