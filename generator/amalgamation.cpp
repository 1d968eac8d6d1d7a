#include "generator/amalgamation.hpp"

#include <utility>

#include "generator/cpp_header.hpp"
#include "generator/head_comment.hpp"
#include "generator/names.hpp"

namespace kiln::generator {
namespace {

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

// Returns the first 16 digits of the digest of kiln's part of the header.
std::string loader_digest() {
  KeyHasher hash;
  hash.add("headers", sha256(public_headers_text()));
  hash.add("loader", sha256(loader_text()));
  return short_digest(hash.finish());
}

// Defines KILN_LOADER, the inline namespace of everything of kiln's. Its name also tells the layouts
// of the standard library's types, so that libraries with different ones share nothing.
std::string loader_namespace(const std::string& digest) {
  static constexpr std::pair<std::string_view, std::string_view> kLayouts[] = {
      {"if defined(_LIBCPP_VERSION)", "_libcpp"},
      {"elif defined(_GLIBCXX_DEBUG) && _GLIBCXX_USE_CXX11_ABI", "_debug"},
      {"elif defined(_GLIBCXX_DEBUG)", "_debug_old_strings"},
      {"elif _GLIBCXX_USE_CXX11_ABI", ""},
      {"else", "_old_strings"}};
  std::string text = "#include <cstddef>\n\n";
  for (const auto& [condition, suffix] : kLayouts) {
    text.append("#").append(condition).append("\n#define KILN_LOADER loader_");
    text.append(digest).append(suffix).append("\n");
  }
  return text + "#endif\n";
}

std::string comment(const Catalog& catalog, const Options& options, const Digest& digest) {
  return write_head_comment(catalog, options, digest, "C++17 and the standard library") +
         "//\n"
         "// With kiln's public headers and its loader: a program needs nothing else of kiln. In "
         "one source file,\n"
         "// compiled as C++20 and linked with -ldl -pthread:\n"
         "//\n"
         "//   #define KILN_IMPLEMENTATION\n"
         "//   #include <" +
         options.header +
         ">\n"
         "//\n"
         "// kiln is licensed under the Apache License 2.0: "
         "https://www.apache.org/licenses/LICENSE-2.0\n";
}

// Returns the public headers, which a translation unit gets once, from the first such header.
std::string public_headers(const Options& options) {
  const std::string digest = loader_digest();
  std::string text = "#ifndef KILN_AMALGAMATED\n#define KILN_AMALGAMATED 0x" + digest + "u\n\n" +
                     loader_namespace(digest);
  text += public_headers_text();
  text += kReference;
  return text + "#elif KILN_AMALGAMATED != 0x" + digest + "u\n#error \"" + options.header +
         " is of another kiln than the amalgamated header before it\"\n#endif\n\n";
}

// Returns the loader. It is outside the guards, so that a file may define KILN_IMPLEMENTATION after
// another header has included this one.
std::string implementation() {
  std::string text =
      "\n#if defined(KILN_IMPLEMENTATION) && !defined(KILN_IMPLEMENTED)\n#define KILN_IMPLEMENTED\n"
      "#if __cplusplus < 202002L\n"
      "#error \"the source file that defines KILN_IMPLEMENTATION is compiled as C++20: "
      "-std=c++20\"\n"
      "#elif !defined(__cpp_exceptions)\n"
      "#error \"the source file that defines KILN_IMPLEMENTATION is compiled with exceptions, "
      "which stay in it: -fexceptions\"\n"
      "#else\n";
  text += loader_text();
  text += kDefinition;
  return text + "#endif\n#endif\n";
}

}  // namespace

std::string amalgamation_name(const Options& options) { return stem(options) + "_amalgamated.hpp"; }

std::string write_amalgamation(const Catalog& packed, const Options& options) {
  const Catalog catalog = with_plain_images(packed);
  Options plain = options;
  plain.header = amalgamation_name(options);
  plain.storage = Storage::kArray;
  const Literals literals = write_literals(catalog, plain);
  const Digest digest = sha256(write_header_body(catalog, plain, literals, Digest{}));
  const std::string guard = "KILN_AMALGAMATED_" + short_digest(digest);
  return comment(catalog, plain, digest) + "#pragma GCC system_header\n\n" + public_headers(plain) +
         "#ifndef " + guard + "\n#define " + guard + "\n\n" +
         write_header_body(catalog, plain, literals, digest) + "\n#endif\n" + implementation();
}

}  // namespace kiln::generator
