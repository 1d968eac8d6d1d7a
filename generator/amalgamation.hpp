// The amalgamated header: kiln's public headers, a generated header, and the loader's sources in
// one file, for programs that link no library of kiln's. Pure.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

// Returns the name of the file: "<stem>_amalgamated.hpp".
std::string amalgamation_name(const Options& options);

// Returns the text of that file. Its images are stored uncompressed, as an array, whatever `options`
// say, so that nothing has to be linked to read them.
//
// The header needs C++17. One source file defines KILN_IMPLEMENTATION before including it and so
// gets the loader, which needs C++20 and the system libraries of -ldl and -pthread. The loader
// opens the drivers of CUDA and HIP and contains the host device. The emulated devices are in
// libkiln_emulator.so.
//
// Everything of kiln's is in an inline namespace whose name has a digest of the public headers and
// the loader, so that two shared libraries of one process share functions only if both have the
// same loader. Hidden visibility would separate them, too, but g++ then warns about every class of
// a program that has a member of kiln's ("declared with greater visibility than the type of its
// field").
std::string write_amalgamation(const Catalog& catalog, const Options& options);

// These functions return the texts of the public headers and of the loader, which kiln's build
// makes (loader_text.cpp).
std::string_view public_headers_text();
std::string_view loader_text();

}  // namespace kiln::generator
