#include "generator/generate.hpp"

#include <utility>

#include "generator/assembly.hpp"
#include "generator/cpp_header.hpp"
#include "generator/names.hpp"

namespace kiln::generator {
namespace {

std::vector<GeneratedFile> write(const Catalog& catalog, const Options& options,
                                 const Digest& digest) {
  std::vector<GeneratedFile> files;
  files.push_back({options.header, write_header(catalog, options, digest)});
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

}  // namespace

std::vector<GeneratedFile> generate(const Catalog& catalog, const Options& options) {
  KeyHasher hash;
  for (const GeneratedFile& file : write(catalog, options, Digest{})) {
    hash.add(file.path, sha256(file.text));
  }
  return write(catalog, options, hash.finish());
}

}  // namespace kiln::generator
