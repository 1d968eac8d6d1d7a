#include "formats/image_format.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;

TEST_CASE("parse_image_format reads what to_string writes") {
  for (const auto format : {ImageFormat::kHsaco, ImageFormat::kCubin, ImageFormat::kPtx,
                            ImageFormat::kHost, ImageFormat::kSource}) {
    CHECK(parse_image_format(to_string(format)) == format);
    CHECK_FALSE(file_extension(format).empty());
  }
  CHECK(to_string(ImageFormat::kCubin) == "cubin");
  CHECK(enumerator(ImageFormat::kHost) == "kHost");
  CHECK(file_extension(ImageFormat::kHost) == "so");
  CHECK_FALSE(parse_image_format("elf"));
}

TEST_CASE("format_of names the format of what is built for a target") {
  CHECK(format_of(TargetKind::kAmd) == ImageFormat::kHsaco);
  CHECK(format_of(TargetKind::kCubin) == ImageFormat::kCubin);
  CHECK(format_of(TargetKind::kPtx) == ImageFormat::kPtx);
  CHECK(format_of(TargetKind::kHost) == ImageFormat::kHost);
}
