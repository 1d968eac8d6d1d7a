#include <span>

#include "formats/cubin.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_cubin(bytes);
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {make_cubin(), make_cubin({.abi_version = 7, .flags = 0x005a0d5a}),
          make_cubin({.flags = 0x06005a04, .compat = cubin_attribute(2, 0x09, 1)})};
}
