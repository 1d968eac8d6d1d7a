#include "generator/amalgamation.hpp"

#include <utility>

#include "generator/names.hpp"
#include "kiln/version.hpp"

namespace kiln::generator {
namespace {

constexpr std::string_view kOnce = "#pragma once\n";
constexpr std::string_view kInclude = "#include <kiln/catalog.hpp>\n";

// The symbol that the linker reports as undefined if no file has the implementation.
#define KILN_NEEDED "kiln_needs_one_source_file_that_defines_KILN_IMPLEMENTATION"
constexpr std::string_view kReference =
    "\nextern \"C\" const char " KILN_NEEDED
    ";\n"
    "namespace {\n"
    "[[gnu::used]] const char* const kiln_needs_implementation = &" KILN_NEEDED
    ";\n"
    "}\n";
constexpr std::string_view kDefinition = "extern \"C\" { const char " KILN_NEEDED " = 0; }\n";
#undef KILN_NEEDED

// Stores images uncompressed, so that the loader needs no zstd.
Catalog with_plain_images(Catalog catalog) {
  for (Module& module : catalog.modules) {
    for (Artifact& image : module.images) {
      image.stored = image.bytes;
      image.stored.resize(decompressed_size(image));
      image.compression = Compression::kNone;
    }
  }
  return catalog;
}

}  // namespace

std::string write_amalgamation(const Catalog& catalog, const Options& options) {
  Options plain = options;
  plain.outputs = {Output::kAmalgamation};
  plain.header = file_names(plain).front();
  plain.storage = Storage::kArray;
  plain.outputs = {Output::kCpp};
  std::vector<GeneratedFile> files = generate(with_plain_images(catalog), plain);
  const std::string header = std::move(files.front().text);
  const std::size_t body = header.find(kOnce);
  const std::size_t include = header.find(kInclude, body);

  const std::string version = std::to_string(KILN_VERSION);
  std::string text = header.substr(0, body);
  constexpr std::string_view kCatalogHeader = ", <kiln/catalog.hpp>";
  if (const std::size_t position = text.find(kCatalogHeader); position != std::string::npos) {
    text.erase(position, kCatalogHeader.size());
  }
  text +=
      "//\n"
      "// With kiln's public headers and its loader: a program needs nothing else of kiln. In one "
      "source file,\n"
      "// compiled as C++20 and linked with -ldl -pthread:\n"
      "//\n"
      "//   #define KILN_IMPLEMENTATION\n"
      "//   #include <" +
      plain.header +
      ">\n"
      "//\n"
      "// kiln is licensed under the Apache License 2.0: "
      "https://www.apache.org/licenses/LICENSE-2.0\n";
  text += kOnce;
  text += "#pragma GCC system_header\n\n#ifndef KILN_AMALGAMATED\n#define KILN_AMALGAMATED " +
          version + "\n";
  text += public_headers_text();
  text += kReference;
  text += "#elif KILN_AMALGAMATED != " + version + "\n#error \"" + plain.header +
          " is of another kiln than the amalgamated header before it\"\n#endif\n\n";
  text += header.substr(body + kOnce.size(), include - body - kOnce.size());
  text += header.substr(include + kInclude.size());
  text +=
      "\n#if defined(KILN_IMPLEMENTATION) && !defined(KILN_IMPLEMENTED)\n#define KILN_IMPLEMENTED\n"
      "#if __cplusplus < 202002L\n"
      "#error \"the source file that defines KILN_IMPLEMENTATION is compiled as C++20: "
      "-std=c++20\"\n"
      "#elif !defined(__cpp_exceptions)\n"
      "#error \"the source file that defines KILN_IMPLEMENTATION is compiled with exceptions, which stay in it: "
      "-fexceptions\"\n"
      "#else\n";
  text += loader_text();
  text += kDefinition;
  text += "#endif\n#endif\n";
  return text;
}

}  // namespace kiln::generator
