// The generator's only entry point: turns a catalog into the text of every file. Pure.
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

// The place where the bytes of the images are stored.
enum class Storage : std::uint8_t {
  kArray,  // in the header, as string literals: only the header has to be compiled
  kAsm,    // in an assembly file beside the header, by .incbin: no parsing, one more object
  kSplit,  // in a source file beside the header: parsed once, one more object
};

// The files to write, in the order of the results.
enum class Output : std::uint8_t {
  kCpp,           // the C++ header
  kC,             // the C header, <stem>.h
  kRust,          // the Rust module, <stem>.rs
  kCatalog,       // the catalog file, <stem>.kiln
  kAmalgamation,  // a C++ header with the loader in it, <stem>_amalgamated.hpp
};

struct Options {
  std::string header = "kernels.hpp";  // file name
  std::string name_space = "kernels";  // "a" or "a::b"
  Storage storage = Storage::kArray;
  std::vector<Output> outputs = {Output::kCpp};  // sorted, without duplicates
  std::uint32_t minimum_runtime = 0;             // KILN_VERSION form; 0: any
};

struct GeneratedFile {
  std::string path;  // relative to the folder that consumers put on their include path
  std::string text;  // may be binary
};

// Returns all files. The program holds `stored` of each image (stages/embed).
//
// The files of each output, in order:
//   kCpp      the header; for Storage::kAsm "<stem>.S" and the blobs that it includes,
//             "<stem>.blobs/<module>.<unit>.<target>.<format>[.zst]"; for Storage::kSplit
//             "<stem>.cpp"
//   kC        "<stem>.h"; for Storage::kAsm "<stem>_c.S", which includes the catalog file; for
//             Storage::kSplit "<stem>.c"
//   kRust     "<stem>.rs", which includes the catalog file
//   kCatalog  "<stem>.kiln", also for kRust and for kC with Storage::kAsm, which include it
//   kAmalgamation  "<stem>_amalgamated.hpp"
//
// The C++ header's digest names its inline namespace and its symbols. It is the SHA-256 of its
// files, written with a digest of zeros. So headers that differ in any way have different
// namespaces, and a program may contain both.
std::vector<GeneratedFile> generate(const Catalog& catalog, const Options& options);

// Returns the names of those files, in order, except the blobs, whose number depends on the images.
std::vector<std::string> file_names(const Options& options);

}  // namespace kiln::generator
