// The header itself: guards against another <kiln/catalog.hpp>, then the catalog as constants.
#pragma once

#include <string>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_header(const Catalog& catalog, const Options& options, const Digest& digest);

// The source file of Storage::kSplit: the bytes of the images. Each is weak and hidden, so that a program
// that links the file twice, through two libraries, keeps one copy of it.
std::string write_cpp_source(const Catalog& catalog, const Options& options, const Digest& digest);

}  // namespace kiln::generator
