#include "generator/generate.hpp"

#include <algorithm>
#include <utility>

#include "generator/amalgamation.hpp"
#include "generator/assembly.hpp"
#include "generator/c_header.hpp"
#include "generator/catalog_file.hpp"
#include "generator/cpp_header.hpp"
#include "generator/names.hpp"
#include "generator/rust_module.hpp"

namespace kiln::generator {
namespace {

std::vector<GeneratedFile> write_cpp(const Catalog& catalog, const Options& options,
                                     const Literals& literals, const Digest& digest) {
  std::vector<GeneratedFile> files;
  files.push_back({options.header, write_header(catalog, options, literals, digest)});
  if (options.storage == Storage::kSplit) {
    files.push_back({stem(options) + ".cpp", write_cpp_source(catalog, options, literals, digest)});
  }
  if (options.storage == Storage::kAsm) {
    files.push_back({stem(options) + ".S", write_assembly(catalog, options, digest)});
    for (const Module& module : catalog.modules) {
      for (const Artifact& image : module.images) {
        files.push_back({blob_path(options, module, image), image.stored});
      }
    }
  }
  return files;
}

std::vector<GeneratedFile> cpp_files(const Catalog& catalog, const Options& options) {
  const Literals literals = write_literals(catalog, options);
  KeyHasher hash;
  for (const GeneratedFile& file : write_cpp(catalog, options, literals, Digest{})) {
    hash.add(file.path, sha256(file.text));
  }
  return write_cpp(catalog, options, literals, hash.finish());
}

}  // namespace

std::vector<GeneratedFile> generate(const Catalog& catalog, const Options& options) {
  const auto wants = [&](Output output) {
    return std::ranges::find(options.outputs, output) != options.outputs.end();
  };
  std::vector<GeneratedFile> files;
  if (wants(Output::kCpp)) files = cpp_files(catalog, options);
  if (options.outputs == std::vector{Output::kCpp}) return files;
  if (wants(Output::kAmalgamation)) files.push_back(write_amalgamation(catalog, options));
  if (options.outputs == std::vector{Output::kAmalgamation}) return files;

  CatalogFileText file = write_catalog_file(catalog, options.minimum_runtime);
  if (wants(Output::kC)) {
    files.push_back({stem(options) + ".h", write_c_header(catalog, options, file)});
    if (options.storage == Storage::kSplit) {
      files.push_back({stem(options) + ".c", write_c_source(options, file)});
    }
    if (options.storage == Storage::kAsm) {
      files.push_back({stem(options) + "_c.S", write_c_assembly(options, file)});
    }
  }
  if (wants(Output::kRust))
    files.push_back({stem(options) + ".rs", write_rust_module(catalog, options)});
  if (wants(Output::kCatalog) || wants(Output::kRust) || options.storage == Storage::kAsm) {
    files.push_back({stem(options) + ".kiln", std::move(file.bytes)});
  }
  return files;
}

}  // namespace kiln::generator
