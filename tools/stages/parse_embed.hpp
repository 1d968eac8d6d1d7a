// parse_embed: reads what a manifest says about the files for programs, and checks names for them.
#pragma once

#include <string>
#include <string_view>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

// Parses the value of "embed". Errors are reported to the source's reader.
EmbedOptions parse_embed(ManifestSource& source, const Json& value);

// True for a file name of a header that is also safe in an assembly file and in #error lines:
// "kernels.hpp".
bool is_header_name(std::string_view name);

// Parses a C++ namespace, which may be nested: "kernels", "my::kernels". "kiln" and "std" are
// refused.
Result<std::string> parse_namespace(std::string_view text);

}  // namespace kiln::tools
