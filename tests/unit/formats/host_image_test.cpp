#include "formats/host_image.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <string>

#include "kernels/device/host_abi.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/elf_builder.hpp"

using namespace kiln;
using namespace kiln::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

template <typename Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

host::ImageRecord about() {
  host::ImageRecord record{};
  std::memcpy(record.magic, "KILNHOST", 8);
  record.record_size = sizeof(record);
  record.abi_version = host::kAbiVersion;
  record.wave_width = 32;
  std::strcpy(record.cpu, "x86-64-v3");
  return record;
}

host::KernelRecord kernel(const char* name) {
  host::KernelRecord record{};
  record.record_size = sizeof(record);
  record.abi_version = host::kAbiVersion;
  record.parameter_count = 2;
  record.max_threads = 256;
  record.parameters[0] = {.offset = 0, .size = 8, .is_pointer = 1};
  record.parameters[1] = {.offset = 8, .size = 4, .is_pointer = 0};
  std::strcpy(record.name, name);
  return record;
}

std::string make_host(const std::string& image, const std::string& kernels) {
  ElfBuilder elf;
  elf.add({.name = ".kiln.image", .bytes = image});
  if (!kernels.empty()) elf.add({.name = ".kiln.kernels", .bytes = kernels});
  return elf.build();
}

std::string error_of(const std::string& file) {
  const auto image = read_host_image(as_bytes(file));
  REQUIRE_FALSE(image);
  return image.error().message;
}

}  // namespace

TEST_CASE("find_host_target needs no more than the image's record", "[host_image]") {
  host::ImageRecord wide = about();
  wide.wave_width = 64;
  const std::string file = "KILNHOST, but no record " + make_host(bytes_of(wide), "");
  REQUIRE(find_host_target(as_bytes(file)));
  CHECK(to_string(*find_host_target(as_bytes(file))) == "host:wave64");
  CHECK_FALSE(find_host_target(as_bytes("KILNHOST")));
  cut_everywhere(file, [](Bytes part) { (void)find_host_target(part); });
}

TEST_CASE("read_host_image reads an image's records", "[host_image]") {
  const std::string file =
      make_host(bytes_of(about()), bytes_of(kernel("beta")) + bytes_of(kernel("alpha")));
  const auto image = read_host_image(as_bytes(file));
  REQUIRE(image);
  CHECK(to_string(image->target) == "host");
  CHECK(image->cpu == "x86-64-v3");
  CHECK(image->sanitizer.empty());
  REQUIRE(image->kernels.size() == 2);
  CHECK(image->kernels[0].name == "alpha");
  CHECK(image->kernels[1].name == "beta");
  CHECK(image->kernels[0].wave_width == 32u);
  CHECK(image->kernels[0].max_threads == 256u);
  REQUIRE(image->kernels[0].parameters.size() == 2);
  CHECK(image->kernels[0].parameters[0].kind == ParameterKind::kPointer);
  CHECK(image->kernels[0].parameters[1].kind == ParameterKind::kValue);
  CHECK(image->kernels[0].parameters[1].offset == 8);
  CHECK(image->kernels[0].parameters[1].size == 4);
}

TEST_CASE("read_host_image reads an image of wide waves and one without kernels", "[host_image]") {
  host::ImageRecord wide = about();
  wide.wave_width = 64;
  const std::string file = make_host(bytes_of(wide), "");
  const auto image = read_host_image(as_bytes(file));
  REQUIRE(image);
  CHECK(to_string(image->target) == "host:wave64");
  CHECK(image->kernels.empty());
}

TEST_CASE("read_host_image says what is wrong", "[host_image]") {
  ElfBuilder plain;
  CHECK_THAT(error_of(plain.build()), ContainsSubstring("it has no section '.kiln.image'"));
  host::ImageRecord record = about();
  record.magic[0] = 'k';
  CHECK_THAT(error_of(make_host(bytes_of(record), "")),
             ContainsSubstring("does not start with 'KILNHOST'"));
  record = about();
  record.abi_version = 99;
  CHECK_THAT(error_of(make_host(bytes_of(record), "")), ContainsSubstring("ABI version 99"));
  record = about();
  record.wave_width = 16;
  CHECK_THAT(error_of(make_host(bytes_of(record), "")), ContainsSubstring("waves of 16 lanes"));
  CHECK_THAT(error_of(make_host(bytes_of(about()), "short")),
             ContainsSubstring("does not hold records of"));
  host::KernelRecord many = kernel("k");
  many.parameter_count = host::kMaxParameters + 1;
  CHECK_THAT(error_of(make_host(bytes_of(about()), bytes_of(many))),
             ContainsSubstring("kernel record 'k'"));
  many = kernel("k");
  many.max_threads = host::kMaxBlockThreads + 1;
  CHECK_THAT(error_of(make_host(bytes_of(about()), bytes_of(many))),
             ContainsSubstring("blocks of 1025 threads"));
  CHECK_THAT(error_of(make_host(bytes_of(about()), bytes_of(kernel("")))),
             ContainsSubstring("kernel record ''"));
}

TEST_CASE("read_host_image survives every cut and many changes", "[host_image]") {
  const std::string file = make_host(bytes_of(about()), bytes_of(kernel("k")));
  cut_everywhere(file, [](Bytes bytes) { CHECK_FALSE(read_host_image(bytes)); });
  change_bytes(file, 7, 10000, [](Bytes bytes) { (void)read_host_image(bytes); });
}
