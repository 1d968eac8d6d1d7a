// The generator's one entry: a catalog in, the text of every file out. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/model/catalog.hpp"

namespace kiln::generator {

using tools::Artifact;
using tools::Catalog;
using tools::Kernel;
using tools::KernelParameter;
using tools::Module;

// Where the bytes of the images lie.
enum class Storage : std::uint8_t {
  kArray,  // in the header, as string literals: nothing but the header to compile
  kAsm,    // in an assembly file beside the header, by .incbin: nothing to parse, one more object
};

struct Options {
  std::string header = "kernels.hpp";  // file name
  std::string name_space = "kernels";  // "a" or "a::b"
  Storage storage = Storage::kArray;
  std::uint32_t minimum_runtime = 0;  // KILN_VERSION form; 0: any
};

struct GeneratedFile {
  std::string path;  // relative to the folder that consumers put on their include path
  std::string text;  // may be binary
};

// `stored` of every image is what lies in the program (stages/embed).
//
// The header; for Storage::kAsm then the assembly file "<stem>.S" and the blobs that it includes,
// "<stem>.blobs/<module>.<unit>.<target>.<format>[.zst]".
//
// The catalog's digest, which names the header's inline namespace and the symbols of the assembly
// file, is the SHA-256 of these files as they are with a digest of zeros. So any two headers that
// differ in any way have different namespaces, and both may be part of one program.
std::vector<GeneratedFile> generate(const Catalog& catalog, const Options& options);

}  // namespace kiln::generator
