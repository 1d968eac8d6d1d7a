// The amalgamated header: kiln's public headers, a generated header, and the loader's sources in
// one file, for programs that link no library of kiln's. Pure.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

// Returns the text of "<stem>_amalgamated.hpp". Its images are stored uncompressed, as an array,
// whatever `options` say, so that nothing has to be linked to read them.
//
// The header needs C++17. One source file defines KILN_IMPLEMENTATION before including it and so
// gets the loader, which needs C++20 and the system libraries of -ldl and -pthread. The loader
// opens the drivers of CUDA and HIP and contains the host device. The emulated devices are in
// libkiln_emulator.so.
std::string write_amalgamation(const Catalog& catalog, const Options& options);

// These functions return the texts of the public headers and of the loader, which kiln's build
// makes (loader_text.cpp).
std::string_view public_headers_text();
std::string_view loader_text();

}  // namespace kiln::generator
