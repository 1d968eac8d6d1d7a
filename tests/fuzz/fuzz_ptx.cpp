#include <span>

#include "formats/ptx.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(ptx, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_ptx(kiln::as_text(bytes));
}

FUZZ_SEEDS(ptx) {
  return {make_ptx(),
          ".version 8.0 .target sm_80 .address_size 64 .shared .b8 s[4]; .func f(.param .u64 .ptr "
          ".shared p) {} "
          ".entry k .reqntid 8, 4 { call f, (s); }"};
}
