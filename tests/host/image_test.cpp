// Host images in one process: loaded side by side, kept apart, and unloaded when they are dropped.
#include "host/image.hpp"

#include <link.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace kiln;
using namespace kiln::host;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<std::unique_ptr<Image>> load(const char* path, std::uint32_t wave_width) {
  const std::string bytes = contents(path);
  return Image::load(std::as_bytes(std::span(bytes)), wave_width);
}

// Returns the error for an image whose record has `text` at `offset`.
std::string said_of_patched(std::size_t offset, const std::string& text) {
  std::string image = contents(KILN_PLANTED_32);
  const std::size_t record = image.find("KILNHOST");
  REQUIRE(record != std::string::npos);
  image.replace(record + offset, text.size(), text);
  const auto loaded = Image::load(std::as_bytes(std::span(image)), 32);
  REQUIRE_FALSE(loaded);
  return loaded.error().message;
}

int count_loaded_objects() {
  int count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* data) { return ++*static_cast<int*>(data), 0; }, &count);
  return count;
}

}  // namespace

TEST_CASE("Image: both wave widths are loaded side by side") {
  const auto narrow = load(KILN_PLANTED_32, 32);
  const auto wide = load(KILN_PLANTED_64, 64);
  REQUIRE(narrow);
  REQUIRE(wide);
  CHECK((*narrow)->find("neighbours") != nullptr);
  CHECK((*narrow)->find("neighbours") != (*wide)->find("neighbours"));
  CHECK((*wide)->find("nobody") == nullptr);
}

TEST_CASE("Image: one of another wave width is refused") {
  const auto image = load(KILN_PLANTED_64, 32);
  REQUIRE(!image);
  CHECK_THAT(image.error().message, ContainsSubstring("has waves of 64 lanes, the device has 32"));
}

TEST_CASE("Image: one for another processor, or of another kiln, is refused before it is opened") {
  const int before = count_loaded_objects();
  CHECK(said_of_patched(offsetof(ImageRecord, cpu), "x86-64-v9") ==
        "the host image needs a processor of level x86-64-v9, which this machine's is not");
  CHECK_THAT(said_of_patched(0, "KILNPOST"), ContainsSubstring("not a host image"));
  CHECK(count_loaded_objects() == before);
}

TEST_CASE("Image: dropping one takes its code out of the process") {
  REQUIRE(load(KILN_PLANTED_32, 32));  // loads its dependencies, which stay
  const int before = count_loaded_objects();
  {
    const auto image = load(KILN_PLANTED_32, 32);
    REQUIRE(image);
    CHECK(count_loaded_objects() == before + 1);
  }
  CHECK(count_loaded_objects() == before);
}
