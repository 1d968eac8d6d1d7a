#include "tests/fuzz/fuzz_target.hpp"
#include "tools/stages/ptxas_log.hpp"

using namespace kiln::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)kiln::tools::parse_ptxas_log(text_of(data, size));
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Function "
      "properties for k\n"
      "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 380 bytes cmem[0]\n"};
}
