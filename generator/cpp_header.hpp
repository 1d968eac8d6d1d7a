// The header itself: guards against another <kiln/catalog.hpp>, then the catalog as constants.
#pragma once

#include <string>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_header(const Catalog& catalog, const Options& options, const Digest& digest);

}  // namespace kiln::generator
