// Compressed containers with valid frames: the fuzzed parts are their content and their claims
// about it.
#include "formats/byte_reader.hpp"
#include "formats/image.hpp"
#include "formats/zstd.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln::testing;

namespace {

constexpr int kFast = 1;

std::string compressed_bundle(const std::string& plain, std::uint8_t claim) {
  const std::string frame = kiln::zstd_compress(plain, kFast).value();
  std::string bytes("CCOB\x02\0\x01\0", 8);
  put(bytes, static_cast<std::uint32_t>(24 + frame.size()));
  put(bytes, static_cast<std::uint32_t>(plain.size() + claim));
  put(bytes, std::uint64_t{0});
  return bytes + frame;
}

}  // namespace

FUZZ_TARGET(frames, data, size) {
  Pieces input(data, size);
  std::string file;
  std::vector<FatbinEntrySpec> entries;
  const bool is_bundle = input.byte() % 2 == 0;
  for (int i = 0; !input.empty() && i < 8; ++i) {
    const std::uint8_t claim = input.byte() % 4 == 0 ? input.byte() : 0;
    const std::string plain = input.piece();
    if (is_bundle) {
      file += compressed_bundle(plain, claim);
    } else {
      entries.push_back({.kind = static_cast<std::uint16_t>(1 + claim % 3),
                         .flags = 0x8011,
                         .payload = kiln::zstd_compress(plain, kFast).value(),
                         .decompressed_size = plain.size() + claim});
    }
  }
  if (!is_bundle) file = make_fatbin(entries);
  (void)kiln::read_container(kiln::as_bytes(file), [](const kiln::ContainerEntry& entry) {
    (void)kiln::read_image(entry.bytes);
    return kiln::Result<void>();
  });
}

FUZZ_SEEDS(frames) {
  const std::string bundle = make_bundle(
      {{"host-x86_64-unknown-linux-gnu-", ""}, {"hipv4-amdgcn-amd-amdhsa--gfx90a", make_hsaco()}});
  return {std::string(2, '\0') + '\0' + as_piece(bundle),
          std::string("\1\1", 2) + as_piece(make_cubin()) + '\1' + as_piece(make_ptx())};
}
