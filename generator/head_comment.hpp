// The comment at the head of a generated file: what it is, how it was made, and a table of its
// images.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

// Returns lines of "// ..." that end with a newline. `needs` says what the header includes.
std::string write_head_comment(const Catalog& catalog, const Options& options, const Digest& digest,
                               std::string_view needs);

// These functions return parts of the comment for other files: what `file` is and how it was made;
// its targets and images.
std::string title_comment(const Catalog& catalog, const std::string& file);
std::string contents_comment(const Catalog& catalog);
// Returns `text`, lines of "// ...", and how to get the types, if a kernel has an untyped
// parameter. Otherwise returns an empty string.
std::string untyped_comment(const Catalog& catalog, std::string_view text);

}  // namespace kiln::generator
