#include <span>

#include "formats/hsaco.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(hsaco, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_hsaco(bytes);
}

FUZZ_SEEDS(hsaco) {
  return {make_hsaco(), make_hsaco({.abi_version = 1}),
          make_hsaco({.abi_version = 4, .flags = 0x01000054})};
}
