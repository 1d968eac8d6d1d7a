#include "formats/image_sources.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;

TEST_CASE("the sources of images are read as they were written") {
  const ImageSources sources = {{sha256("a"), sha256("x")}, {sha256("b"), sha256("x")}};
  const std::string text = write_image_sources(sources);
  CHECK(read_image_sources(text) == sources);
  CHECK(read_image_sources(write_image_sources({})).empty());
  CHECK(image_sources_path("affine") == "affine.sources");
}

TEST_CASE("a damaged text tells of the sources of no image") {
  const std::string text = write_image_sources({{sha256("a"), sha256("x")}});
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK(read_image_sources(text.substr(0, size)).empty());
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    std::string changed = text;
    changed[at] = '?';
    CHECK(read_image_sources(changed).empty());
  }
}
