// The catalog file: what is written reads back the same, and any other file is refused.
#include "generator/catalog_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>

#include "formats/catalog_file.hpp"
#include "tests/support/catalog_builder.hpp"

namespace {

using namespace kiln;
using testing::pointer;
using testing::typed;
using testing::value;

tools::Catalog small_catalog() {
  tools::Catalog catalog =
      testing::CatalogBuilder("demo")
          .target("gfx1030")
          .target("sm_90")
          .target("compute_80")
          .missing("sm_80")
          .image_size(100)
          .module("affine", {{"affine_f32",
                              {typed("u64", "numel"), typed("const f32*", "inp"),
                               typed("bf16", "factor"), pointer(), value(3)}},
                             {"tick", {}}})
          .module("copy", {{"affine_f32", {pointer()}}, {"copy", {pointer(), pointer()}, 1}})
          .module("empty", {})
          .build();
  for (tools::Module& module : catalog.modules) {
    for (tools::Artifact& image : module.images) {
      image.stored = image.bytes;
      if (image.info.format == ImageFormat::kPtx) image.stored += '\0';
    }
  }
  return catalog;
}

std::string small_file() { return generator::write_catalog_file(small_catalog(), 100).bytes; }

// Returns the file with a correct size and digest of its table, as an attacker would write it.
std::string sealed(std::string file) {
  const std::uint64_t size = file.size();
  for (int i = 0; i < 8; ++i) file[16 + i] = static_cast<char>(size >> (8 * i));
  std::uint64_t table = 0;
  std::memcpy(&table, file.data() + 24, sizeof table);
  if (table < kCatalogFileHeadSize || table > size) return file;
  const Digest digest =
      sha256(std::string_view(file).substr(kCatalogFileHeadSize, table - kCatalogFileHeadSize));
  std::memcpy(file.data() + 32, digest.bytes.data(), digest.bytes.size());
  return file;
}

std::string why_not(const std::string& file) {
  const auto contents = read_catalog_file(as_bytes(file));
  return contents ? "" : contents.error().message;
}

}  // namespace

TEST_CASE("A catalog file reads back as it was written", "[catalog_file]") {
  const tools::Catalog written = small_catalog();
  const std::string file = small_file();
  auto first = read_catalog_file(as_bytes(file));
  REQUIRE(first);
  const CatalogFileContents read = std::move(*first);
  CHECK(read.minimum_runtime == 100);
  CHECK(read.catalog.name == "demo");
  CHECK(read.catalog.digest.size() == 64);
  REQUIRE(read.catalog.targets.size() == 3);
  CHECK(read.catalog.targets[2] == written.targets[2]);
  CHECK(read.catalog.missing_targets[0] == "sm_80");
  REQUIRE(read.catalog.modules.size() == 3);
  for (std::size_t m = 0; m < 3; ++m) {
    const tools::Module& module = written.modules[m];
    const ModuleEntry& entry = *read.catalog.modules[m];
    CHECK(entry.id == m);
    CHECK(entry.name == module.name);
    CHECK(entry.unit_count == module.sources.size());
    CHECK(entry.source_digest == module.source_digest.prefix64());
    REQUIRE(entry.kernels.size() == module.kernels.size());
    for (std::size_t k = 0; k < module.kernels.size(); ++k) {
      const tools::Kernel& kernel = module.kernels[k];
      CHECK(entry.kernels[k].name == kernel.name);
      CHECK(entry.kernels[k].unit == kernel.unit);
      REQUIRE(entry.kernels[k].parameters.size() == kernel.parameters.size());
      const ArrayView<ParameterText> texts = read.texts(m, k);
      REQUIRE(texts.size() == kernel.parameters.size());
      for (std::size_t p = 0; p < texts.size(); ++p) {
        CHECK(entry.kernels[k].parameters[p].offset == kernel.parameters[p].layout.offset);
        CHECK(entry.kernels[k].parameters[p].size == kernel.parameters[p].layout.size);
        CHECK(entry.kernels[k].parameters[p].kind == kernel.parameters[p].layout.kind);
        CHECK(texts[p].type == to_string(kernel.parameters[p].type));
        CHECK(texts[p].name == kernel.parameters[p].name);
      }
    }
    REQUIRE(entry.images.size() == module.images.size());
    for (std::size_t i = 0; i < module.images.size(); ++i) {
      const tools::Artifact& image = module.images[i];
      const ImageEntry& found = entry.images[i];
      CHECK(found.target == to_string(image.target));
      CHECK(found.format == image.info.format);
      CHECK(found.unit == image.unit);
      CHECK(found.digest == image.digest.prefix64());
      CHECK(std::string_view(reinterpret_cast<const char*>(found.data), found.stored_size) ==
            image.stored);
      const auto offset = reinterpret_cast<const char*>(found.data) - file.data();
      CHECK(offset % (image.info.format == ImageFormat::kHsaco ? 4096 : 64) == 0);
      CHECK(read.storage[m].stored_digests[i] == sha256(image.stored));
    }
  }
}

TEST_CASE("A catalog file is written the same twice", "[catalog_file]") {
  CHECK(small_file() == small_file());
}

TEST_CASE("A catalog file that is cut short or changed is refused", "[catalog_file]") {
  const std::string file = small_file();
  REQUIRE(why_not(file).empty());
  CHECK(why_not("") == "this is no catalog file of kiln");
  CHECK(why_not(file.substr(0, 20)) == "damaged catalog file: it ends within its head");
  CHECK(why_not(file + "x") == "damaged catalog file: it has " + std::to_string(file.size() + 1) +
                                   " bytes, its head says " + std::to_string(file.size()));
  std::uint64_t table = 0;
  std::memcpy(&table, file.data() + 24, sizeof table);
  for (std::size_t size = 0; size < table + 10; ++size) {
    CAPTURE(size);
    REQUIRE_FALSE(why_not(file.substr(0, size)).empty());
  }
  for (std::size_t at = 0; at < table; ++at) {
    std::string changed = file;
    changed[at] ^= 1;
    CAPTURE(at);
    // Except for the minimum runtime, which may be older.
    if (at < 12 || at >= 16) REQUIRE_FALSE(why_not(changed).empty());
  }
}

TEST_CASE("A catalog file with a table that lies is refused", "[catalog_file]") {
  const std::string file = small_file();
  std::uint64_t table = 0;
  std::memcpy(&table, file.data() + 24, sizeof table);
  const auto changed = [&](std::string_view what, std::string_view to) {
    std::string copy = file;
    const std::size_t at = copy.find(what, kCatalogFileHeadSize);
    REQUIRE(at < table);
    REQUIRE(what.size() == to.size());
    copy.replace(at, what.size(), to);
    return why_not(sealed(copy));
  };
  using namespace std::string_view_literals;
  CHECK(changed("\6\0\0\0affine"sv, "\6\0\0\0zffine"sv) ==
        "damaged catalog file: its modules are not sorted");
  CHECK(changed("tick"sv, "aaaa"sv) ==
        "damaged catalog file: the kernels of module 'affine' are not sorted");
  CHECK(
      changed("const f32*"sv, "const f33*"sv) ==
      "damaged catalog file: kernel 'affine_f32' has a parameter of type 'const f33*' and 8 bytes");
  CHECK(changed("bf16"sv, "void"sv) ==
        "damaged catalog file: kernel 'affine_f32' has a parameter of type 'void' and 2 bytes");
  CHECK(changed("tick"sv, "t\0ck"sv) ==
        "damaged catalog file: a string is not NUL-terminated, or has a second NUL");
  CHECK(changed("\x07\0\0\0gfx1030\0\0"sv, "\x07\0\0\0gfx1030\0\2"sv) ==
        "damaged catalog file: image 'gfx1030' of module 'affine' is of a format that such a "
        "target does not have");
  CHECK(changed("\3\0\0\0\7\0\0\0gfx"sv, "\xff\xff\xff\xff\7\0\0\0gfx"sv) ==
        "damaged catalog file: it has no room for 4294967295 targets");

  // Whatever a byte of the table says, the file is read or refused, and everything that is read
  // lies within the file.
  for (std::size_t at = kCatalogFileHeadSize; at < table; ++at) {
    for (const int bit : {1, 128}) {
      std::string copy = file;
      copy[at] = static_cast<char>(copy[at] ^ bit);
      copy = sealed(std::move(copy));
      const auto contents = read_catalog_file(as_bytes(copy));
      if (!contents) continue;
      for (const ModuleEntry* module : contents->catalog.modules) {
        for (const ImageEntry& image : module->images) {
          const auto* data = reinterpret_cast<const char*>(image.data);
          REQUIRE(data >= copy.data() + table);
          REQUIRE(data + image.stored_size <= copy.data() + copy.size());
        }
      }
    }
  }
}

TEST_CASE("A catalog file for a newer runtime or of another format says so", "[catalog_file]") {
  CHECK(why_not(generator::write_catalog_file(small_catalog(), KILN_VERSION + 1).bytes) ==
        "the catalog file needs kiln 0.1.1 or newer");
  std::string file = small_file();
  file[8] = 9;
  CHECK(why_not(file) == "the catalog file has format 9, this kiln reads 1");
}
