// The entry points of libFuzzer. The first argument names the target; libFuzzer sees the others.
#include <algorithm>
#include <cstdlib>

#include "tests/fuzz/fuzz_target.hpp"

static const kiln::testing::FuzzTarget* target;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  target = kiln::testing::find_fuzz_target(*argc > 1 ? (*argv)[1] : "");
  if (target == nullptr) std::exit(2);
  std::rotate(*argv + 1, *argv + 2, *argv + *argc);
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->run(data, size);
  return 0;
}
