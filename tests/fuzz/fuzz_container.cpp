#include <span>

#include "formats/image.hpp"
#include "formats/zstd.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(container, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_container(bytes, [](const kiln::ContainerEntry& entry) {
    (void)kiln::read_image(entry.bytes);
    return kiln::Result<void>();
  });
}

FUZZ_SEEDS(container) {
  const std::string ptx = make_ptx();
  const std::string bundle = make_bundle(
      {{"host-x86_64-unknown-linux-gnu-", ""}, {"hipv4-amdgcn-amd-amdhsa--gfx90a", make_hsaco()}});
  const std::string frame = zstd_compress(bundle).value();
  std::string compressed("CCOB\x02\0\x01\0", 8);
  put(compressed, static_cast<std::uint32_t>(24 + frame.size()));
  put(compressed, static_cast<std::uint32_t>(bundle.size()));
  put(compressed, std::uint64_t{0});
  compressed += frame;
  const std::string fatbin = make_fatbin({{.payload = make_cubin()},
                                          {.kind = 1, .payload = ptx},
                                          {.kind = 1,
                                           .flags = 0x8011,
                                           .payload = zstd_compress(ptx).value(),
                                           .decompressed_size = ptx.size()}});
  return {bundle, compressed, fatbin, bundle + compressed};
}
