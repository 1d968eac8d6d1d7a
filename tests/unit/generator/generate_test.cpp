#include "generator/generate.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "base/text.hpp"
#include "formats/image_format.hpp"
#include "tests/support/golden.hpp"

namespace {

using namespace kiln;
using generator::GeneratedFile;
using generator::Storage;

constexpr auto kValue = ParameterKind::kValue;
constexpr auto kPointer = ParameterKind::kPointer;

tools::Artifact image(const std::string& target, const std::string& bytes, std::uint16_t unit = 0) {
  tools::Artifact image;
  image.unit = unit;
  image.target = parse_target_id(target).value();
  image.bytes = image.stored = bytes;
  image.digest = sha256(bytes);
  image.info.format = format_of(image.target.kind);
  if (image.info.format == ImageFormat::kPtx) {
    image.info.ptx_isa = 78;
    image.stored += '\0';
  }
  return image;
}

// Two modules with every unusual feature of a header: names that are not identifiers, a module of
// two units, kernels without arguments, an omitted target.
tools::Catalog small_catalog() {
  const std::vector<tools::KernelParameter> scale = {{{0, 8, kValue}}, {{8, 8, kPointer}}, {{16, 4, kValue}}};
  const std::vector<tools::KernelParameter> copy = {{{0, 8, ParameterKind::kUnknown}},
                                                   {{8, 8, ParameterKind::kUnknown}}};
  const std::vector<tools::KernelParameter> typed = {
      {{0, 8, kValue}, parse_parameter_type("u64").value(), "number_of_elements"},
      {{8, 8, kPointer}, parse_parameter_type("const f32*").value(), "input"},
      {{16, 8, kPointer}, parse_parameter_type("void*").value(), "blocks_of_the_output"},
      {{24, 2, kValue}, parse_parameter_type("bf16").value(), "factor_of_the_output"},
      {{32, 8, kPointer}, parse_parameter_type("ptr").value(), "anything"}};
  tools::Module first{
      "affine",
      {"affine.cu"},
      {{"_Z5scaleIfEvPT_", 0, scale}, {"affine_f32", 0, typed}, {"operator", 0, {}}},
      {image("gfx1030", "\177ELF affine gfx1030"),
       image("gfx90a:xnack+", "\177ELF affine gfx90a:xnack+"),
       image("compute_80", ".version 7.8\n")}};
  tools::Module second{
      "copy",
      {"copy_a.cu", "copy_b.cu"},
      {{"affine_f32", 0, copy}, {"copy", 1, copy}},
      {image("gfx1030", "\177ELF copy gfx1030 unit 0"),
       image("gfx90a:xnack+", "\177ELF copy gfx90a:xnack+ unit 0"),
       image("compute_80", ".version 7.8\n"),
       image("gfx1030", "\177ELF copy gfx1030 unit 1", 1),
       image("gfx90a:xnack+", "\177ELF copy gfx90a:xnack+ unit 1", 1),
       image("compute_80", ".version 7.8\n", 1)}};
  first.source_digest = sha256("affine");
  second.source_digest = sha256("copy");
  second.images[0].compression = Compression::kZstd;
  second.images[0].bytes.resize(4096);
  return {"demo", {"gfx1030", "gfx90a:xnack+", "compute_80"}, {"sm_90"}, {first, second}};
}

std::string digest_of(const GeneratedFile& header) {
  const std::size_t at = header.text.find("// Catalog ");
  REQUIRE(at != std::string::npos);
  return header.text.substr(at + 11, 64);
}

}  // namespace

TEST_CASE("generate writes one header when images are stored as arrays", "[generator]") {
  const auto files = generator::generate(small_catalog(), {.minimum_runtime = 100});
  REQUIRE(files.size() == 1);
  CHECK(files[0].path == "kernels.hpp");
  testing::check_golden("generator/array/kernels.hpp", files[0].text);
}

TEST_CASE("generate writes header, assembly and blobs when images are stored by assembly",
          "[generator]") {
  const auto files = generator::generate(
      small_catalog(),
      {.header = "gpu.hpp", .name_space = "app::gpu", .storage = Storage::kAsm});
  REQUIRE(files.size() == 2 + 9);
  CHECK(files[0].path == "gpu.hpp");
  CHECK(files[1].path == "gpu.S");
  CHECK(files[2].path == "gpu.blobs/affine.0.gfx1030.hsaco");
  CHECK(files[2].text == "\177ELF affine gfx1030");
  CHECK(files[5].path == "gpu.blobs/copy.0.gfx1030.hsaco.zst");
  testing::check_golden("generator/asm/gpu.hpp", files[0].text);
  testing::check_golden("generator/asm/gpu.S", files[1].text);
}

TEST_CASE("generate writes a header and a source file when the bytes are split off", "[generator]") {
  const auto files = generator::generate(small_catalog(), {.storage = Storage::kSplit});
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "kernels.hpp");
  CHECK(files[1].path == "kernels.cpp");
  testing::check_golden("generator/split/kernels.cpp", files[1].text);
}

TEST_CASE("generate writes what is asked for, in one order", "[generator]") {
  using generator::Output;
  const auto paths = [](generator::Options options) {
    std::string list;
    for (const GeneratedFile& file : generator::generate({"nothing", {}, {}, {}}, options)) {
      list += file.path + ' ';
    }
    return list;
  };
  CHECK(paths({}) == "kernels.hpp ");
  CHECK(paths({.outputs = {Output::kC}}) == "kernels.h ");
  CHECK(paths({.storage = Storage::kSplit, .outputs = {Output::kC}}) == "kernels.h kernels.c ");
  CHECK(paths({.storage = Storage::kAsm, .outputs = {Output::kC}}) ==
        "kernels.h kernels_c.S kernels.kiln ");
  CHECK(paths({.outputs = {Output::kRust}}) == "kernels.rs kernels.kiln ");
  CHECK(paths({.storage = Storage::kSplit,
               .outputs = {Output::kCpp, Output::kC, Output::kRust, Output::kCatalog}}) ==
        "kernels.hpp kernels.cpp kernels.h kernels.c kernels.rs kernels.kiln ");
}

// kiln_add_kernels has the names as well: file_names.cmake compares them with the same file.
TEST_CASE("file_names has the names of what generate writes", "[generator]") {
  using generator::Output;
  const std::vector<std::pair<std::string, Storage>> places = {
      {"array", Storage::kArray}, {"asm", Storage::kAsm}, {"split", Storage::kSplit}};
  const std::vector<std::pair<std::string, Output>> outputs = {
      {"cpp", Output::kCpp}, {"c", Output::kC}, {"rust", Output::kRust}, {"catalog", Output::kCatalog}};
  std::string text;
  for (const auto& [place, storage] : places) {
    for (unsigned bits = 1; bits < 16; ++bits) {
      generator::Options options{.storage = storage, .outputs = {}};
      std::string line = place + ",";
      for (unsigned i = 0; i < outputs.size(); ++i) {
        if ((bits >> i & 1) == 0) continue;
        options.outputs.push_back(outputs[i].second);
        line += " " + outputs[i].first;
      }
      std::vector<std::string> names = generator::file_names(options), written;
      for (const GeneratedFile& file : generator::generate({"nothing", {}, {}, {}}, options)) written.push_back(file.path);
      CAPTURE(line);
      CHECK(names == written);  // a catalog without images has no blobs
      std::ranges::sort(names);
      line += ":";
      for (const std::string& name : names) line += " " + name;
      text += line + "\n";
    }
  }
  testing::check_golden("generator/file_names.txt", text);
}

TEST_CASE("generate writes a C header, its bytes where they are asked for", "[generator]") {
  using generator::Output;
  const auto array = generator::generate(small_catalog(), {.outputs = {Output::kC}});
  testing::check_golden("generator/c/kernels.h", array[0].text);
  const auto assembly = generator::generate(
      small_catalog(), {.name_space = "app::gpu", .storage = Storage::kAsm, .outputs = {Output::kC}});
  testing::check_golden("generator/c/kernels_c.S", assembly[1].text);
  // A weak reference to bytes in another object file would not bring them out of an archive.
  CHECK(assembly[0].text.find("weak") == std::string::npos);
  const auto split =
      generator::generate(small_catalog(), {.storage = Storage::kSplit, .outputs = {Output::kC}});
  CHECK(split[0].text.find("weak") == std::string::npos);
}

// <complex.h> defines both.
TEST_CASE("generate gives no parameter of a C function the name of a macro", "[generator]") {
  generator::Catalog catalog = small_catalog();
  auto& parameters = catalog.modules[0].kernels[0].parameters;
  REQUIRE(parameters.size() >= 2);
  parameters[0].name = "complex";
  parameters[1].name = "I";
  const std::string text =
      generator::generate(catalog, {.outputs = {generator::Output::kC}})[0].text;
  CHECK(text.find(" complex_") != std::string::npos);
  CHECK(text.find(" argument_2") != std::string::npos);
}

TEST_CASE("generate gives no parameter of a C function the name of a type", "[generator]") {
  generator::Catalog catalog = small_catalog();
  auto& parameters = catalog.modules[0].kernels[0].parameters;
  REQUIRE(parameters.size() >= 3);
  parameters[0].name = "uint32_t";
  parameters[1].name = "kiln_function";
  parameters[2].name = "x_t";
  const std::string text =
      generator::generate(catalog, {.outputs = {generator::Output::kC}})[0].text;
  for (const char* argument : {" uint32_t_", " kiln_function_", " x_t;"}) {
    CHECK(text.find(argument) != std::string::npos);
  }
}

// The text after the modules is rust_runtime.rs.
TEST_CASE("generate writes a Rust module", "[generator]") {
  const auto files = generator::generate(small_catalog(), {.outputs = {generator::Output::kRust}});
  const std::string own = files[0].text.substr(0, files[0].text.find("/// The C interface"));
  testing::check_golden("generator/rust/kernels.rs", own);
}

// A type that the module defines would hide Rust's own type of that name.
TEST_CASE("generate gives nothing the name of a type of Rust", "[generator]") {
  generator::Catalog catalog = small_catalog();
  catalog.modules[0].name = "usize";
  catalog.modules[0].kernels[1].name = "f32";
  catalog.modules[0].kernels[2].name = "typeof";
  const std::string text = generator::generate(catalog, {.outputs = {generator::Output::kRust}})[0].text;
  CHECK(text.find("pub mod usize_ {") != std::string::npos);
  CHECK(text.find("pub struct f32_ {") != std::string::npos);
  CHECK(text.find("pub struct typeof_ {") != std::string::npos);
}

TEST_CASE("generate gives the C++ header one digest whatever else is written", "[generator]") {
  using generator::Output;
  const auto all = generator::generate(
      small_catalog(), {.outputs = {Output::kCpp, Output::kC, Output::kRust, Output::kCatalog}});
  CHECK(digest_of(all[0]) == digest_of(generator::generate(small_catalog(), {})[0]));
}

TEST_CASE("generate writes one header with the loader in it, which includes nothing of kiln's", "[generator]") {
  using generator::Output;
  generator::Catalog catalog = small_catalog();
  for (tools::Artifact& image : catalog.modules[0].images) {
    image.stored = "AsItWasPacked";
    image.compression = Compression::kZstd;
  }
  const auto files = generator::generate(catalog, {.storage = Storage::kAsm, .outputs = {Output::kAmalgamation}});
  REQUIRE(files.size() == 1);
  CHECK(files[0].path == "kernels_amalgamated.hpp");
  const std::string& text = files[0].text;
  for (const char* included : {"\n#include \"", "\n#include <kiln/", "\n#include <zstd"}) {
    CHECK(text.find(included) == std::string::npos);
  }
  // A file may define KILN_IMPLEMENTATION after another one has included the header.
  CHECK(text.find("\n#pragma once\n") == std::string::npos);
  CHECK(text.find("\nnamespace kiln {\n") == std::string::npos);  // all of it is in KILN_LOADER
  CHECK(text.find("class Device {") < text.find("namespace kernels {"));
  CHECK(text.find("namespace kernels {") < text.find("#if defined(KILN_IMPLEMENTATION)"));
  CHECK(text.find("#if defined(KILN_IMPLEMENTATION)") < text.find("class HostDriver"));
  CHECK(text.find("AsItWasPacked") == std::string::npos);
  // A missing implementation is reported by this name, which is used before the implementation and
  // defined in it.
  const std::string needed = "kiln_needs_one_source_file_that_defines_KILN_IMPLEMENTATION";
  CHECK(text.find("= &" + needed + ";\n") < text.find("#if defined(KILN_IMPLEMENTATION)"));
  CHECK(text.rfind("const char " + needed + " = 0;") > text.find("#if defined(KILN_IMPLEMENTATION)"));
}

// An assembly label may contain any character, so the name of a kernel must remain a name.
TEST_CASE("generate writes no kernel's name as code", "[generator]") {
  for (const std::string name : {"a\n#error b", "a\\", "a\r#error b", "a?\?/", "a*/ b"}) {
    generator::Catalog catalog = small_catalog();
    catalog.modules[0].kernels[0].name = name;
    const std::string text = generator::generate(catalog, {})[0].text;
    for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1) {
      const std::string line = text.substr(start, text.find('\n', start) - start);
      CAPTURE(name, line);
      REQUIRE_FALSE(line.starts_with("#error b"));
      if (line.starts_with("//")) REQUIRE_FALSE(line.ends_with('\\'));
      REQUIRE(line.find_first_of("\r") == std::string::npos);
      REQUIRE(line.find("?\?/") == std::string::npos);
    }
  }
}

TEST_CASE("generate shows by a kernel of the sources how the header is used, by the name that programs write",
          "[generator]") {
  const auto shown = [](const std::vector<std::string>& names) {
    tools::Module module{"demo", {"demo.cu"}, {}, {}};
    for (const std::string& name : names) module.kernels.push_back({name, 0, {}});
    const std::string text = generator::generate({"demo", {}, {}, {module}}, {})[0].text;
    const std::size_t end = text.find(" a kernel, with"), start = text.rfind("kernels::", end);
    return std::string(trim(std::string_view(text).substr(start, end - start)));
  };
  CHECK(shown({"_Z5scalejfPKfPf", "scale_f32"}) == "kernels::scale_f32");
  CHECK(shown({"_Z5scalejfPKfPf"}) == "kernels::scale");
  CHECK(shown({"_Z4axpyI6__halfEvjT_PKS0_PS0_"}) == "kernels::axpy<::kiln::f16>");
  CHECK(shown({"_ZN2ns5scaleEifPf"}) == "kernels::ns::scale");
  CHECK(shown({"operator"}) == "kernels::operator_");
}

TEST_CASE("generate writes an empty catalog when there is no module", "[generator]") {
  const auto files = generator::generate({"nothing", {}, {}, {}}, {});
  REQUIRE(files.size() == 1);
  testing::check_golden("generator/empty/kernels.hpp", files[0].text);
}

TEST_CASE("generate writes the same bytes when it runs twice", "[generator]") {
  const auto first = generator::generate(small_catalog(), {});
  const auto second = generator::generate(small_catalog(), {});
  CHECK(first[0].text == second[0].text);
}

TEST_CASE("generate gives another digest when anything differs", "[generator]") {
  const std::string original = digest_of(generator::generate(small_catalog(), {})[0]);

  const auto differs = [&](const tools::Catalog& catalog,
                           const generator::Options& options = {}) {
    return digest_of(generator::generate(catalog, options)[0]) != original;
  };
  CHECK_FALSE(differs(small_catalog()));
  CHECK(differs(small_catalog(), {.name_space = "other"}));
  CHECK(differs(small_catalog(), {.storage = Storage::kAsm}));
  CHECK(differs(small_catalog(), {.minimum_runtime = 1}));

  tools::Catalog catalog = small_catalog();
  catalog.modules[0].images[0].stored[5] ^= 1;  // only the stored bytes: another zstd release
  CHECK(differs(catalog));

  catalog = small_catalog();
  catalog.modules[0].kernels[0].parameters[0].layout.kind = kPointer;
  CHECK(differs(catalog));

  catalog = small_catalog();
  catalog.missing_targets.clear();
  CHECK(differs(catalog));
}

TEST_CASE("generate gives another digest when only a blob differs", "[generator]") {
  tools::Catalog catalog = small_catalog();
  const std::string original =
      digest_of(generator::generate(catalog, {.storage = Storage::kAsm})[0]);
  catalog.modules[0].images[0].stored[5] ^= 1;
  CHECK(digest_of(generator::generate(catalog, {.storage = Storage::kAsm})[0]) != original);
}

TEST_CASE("generate aligns to a page what the AMD loader uses in place", "[generator]") {
  const std::string text = generator::generate(small_catalog(), {})[0].text;
  CHECK(text.find("alignas(4096) inline constexpr unsigned char gfx1030[") != std::string::npos);
  CHECK(text.find("alignas(64) inline constexpr unsigned char compute_80[") != std::string::npos);
  CHECK(text.find("alignas(64) inline constexpr unsigned char unit0_gfx1030[") !=
        std::string::npos);  // compressed
}

TEST_CASE("generate keeps the lines of a header within 100 columns when names are short",
          "[generator]") {
  const std::string text = generator::generate(small_catalog(), {})[0].text;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    const std::string line = text.substr(start, end - start);
    if (line.starts_with("#error")) continue;  // a directive is one line
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
}
