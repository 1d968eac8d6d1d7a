// The comment at the head of a header: what it is, how it was made, and a table of its images.
#pragma once

#include <string>

#include "generator/generate.hpp"

namespace kiln::generator {

// Lines of "// ..."; ends with a newline.
std::string write_head_comment(const Catalog& catalog, const Options& options,
                               const Digest& digest);

}  // namespace kiln::generator
