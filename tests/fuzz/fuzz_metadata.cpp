// The metadata of a code object that is otherwise valid.
#include "formats/byte_reader.hpp"
#include "formats/hsaco.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  HsacoSpec spec;
  spec.metadata = std::string(text_of(data, size));
  const std::string file = make_hsaco(spec);
  const auto hsaco = kiln::read_hsaco(kiln::as_bytes(file));
  if (!hsaco) return 0;
  for (const kiln::HsacoKernel& kernel : hsaco->kernels) {
    promise(kernel.info.parameters.size() <= kernel.arguments.size(), "parameters are arguments");
  }
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {hsaco_metadata("scale", "scale.kd"), hsaco_metadata("", "scale.kd"),
          msgpack::map({{"amdhsa.kernels", msgpack::array({})}})};
}
