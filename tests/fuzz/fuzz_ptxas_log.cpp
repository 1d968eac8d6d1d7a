#include "tests/fuzz/fuzz_target.hpp"
#include "tools/stages/ptxas_log.hpp"

using namespace kiln::testing;

FUZZ_TARGET(ptxas_log, data, size) { (void)kiln::tools::parse_ptxas_log(text_of(data, size)); }

FUZZ_SEEDS(ptxas_log) {
  return {
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Function "
      "properties for k\n"
      "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 380 bytes cmem[0]\n"};
}
