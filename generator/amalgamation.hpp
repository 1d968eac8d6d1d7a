// The amalgamated header: a generated header with kiln's public headers before it and the loader's
// sources behind, for programs that link no library of kiln's. Pure.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

// The text of "<stem>_amalgamated.hpp". Its images are stored plain, as an array, whatever
// `options` say: nothing has to be linked to read them.
//
// Everything in it needs C++17. In the one source file that defines KILN_IMPLEMENTATION before
// including it, the loader follows, which needs C++20, and of the system -ldl and -pthread. It
// opens the drivers of CUDA and HIP, and the host device is in it; the emulated devices are in
// libkiln_emulator.so.
std::string write_amalgamation(const Catalog& catalog, const Options& options);

// What kiln's build made of its sources (loader_text.cpp): the public headers, and the loader.
std::string_view public_headers_text();
std::string_view loader_text();

}  // namespace kiln::generator
