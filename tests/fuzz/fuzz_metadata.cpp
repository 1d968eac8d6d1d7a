// The metadata of a code object that is otherwise valid.
#include "formats/byte_reader.hpp"
#include "formats/hsaco.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln::testing;

FUZZ_TARGET(metadata, data, size) {
  if (size == 0) return;
  HsacoSpec spec;
  spec.metadata = std::string(text_of(data, size));
  const std::string file = make_hsaco(spec);
  const auto hsaco = kiln::read_hsaco(kiln::as_bytes(file));
  if (!hsaco) return;
  for (const kiln::HsacoKernel& kernel : hsaco->kernels) {
    promise(kernel.info.parameters.size() <= kernel.arguments.size(), "parameters are arguments");
  }
}

FUZZ_SEEDS(metadata) {
  return {hsaco_metadata("scale", "scale.kd"), hsaco_metadata("", "scale.kd"),
          msgpack::map({{"amdhsa.kernels", msgpack::array({})}})};
}
