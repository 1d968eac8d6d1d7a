// Host images in one process: loaded side by side, told apart, and gone when they are dropped.
#include "host/image.hpp"

#include <link.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <iterator>
#include <vector>

using namespace kiln;
using namespace kiln::host;
using Catch::Matchers::ContainsSubstring;

namespace {

Result<std::unique_ptr<Image>> load(const char* path, std::uint32_t wave_width) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  return Image::load(std::as_bytes(std::span(bytes)), wave_width);
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

TEST_CASE("Image: dropping one takes its code out of the process") {
  REQUIRE(load(KILN_PLANTED_32, 32));  // whatever it needs stays
  const int before = count_loaded_objects();
  {
    const auto image = load(KILN_PLANTED_32, 32);
    REQUIRE(image);
    CHECK(count_loaded_objects() == before + 1);
  }
  CHECK(count_loaded_objects() == before);
}
