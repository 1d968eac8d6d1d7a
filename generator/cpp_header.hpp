// The header itself: guards against another <kiln/catalog.hpp>, then the catalog as constants.
#pragma once

#include <string>
#include <vector>

#include "generator/generate.hpp"

namespace kiln::generator {

// The bytes of each image of each module, as string literals: the same whatever the digest is.
using Literals = std::vector<std::vector<std::string>>;
// On all cores. None where they are not in C++ text.
Literals write_literals(const Catalog& catalog, const Options& options);

std::string write_header(const Catalog& catalog, const Options& options, const Literals& literals,
                         const Digest& digest);

// The source file of Storage::kSplit: the bytes of the images. Each is weak and hidden, so that a program
// that links the file twice, through two libraries, keeps one copy of it.
std::string write_cpp_source(const Catalog& catalog, const Options& options,
                             const Literals& literals, const Digest& digest);

}  // namespace kiln::generator
