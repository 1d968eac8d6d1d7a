// The C++ header: guards against another <kiln/catalog.hpp>, followed by the catalog as constants.
#pragma once

#include <string>
#include <vector>

#include "generator/generate.hpp"

namespace kiln::generator {

// The bytes of each image of each module as string literals. They do not depend on the digest.
using Literals = std::vector<std::vector<std::string>>;
// Uses all cores. Empty if C++ text does not hold the bytes.
Literals write_literals(const Catalog& catalog, const Options& options);

std::string write_header(const Catalog& catalog, const Options& options, const Literals& literals,
                         const Digest& digest);

// Returns what follows the include of <kiln/catalog.hpp> in that header.
std::string write_header_body(const Catalog& catalog, const Options& options,
                              const Literals& literals, const Digest& digest);

// Returns the source file of Storage::kSplit, with the bytes of the images. Each is weak and
// hidden, so that a program that links the file twice, through two libraries, keeps one copy.
std::string write_cpp_source(const Catalog& catalog, const Options& options,
                             const Literals& literals, const Digest& digest);

}  // namespace kiln::generator
