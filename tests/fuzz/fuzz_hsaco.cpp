#include <span>

#include "formats/hsaco.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_hsaco(bytes);
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {make_hsaco(), make_hsaco({.abi_version = 1}),
          make_hsaco({.abi_version = 4, .flags = 0x01000054})};
}
