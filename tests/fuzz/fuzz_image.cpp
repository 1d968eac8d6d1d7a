#include <span>

#include "formats/image.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(image, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_image(bytes);
}

FUZZ_SEEDS(image) { return {make_hsaco(), make_cubin(), make_ptx(), ElfBuilder().build()}; }
