// name_lines: a converted source whose lines count as those of the source that it was made of, so that
// compilers, debuggers and __FILE__ speak of the file that people edit.
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

// `converted` with a #line directive that names `path` before its first line; after it, when that is an
// #include that the converter put there. Without one when the converter did not keep lines. A byte order mark goes.
std::string name_lines(std::string converted, std::string_view original, std::string_view path);

}  // namespace kiln::tools
