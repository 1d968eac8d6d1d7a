// The assembly file of Storage::kAsm: one symbol per image, its bytes taken from a blob by .incbin.
//
// Written for the C preprocessor and for the GNU and LLVM assemblers, ELF and Mach-O. Compile it with
// the header's folder on the include path: cc -c -I DIR DIR/kernels.S
#pragma once

#include <string>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_assembly(const Catalog& catalog, const Options& options, const Digest& digest);

}  // namespace kiln::generator
