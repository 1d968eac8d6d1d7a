#include "formats/image.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "base/diagnostic.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

ImageInfo read(const std::string& file) {
  auto image = read_image(as_bytes(file));
  if (!image) FAIL(render(image.error()));
  return std::move(image).value();
}

}  // namespace

TEST_CASE("detect_kind tells each kind by its first bytes", "[image]") {
  ElfBuilder host;
  CHECK(detect_kind(as_bytes(make_hsaco())) == FileKind::kHsaco);
  CHECK(detect_kind(as_bytes(make_cubin())) == FileKind::kCubin);
  CHECK(detect_kind(as_bytes(host.build())) == FileKind::kHost);
  CHECK(detect_kind(as_bytes(make_ptx())) == FileKind::kPtx);
  CHECK(detect_kind(as_bytes(make_bundle({}))) == FileKind::kOffloadBundle);
  CHECK(detect_kind(as_bytes("CCOB")) == FileKind::kCompressedOffloadBundle);
  CHECK(detect_kind(as_bytes(make_fatbin({}))) == FileKind::kFatbin);
  host.machine = 8;
  CHECK(detect_kind(as_bytes(host.build())) == FileKind::kUnknown);
  CHECK(detect_kind(as_bytes("")) == FileKind::kUnknown);
  CHECK(detect_kind(as_bytes("\x7f"
                             "ELF")) == FileKind::kUnknown);
  CHECK(detect_kind(as_bytes("__CLANG_OFFLOAD_BUNDLE")) == FileKind::kUnknown);
}

TEST_CASE("every kind of file has a name of its own", "[image]") {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(FileKind::kFatbin); ++kind) {
    CHECK(names.insert(to_string(static_cast<FileKind>(kind))).second);
  }
}

TEST_CASE("read_image reads each kind of image", "[image]") {
  const ImageInfo hsaco = read(make_hsaco());
  CHECK(hsaco.format == ImageFormat::kHsaco);
  CHECK(hsaco.format_version == "code object v5");
  CHECK(to_string(hsaco.target) == "gfx90a");
  CHECK(hsaco.ptx_isa == 0);
  CHECK(hsaco.kernels.at(0).name == "scale");

  const ImageInfo cubin = read(make_cubin());
  CHECK(cubin.format == ImageFormat::kCubin);
  CHECK(cubin.format_version == "cubin abi 8");
  CHECK(to_string(cubin.target) == "sm_80");
  CHECK(cubin.kernels.at(0).name == "scale");

  const ImageInfo ptx = read(make_ptx());
  CHECK(ptx.format == ImageFormat::kPtx);
  CHECK(ptx.format_version == "PTX ISA 9.0");
  CHECK(ptx.ptx_isa == 90);
  CHECK(to_string(ptx.target) == "compute_90a");
  CHECK(ptx.kernels.at(0).name == "scale");
}

TEST_CASE("read_image names a container and an unknown file", "[image]") {
  const auto bundle = read_image(as_bytes(make_bundle({})));
  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().message == "not a single image but a container: offload bundle");
  const auto unknown = read_image(as_bytes("hello"));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message ==
        "unknown file: neither an ELF file of a known machine, nor PTX, nor a container");
}
