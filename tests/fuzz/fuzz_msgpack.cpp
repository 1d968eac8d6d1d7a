#include <span>

#include "formats/msgpack.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_msgpack(bytes);
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {hsaco_metadata("scale", "scale.kd"),
          msgpack::array({"\xc0", "\xc3", msgpack::number(70000)})};
}
