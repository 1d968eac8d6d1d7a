#include "tools/stages/embed.hpp"

#include <span>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "base/diagnostic.hpp"
#include "formats/zstd.hpp"
#include "tests/support/catalog_builder.hpp"
#include "tests/support/fake_files.hpp"

namespace {

using namespace kiln;
using tools::EmbedMode;
using tools::EmbedOptions;

tools::Catalog catalog() {
  return testing::CatalogBuilder("demo")
      .target("gfx1030")
      .target("compute_80")
      .image_size(5000)
      .module("affine", {{"affine_f32", {testing::value(8), testing::pointer()}}})
      .module("copy", {{"copy_a", {}}, {"copy_b", {}, 1}})
      .build();
}

// Returns the blobs of an asm-mode embed, which are the stored bytes.
std::string blob(const std::vector<tools::GeneratedFile>& files, const std::string& path) {
  for (const tools::GeneratedFile& file : files) {
    if (file.path == path) return file.text;
  }
  FAIL("no file " << path);
  return {};
}

std::string decompressed(const std::string& frame) {
  const auto content = zstd_decompress(std::as_bytes(std::span(frame)));
  REQUIRE(content);
  return {reinterpret_cast<const char*>(content->data()), content->size()};
}

}  // namespace

TEST_CASE("embed compresses every image on its own", "[embed]") {
  const auto built = catalog();
  const auto files = tools::embed(built, {.mode = EmbedMode::kAsm}, 0);
  REQUIRE(files);
  CHECK(files->size() == 2 + 2 + 4);
  CHECK(decompressed(blob(*files, "kernels.blobs/affine.0.gfx1030.hsaco.zst")) ==
        built.modules[0].images[0].bytes);
  CHECK(decompressed(blob(*files, "kernels.blobs/copy.1.gfx1030.hsaco.zst")) ==
        built.modules[1].images[2].bytes);
}

TEST_CASE("embed ends PTX with a NUL, compressed or not", "[embed]") {
  const auto built = catalog();
  const std::string expected = built.modules[0].images[1].bytes + '\0';
  const auto compressed = tools::embed(built, {.mode = EmbedMode::kAsm}, 0);
  REQUIRE(compressed);
  CHECK(decompressed(blob(*compressed, "kernels.blobs/affine.0.compute_80.ptx.zst")) == expected);
  const auto plain = tools::embed(
      built, {.mode = EmbedMode::kAsm, .compression = Compression::kNone}, 0);
  REQUIRE(plain);
  CHECK(blob(*plain, "kernels.blobs/affine.0.compute_80.ptx") == expected);
}

TEST_CASE("embed stores source as it stores images, beside or instead of them", "[embed]") {
  auto built = catalog();
  built.modules[0].source_bundles = {"what affine is made of"};
  built.modules[1].source_bundles = {"copy's first unit", "copy's second unit"};
  const auto beside = tools::embed(
      built, {.mode = EmbedMode::kAsm, .source = tools::EmbedSource::kBeside}, 0);
  REQUIRE(beside);
  CHECK(beside->size() == 2 + 2 + 4 + 3);
  const auto instead = tools::embed(
      built, {.mode = EmbedMode::kAsm, .source = tools::EmbedSource::kInstead}, 0);
  REQUIRE(instead);
  CHECK(instead->size() == 2 + 3);
  CHECK(decompressed(blob(*instead, "kernels.blobs/copy.1.source.source.zst")) ==
        "copy's second unit");
}

TEST_CASE("embed writes the same bytes when it runs again", "[embed]") {
  const auto first = tools::embed(catalog(), {}, 0);
  const auto second = tools::embed(catalog(), {}, 0);
  REQUIRE((first && second));
  CHECK(first->at(0).text == second->at(0).text);
}

TEST_CASE("embed takes from the store what it put there", "[embed]") {
  testing::FakeFiles files;
  tools::CacheStore store(files, "/cache");
  auto built = catalog();
  const auto first = tools::embed(built, {}, 0, &store);
  REQUIRE(first);
  const std::size_t images = 2 + 4;
  CHECK(store.usage().entries == images);

  const auto second = tools::embed(built, {}, 0, &store);
  REQUIRE(second);
  CHECK(second->at(0).text == first->at(0).text);
  CHECK(store.usage().entries == images);

  auto& changed = built.modules[0].images[0];
  changed.bytes[0] ^= 1;
  changed.digest = sha256(changed.bytes);
  REQUIRE(tools::embed(built, {}, 0, &store));
  CHECK(store.usage().entries == images + 1);
}

TEST_CASE("embed succeeds when the store cannot be read or written", "[embed]") {
  using testing::Faults;
  const auto expected = tools::embed(catalog(), {}, 0);
  REQUIRE(expected);
  testing::FakeFiles files;
  tools::CacheStore store(files, "/cache");
  const auto check = [&] {
    const auto embedded = tools::embed(catalog(), {}, 0, &store);
    REQUIRE(embedded);
    CHECK(embedded->at(0).text == expected->at(0).text);
  };
  files.writes.fail(1, Faults::Kind::kFromThenOn);
  check();
  CHECK(files.writes.was_hit());
  files.writes.fail(0);
  check();
  files.reads.fail(1, Faults::Kind::kFromThenOn);
  check();
  CHECK(files.reads.was_hit());
}

TEST_CASE("embed refuses a namespace that C++ would not take", "[embed]") {
  for (const char* name : {"", "a b", "a::", "::a", "a:b", "1st", "class", "a::new", "kiln", "std",
                           "std::kernels", "a::std", "linux", "a::unix"}) {
    CAPTURE(name);
    const auto files = tools::embed(catalog(), {.name_space = name}, 0);
    REQUIRE_FALSE(files);
    CHECK(files.error().code == ErrorCode::kInvalidInput);
  }
  for (const char* name : {"kernels", "a::b::c", "kiln_kernels", "kiln::demo"}) {
    CAPTURE(name);
    CHECK(tools::embed(catalog(), {.name_space = name}, 0));
  }
  CHECK(render(tools::embed(catalog(), {.name_space = "a::new"}, 0).error()) ==
        "kiln: error: 'a::new' is not a C++ namespace\n"
        "hint: write it like 'kernels' or 'my::kernels'\n");
}

TEST_CASE("embed refuses a header name that is not a plain file name", "[embed]") {
  for (const char* name : {"", ".", "..", ".hpp", "a/b.hpp", "../x.hpp", "a b.hpp", "a\"b.hpp",
                           "-o.hpp", "kernels", "kernels.S"}) {
    CAPTURE(name);
    const auto files = tools::embed(catalog(), {.header = name}, 0);
    REQUIRE_FALSE(files);
    CHECK(files.error().code == ErrorCode::kInvalidInput);
  }
  const auto files = tools::embed(catalog(), {.header = "gpu.kernels.h"}, 0);
  REQUIRE(files);
  CHECK(files->at(0).path == "gpu.kernels.h");
}

TEST_CASE("embed reports a catalog out of order as a bug of ours", "[embed]") {
  auto built = catalog();
  std::swap(built.modules[0], built.modules[1]);
  const auto files = tools::embed(built, {}, 0);
  REQUIRE_FALSE(files);
  CHECK(files.error().code == ErrorCode::kInternal);
  CHECK(files.error().message == "embed: modules are not sorted");
}
