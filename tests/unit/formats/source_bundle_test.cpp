#include "formats/source_bundle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "formats/byte_reader.hpp"
#include "tests/support/damage.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

SourceBundle sample() {
  SourceBundle bundle;
  bundle.defines = {"A", "B=2 3"};
  bundle.include_directories = {".", "include"};
  bundle.flags = {"-O1"};
  bundle.amd_flags = {"-a"};
  bundle.nvidia_flags = {"-n"};
  bundle.host_flags = {"-h"};
  bundle.files = {{"kernels/scale.cu", "#include \"x.cuh\"\nfile 1 a\n"}, {"kernels/x.cuh", ""}};
  return bundle;
}

std::string error_of(const std::string& text) {
  const auto bundle = read_source_bundle(text);
  REQUIRE_FALSE(bundle);
  return bundle.error().message;
}

}  // namespace

TEST_CASE("A source bundle is read as it was written", "[source_bundle]") {
  const std::string text = write_source_bundle(sample());
  const auto bundle = read_source_bundle(text);
  REQUIRE(bundle);
  CHECK(write_source_bundle(*bundle) == text);
  CHECK(bundle->defines == sample().defines);
  CHECK(bundle->host_flags == sample().host_flags);
  REQUIRE(bundle->files.size() == 2);
  CHECK(bundle->files[0].path == "kernels/scale.cu");
  CHECK(bundle->files[0].text == sample().files[0].text);
  CHECK(bundle->files[1].text.empty());
}

TEST_CASE("A source bundle that is none is refused", "[source_bundle]") {
  CHECK(error_of("") == "damaged source bundle: it does not start with 'kiln source 1'");
  CHECK(error_of("kiln source 1\n") == "damaged source bundle: it holds no file");
  CHECK(error_of("kiln source 1\nwhat\n") == "damaged source bundle: unknown line 'what'");
  CHECK(error_of("kiln source 1\nfile 3 a\nab\n") == "damaged source bundle: a file is not all there");
  for (const char* path : {"/etc/passwd", "../a", "a/../../b", ".."}) {
    CHECK(error_of("kiln source 1\nfile 0 " + std::string(path) + "\n\n") ==
          "damaged source bundle: the path '" + std::string(path) + "' leaves the folder");
  }
  const std::string text = write_source_bundle(sample());
  cut_everywhere(text, [](Bytes part) { (void)read_source_bundle(as_text(part)); });
  change_bytes(text, 7, 20000, [](Bytes part) { (void)read_source_bundle(as_text(part)); });
}

// A newline in an option would start a line of its own.
TEST_CASE("A source bundle keeps options of several lines apart", "[source_bundle]") {
  SourceBundle bundle = sample();
  bundle.defines = {"A=1\nflag -fplugin=evil.so", "B=\\n"};
  bundle.files[1].path = "kernels/x\nfile 1 y";
  const auto read = read_source_bundle(write_source_bundle(bundle));
  REQUIRE(read);
  CHECK(read->defines == bundle.defines);
  CHECK(read->flags == bundle.flags);
  REQUIRE(read->files.size() == 2);
  CHECK(read->files[1].path == bundle.files[1].path);
}
