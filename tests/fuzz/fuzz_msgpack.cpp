#include <span>

#include "formats/msgpack.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

FUZZ_TARGET(msgpack, data, size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kiln::read_msgpack(bytes);
}

FUZZ_SEEDS(msgpack) {
  return {hsaco_metadata("scale", "scale.kd"),
          msgpack::array({"\xc0", "\xc3", msgpack::number(70000)})};
}
