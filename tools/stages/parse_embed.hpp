// parse_embed: what a manifest says of the files for programs, and the names that may be given to
// them.
#pragma once

#include <string>
#include <string_view>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

// The value of "embed". What is wrong is reported to the source's reader.
EmbedOptions parse_embed(ManifestSource& source, const Json& value);

// A file's name that also fits into an assembly file and into #error lines: "kernels.hpp".
bool is_header_name(std::string_view name);

// A C++ namespace that may hold others: "kernels", "my::kernels"; not "kiln" or "std".
Result<std::string> parse_namespace(std::string_view text);

}  // namespace kiln::tools
