// The assembly file of Storage::kAsm: one symbol per image, whose bytes come from a blob by
// .incbin.
//
// Works with the C preprocessor and with the GNU and LLVM assemblers, for ELF and Mach-O. Compile
// it with the header's folder on the include path: cc -c -I DIR DIR/kernels.S
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_assembly(const Catalog& catalog, const Options& options, const Digest& digest);

// Defines the assembler's macro `kiln_blob NAME, PATH, ALIGNMENT`.
std::string_view blob_macros();

}  // namespace kiln::generator
