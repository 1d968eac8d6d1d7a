#include "generator/assembly.hpp"

#include "generator/literal.hpp"
#include "generator/names.hpp"

namespace kiln::generator {
namespace {

// A blob is weak, hidden and in its own section group, so that a program that links the file twice,
// through two libraries, keeps one copy.
constexpr std::string_view kMacros = R"(
#if defined(__APPLE__)
.macro kiln_blob name, path, alignment
  .section __DATA,__const
  .globl _\name
  .weak_definition _\name
  .private_extern _\name
  .balign \alignment
_\name:
  .incbin "\path"
  .byte 0
.endm
#else
.macro kiln_blob name, path, alignment
  .section .rodata.\name, "aG", %progbits, \name, comdat
  .weak \name
  .hidden \name
  .type \name, %object
  .balign \alignment
\name:
  .incbin "\path"
  .byte 0
  .size \name, . - \name
.endm
.section .note.GNU-stack, "", %progbits
#endif
)";

}  // namespace

std::string_view blob_macros() { return kMacros; }

std::string write_assembly(const Catalog& catalog, const Options& options, const Digest& digest) {
  const std::string file = stem(options) + ".S";
  std::string out;
  out += "// " + file + ": the images of " + options.header + ", made by kiln with it. Do not edit.\n";
  out += "//\n";
  out += "// Compile it with its folder on the include path, cc -c -I DIR DIR/" + file + ",\n";
  out += "// and link it into what includes the header.\n";
  out += kMacros;
  for (const Module& module : catalog.modules) {
    out += "\n// module " + module.name + '\n';
    for (const Artifact& image : module.images) {
      out += "kiln_blob " + symbol(digest, module, image) + ", " +
             literal(blob_path(options, module, image)) + ", " + std::to_string(alignment(image)) +
             '\n';
    }
  }
  return out;
}

}  // namespace kiln::generator
