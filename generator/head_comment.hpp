// The comment at the head of a generated file: what it is, how it was made, and a table of its images.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

// Lines of "// ..."; ends with a newline.
std::string write_head_comment(const Catalog& catalog, const Options& options,
                               const Digest& digest);

// Its parts, for the other files: what `file` is and how it was made; its targets and its images.
std::string title_comment(const Catalog& catalog, const std::string& file);
std::string contents_comment(const Catalog& catalog);
// `text`, lines of "// ...", where a kernel has an untyped parameter, and what would type it; else nothing.
std::string untyped_comment(const Catalog& catalog, std::string_view text);

}  // namespace kiln::generator
