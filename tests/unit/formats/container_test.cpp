#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "base/diagnostic.hpp"
#include "formats/image.hpp"
#include "formats/offload_bundle.hpp"
#include "formats/zstd.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/kept_container.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::string_view kHostId = "host-x86_64-unknown-linux-gnu-";
constexpr std::string_view kAmdId = "hipv4-amdgcn-amd-amdhsa--gfx1100";

std::string sample_bundle() {
  return make_bundle({{std::string(kHostId), ""},
                      {std::string(kAmdId), "first code object"},
                      {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "second"}});
}

// Returns a compressed bundle in one of the three versions.
std::string compressed(const std::string& plain, std::uint16_t version, std::uint16_t method = 1) {
  const std::string frame = zstd_compress(plain).value();
  std::string bytes = "CCOB";
  put(bytes, version);
  put(bytes, method);
  const std::size_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
  if (version == 2) put(bytes, static_cast<std::uint32_t>(header + frame.size()));
  if (version == 3) put(bytes, static_cast<std::uint64_t>(header + frame.size()));
  if (version == 3) {
    put(bytes, static_cast<std::uint64_t>(plain.size()));
  } else {
    put(bytes, static_cast<std::uint32_t>(plain.size()));
  }
  put(bytes, std::uint64_t{0});  // hash
  return bytes + frame;
}

KeptContainer read(const std::string& bytes) {
  auto container = keep_container(as_bytes(bytes));
  if (!container) FAIL(render(container.error()));
  return std::move(container).value();
}

std::string error_of(const std::string& bytes) {
  const auto container = keep_container(as_bytes(bytes));
  REQUIRE_FALSE(container);
  return render(container.error());
}

const std::string& text(const KeptEntry& entry) { return entry.bytes; }

}  // namespace

TEST_CASE("read_container reads the entries of an offload bundle", "[container]") {
  const std::string bytes = sample_bundle();
  const KeptContainer container = read(bytes);
  CHECK(container.kind == FileKind::kOffloadBundle);
  REQUIRE(container.entries.size() == 3);
  CHECK(container.entries[0].name == kHostId);
  CHECK(container.entries[0].target.empty());
  CHECK(container.entries[0].bytes.empty());
  CHECK(container.entries[1].name == kAmdId);
  CHECK(container.entries[1].target == "gfx1100");
  CHECK(text(container.entries[1]) == "first code object");
  CHECK(container.entries[2].target == "gfx90a:xnack+");
  CHECK(text(container.entries[2]) == "second");
}

TEST_CASE("bundle_entry_target reads each spelling of an id", "[container]") {
  CHECK(bundle_entry_target("hip-amdgcn-amd-amdhsa--gfx906") == "gfx906");
  CHECK(bundle_entry_target("hipv4-amdgcn-amd-amdhsa--gfx11-generic") == "gfx11-generic");
  CHECK(bundle_entry_target("hipv4-amdgcn-amd-amdhsa-unknown-gfx90a:sramecc+:xnack-") ==
        "gfx90a:sramecc+:xnack-");
  CHECK(bundle_entry_target("host-x86_64-unknown-linux--").empty());
  CHECK(bundle_entry_target("host-x86_64-unknown-linux-gnu").empty());
  CHECK(bundle_entry_target("openmp-nvptx64-nvidia-cuda--sm_80").empty());
}

TEST_CASE("read_container decompresses bundles of each version", "[container]") {
  const std::string plain = sample_bundle();
  for (const std::uint16_t version : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
    INFO("version " << version);
    const std::string bytes = compressed(plain, version);
    const KeptContainer container = read(bytes);
    CHECK(container.kind == FileKind::kCompressedOffloadBundle);
    CHECK(container.version == version);
    REQUIRE(container.entries.size() == 3);
    CHECK(text(container.entries[2]) == "second");
  }
}

TEST_CASE("read_container reads bundles that follow one another", "[container]") {
  const std::string plain = sample_bundle();
  const std::string bytes =
      plain + std::string(100, '\0') + compressed(plain, 2) + compressed(plain, 3) + plain;
  const KeptContainer container = read(bytes);
  REQUIRE(container.entries.size() == 12);
  for (std::size_t i = 1; i < 12; i += 3) CHECK(text(container.entries[i]) == "first code object");
  // The magic of a compressed bundle inside of a code object does not start a bundle.
  const std::string inside =
      make_bundle({{std::string(kAmdId), "xxCCOBxx__CLANG_OFFLOAD_BUNDLE__"}});
  CHECK(read(inside + inside).entries.size() == 2);
}

TEST_CASE("read_container ends with the visit's first error", "[container]") {
  int visits = 0;
  const auto container = read_container(as_bytes(sample_bundle()), [&](const ContainerEntry&) {
    ++visits;
    return Result<void>(malformed("no more"));
  });
  REQUIRE_FALSE(container);
  CHECK(container.error().message == "no more");
  CHECK(visits == 1);
}

TEST_CASE("read_container says what is wrong with a bundle", "[container]") {
  CHECK_THAT(error_of(compressed(sample_bundle(), 2, 0)),
             ContainsSubstring("its compression is zlib, kiln reads zstd") &&
                 ContainsSubstring("hint: compress it again"));
  CHECK_THAT(error_of(compressed(sample_bundle(), 2, 7)), ContainsSubstring("unknown method 7"));
  CHECK_THAT(error_of(compressed(sample_bundle(), 4)), ContainsSubstring("version 4"));
  CHECK_THAT(error_of(compressed("no bundle", 2)), ContainsSubstring("is no offload bundle"));
  CHECK_THAT(error_of(sample_bundle() + "x"), ContainsSubstring("no bundle starts at byte"));

  std::string wrong_size = compressed(sample_bundle(), 2);
  poke(wrong_size, 12, std::uint32_t{70000});
  CHECK_THAT(error_of(wrong_size), ContainsSubstring("expected 70000"));
  std::string too_long = compressed(sample_bundle(), 2);
  poke(too_long, 8, std::uint32_t{0xffffffff});
  CHECK_THAT(error_of(too_long), ContainsSubstring("a compressed bundle of 4294967295 bytes"));

  const std::string good = sample_bundle();
  std::string many = good;
  poke(many, 24, ~std::uint64_t{0});
  CHECK_THAT(error_of(many), ContainsSubstring("18446744073709551615 entries"));
  std::string outside = good;
  poke(outside, 32, ~std::uint64_t{0});  // offset of entry 0
  CHECK_THAT(error_of(outside), ContainsSubstring("passes the end"));
  std::string long_name = good;
  poke(long_name, 48, ~std::uint64_t{0});
  CHECK_THAT(error_of(long_name), ContainsSubstring("in the name of entry 0"));
}

TEST_CASE("read_container reads the entries of a fatbin", "[container]") {
  const std::string ptx = make_ptx();
  const std::string cubin = make_cubin();
  const std::string bytes = make_fatbin({
      {.kind = 2, .capability = 80, .payload = cubin},
      {.kind = 2, .capability = 90, .flags = 0x100011, .payload = "own"},
      {.kind = 2, .capability = 100, .flags = 0x1200011, .payload = "family"},
      {.kind = 1, .capability = 80, .payload = ptx},
      {.kind = 1,
       .capability = 90,
       .flags = 0x8011,
       .payload = zstd_compress(ptx + '\0').value(),
       .decompressed_size = ptx.size() + 1},
      {.kind = 16, .capability = 0, .payload = "else"},
  });
  const KeptContainer container = read(bytes);
  CHECK(container.kind == FileKind::kFatbin);
  CHECK(container.version == 1);
  REQUIRE(container.entries.size() == 6);
  CHECK(container.entries[0].target == "sm_80");
  CHECK(container.entries[0].name == "elf sm_80");
  CHECK(text(container.entries[0]).starts_with(cubin));
  CHECK(container.entries[1].target == "sm_90a");
  CHECK(container.entries[2].target == "sm_100f");
  CHECK(container.entries[3].target == "compute_80");
  CHECK(text(container.entries[3]) == ptx);
  CHECK(container.entries[4].target == "compute_90");
  CHECK(text(container.entries[4]) == ptx);
  CHECK(container.entries[5].target.empty());
  CHECK(container.entries[5].name == "kind 16");
  CHECK(read(bytes + bytes).entries.size() == 12);
}

TEST_CASE("read_container says what is wrong with a fatbin", "[container]") {
  const FatbinEntrySpec lz4 = {.kind = 1, .flags = 0x2011, .payload = "lz", .decompressed_size = 9};
  CHECK_THAT(
      error_of(make_fatbin({lz4})),
      ContainsSubstring("fatbin entry 'compute_80' is compressed with LZ4, kiln reads zstd") &&
          ContainsSubstring("hint: pack it again with fatbinary"));
  const std::string good = make_fatbin({{.payload = "12345678"}});
  std::string version = good;
  poke(version, 4, std::uint16_t{2});
  CHECK_THAT(error_of(version), ContainsSubstring("fatbin of version 2"));
  std::string size = good;
  poke(size, 8, ~std::uint64_t{0});
  CHECK_THAT(error_of(size), ContainsSubstring("bytes of entries in a file of"));
  std::string header = good;
  poke(header, 16 + 4, std::uint32_t{63});
  CHECK_THAT(error_of(header), ContainsSubstring("an entry header of 63 bytes"));
  std::string payload = good;
  poke(payload, 16 + 8, ~std::uint64_t{0});
  CHECK_THAT(error_of(payload), ContainsSubstring("entry 'sm_80' of 18446744073709551615 bytes"));
  CHECK_THAT(error_of(good + "rest"), ContainsSubstring("no header where one should be"));
}

TEST_CASE("read_container names what is no container", "[container]") {
  CHECK(error_of(make_hsaco()) == "kiln: error: not a container of images: AMD code object\n");
  CHECK(error_of("") == "kiln: error: not a container of images: unknown file\n");
}

TEST_CASE("read_container survives every cut and many changes", "[container]") {
  const std::string files[] = {sample_bundle(), compressed(sample_bundle(), 1),
                               compressed(sample_bundle(), 2), compressed(sample_bundle(), 3),
                               make_fatbin({{.payload = "12345678"},
                                            {.kind = 1,
                                             .flags = 0x8011,
                                             .payload = zstd_compress(make_ptx()).value(),
                                             .decompressed_size = make_ptx().size()}})};
  for (const std::string& file : files) {
    cut_everywhere(file, [](Bytes bytes) { CHECK_FALSE(keep_container(bytes)); });
    change_bytes(file, 6, 5000, [](Bytes bytes) { (void)keep_container(bytes); });
  }
}
