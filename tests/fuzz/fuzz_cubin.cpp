#include <span>

#include "formats/cubin.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(cubin, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_cubin(bytes);
}

FUZZ_SEEDS(cubin) {
  return {make_cubin(), make_cubin({.abi_version = 7, .flags = 0x005a0d5a}),
          make_cubin({.flags = 0x06005a04, .compat = cubin_attribute(2, 0x09, 1)})};
}
