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

bool wants(const Options& options, Output output) {
  return std::ranges::find(options.outputs, output) != options.outputs.end();
}

enum class Part : std::uint8_t {
  kHeader,
  kSource,
  kAssembly,  // and its blobs
  kCHeader,
  kCSource,
  kCAssembly,
  kRustModule,
  kCatalogFile,
  kAmalgamation,
};

struct NamedPart {
  Part part;
  std::string name;
};

// Returns the parts to write, in order.
std::vector<NamedPart> parts_of(const Options& options) {
  const std::string base = stem(options);
  const bool is_split = options.storage == Storage::kSplit, is_asm = options.storage == Storage::kAsm;
  std::vector<NamedPart> parts;
  if (wants(options, Output::kCpp)) {
    parts.push_back({Part::kHeader, options.header});
    if (is_split) parts.push_back({Part::kSource, base + ".cpp"});
    if (is_asm) parts.push_back({Part::kAssembly, base + ".S"});
  }
  if (wants(options, Output::kC)) {
    parts.push_back({Part::kCHeader, base + ".h"});
    if (is_split) parts.push_back({Part::kCSource, base + ".c"});
    if (is_asm) parts.push_back({Part::kCAssembly, base + "_c.S"});
  }
  if (wants(options, Output::kRust)) parts.push_back({Part::kRustModule, base + ".rs"});
  const bool is_included = wants(options, Output::kRust) || (wants(options, Output::kC) && is_asm);
  if (is_included || wants(options, Output::kCatalog)) {
    parts.push_back({Part::kCatalogFile, base + ".kiln"});
  }
  if (wants(options, Output::kAmalgamation)) {
    parts.push_back({Part::kAmalgamation, amalgamation_name(options)});
  }
  return parts;
}

// Values that several parts share. Empty if no part needs them.
struct SharedInputs {
  Literals literals;
  Digest digest{};
  CatalogFileText catalog_file;
};

std::string write_part(Part part, const Catalog& catalog, const Options& options,
                       const SharedInputs& inputs) {
  switch (part) {
    case Part::kHeader: return write_header(catalog, options, inputs.literals, inputs.digest);
    case Part::kSource: return write_cpp_source(catalog, options, inputs.literals, inputs.digest);
    case Part::kAssembly: return write_assembly(catalog, options, inputs.digest);
    case Part::kCHeader: return write_c_header(catalog, options, inputs.catalog_file);
    case Part::kCSource: return write_c_source(options, inputs.catalog_file);
    case Part::kCAssembly: return write_c_assembly(options, inputs.catalog_file);
    case Part::kRustModule: return write_rust_module(catalog, options);
    case Part::kCatalogFile: return inputs.catalog_file.bytes;
    case Part::kAmalgamation: return write_amalgamation(catalog, options);
  }
  return {};
}

std::vector<GeneratedFile> write_parts(const Catalog& catalog, const Options& options,
                                       const SharedInputs& inputs) {
  std::vector<GeneratedFile> files;
  for (const NamedPart& named : parts_of(options)) {
    files.push_back({named.name, write_part(named.part, catalog, options, inputs)});
    if (named.part != Part::kAssembly) continue;
    for (const Module& module : catalog.modules) {
      for (const Artifact& image : module.images) {
        files.push_back({blob_path(options, module, image), image.stored});
      }
    }
  }
  return files;
}

// Returns the digest over the C++ header and its files, written with a digest of zeros.
Digest digest_of_header(const Catalog& catalog, Options options, const SharedInputs& inputs) {
  options.outputs = {Output::kCpp};
  KeyHasher hash;
  for (const GeneratedFile& file : write_parts(catalog, options, inputs)) {
    hash.add(file.path, sha256(file.text));
  }
  return hash.finish();
}

}  // namespace

std::vector<std::string> file_names(const Options& options) {
  std::vector<std::string> names;
  for (NamedPart& named : parts_of(options)) names.push_back(std::move(named.name));
  return names;
}

std::vector<GeneratedFile> generate(const Catalog& catalog, const Options& options) {
  SharedInputs inputs;
  if (wants(options, Output::kCpp)) {
    inputs.literals = write_literals(catalog, options);
    inputs.digest = digest_of_header(catalog, options, inputs);
  }
  if (wants(options, Output::kC) || wants(options, Output::kRust) || wants(options, Output::kCatalog)) {
    inputs.catalog_file = write_catalog_file(catalog, options.minimum_runtime);
  }
  return write_parts(catalog, options, inputs);
}

}  // namespace kiln::generator
