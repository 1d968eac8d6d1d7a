// make_headers DIR: writes the generated headers that the checks in this folder compile.
//
//   DIR/array/kernels.hpp   uncompressed images as string literals
//   DIR/zstd/kernels.hpp    the same catalog, compressed: another header with the same names
//   DIR/asm/kernels.hpp     the same with kernels.S and blobs
//   DIR/split/kernels.hpp   the same with kernels.cpp
//   DIR/amalgamated/        the same with kiln's loader
//   DIR/others/             C header in its three forms, Rust module and catalog file of the same catalog
//   DIR/newer/kernels.hpp   needs a runtime that does not exist yet
//   DIR/odd/kernels.hpp     modules and kernels of every name that could go wrong
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "tests/support/catalog_builder.hpp"
#include "tools/stages/embed.hpp"

namespace {

using namespace kiln;
using testing::pointer;
using testing::typed;
using testing::value;

// Images of more than 64 KiB, because a compiler may reject a literal of that length.
tools::Catalog catalog() {
  return testing::CatalogBuilder("demo")
      .target("gfx1030")
      .target("gfx90a:xnack+")
      .target("sm_90")
      .target("compute_80")
      .missing("sm_80")
      .image_size(100'000)
      .module("affine", {{"affine_f32", {value(8), pointer(), value(4)}},
                         {"affine_u8", {value(8), pointer(), value(1)}},
                         {"operator", {value(8)}},
                         {"_Z5scaleIfEvPT_", {pointer()}}})
      .module("copy", {{"affine_f32", {pointer()}}, {"copy", {pointer(), pointer()}, 1}, {"tick", {}}})
      .module("empty", {})
      .module("typed", {{"scale_f32", {typed("u64", "numel"), typed("const f32*", "inp"),
                                       typed("f32*", "out"), typed("f32", "factor")}},
                        {"fill_f16", {typed("f16*", "out"), typed("f16", "value")}},
                        {"pack_q8", {typed("const f16*", "x"), typed("void*", "y"),
                                     typed("const void*", "z"), typed("i32", "k"), typed("bool", "b"),
                                     typed("ptr", "any")}}})
      .build();
}

// Keywords, names of the header itself, macros of compilers and C headers, and names that are not
// identifiers.
tools::Catalog odd_catalog() {
  auto builder = testing::CatalogBuilder("odd").target("gfx1030");
  std::vector<testing::KernelSpec> kernels;
  for (const char* name :
       {"class",  "operator", "co_await", "requires", "and",    "find",    "get",      "catalog",
        "Id",     "Module",   "detail",   "modules",  "kiln",   "std",     "linux",    "unix",
        "errno",  "assert",   "NULL",     "stdin",    "a__b",   "_A",      "a_",       "a",
        "a_5f_",  "2d",       "a.b",      "a+b",      "a b",    "a\"b",    "a\\b",     "a<b, c>(d*)",
        "main",   "kernels",  "images",   "gfx1030",  "value",    "pointer",  "unknown", "targets",
        "size_t", "uint32_t", "all",      "first",    "module", "import",  "launch",   "device",
        "caf\xc3\xa9"}) {
    kernels.push_back({name, {value(4)}});
  }
  kernels.push_back({"takes_types",
                     {typed("u32", "uint32_t"), typed("u32", "m"), typed("f16", "kiln_f16"),
                      typed("f16", "h"), typed("i64*", "kiln_function_launch_named")}});
  builder.module("first", kernels);
  for (const char* name : {"find", "get", "catalog", "Id", "Module", "detail", "modules", "kiln",
                           "std", "linux", "kernels", "images", "gfx1030", "targets", "all"}) {
    builder.module(name, {{"run", {}}, {std::string(name) + "_run", {value(8)}}});
  }
  return builder.build();
}

int write(const std::filesystem::path& folder, const tools::Catalog& catalog,
          const tools::EmbedOptions& options, std::uint32_t minimum_runtime) {
  const auto files = tools::embed(catalog, options, minimum_runtime);
  if (!files) {
    std::fputs(render(files.error()).c_str(), stderr);
    return 1;
  }
  for (const tools::GeneratedFile& file : *files) {
    const std::filesystem::path path = folder / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << file.text;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  using tools::EmbedMode;
  using tools::EmbedOutput;
  const std::vector<EmbedOutput> others = {EmbedOutput::kC, EmbedOutput::kRust};
  return write(folder / "array", catalog(), {.compression = Compression::kNone}, KILN_VERSION) +
         write(folder / "zstd", catalog(), {}, 0) +
         write(folder / "asm", catalog(), {.mode = EmbedMode::kAsm}, 0) +
         write(folder / "split", catalog(), {.mode = EmbedMode::kSplit}, 0) +
         write(folder / "amalgamated", catalog(), {.outputs = {EmbedOutput::kAmalgamation}}, 0) +
         write(folder / "others/array", catalog(), {.outputs = others}, 0) +
         write(folder / "others/asm", catalog(), {.mode = EmbedMode::kAsm, .outputs = others}, 0) +
         write(folder / "others/split", catalog(), {.mode = EmbedMode::kSplit, .outputs = others},
               0) +
         write(folder / "others/odd", odd_catalog(), {.outputs = others}, 0) +
         write(folder / "newer", catalog(), {}, KILN_VERSION + 1) +
         write(folder / "odd", odd_catalog(), {}, 0);
}
