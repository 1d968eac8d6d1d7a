#include "tests/fuzz/fuzz_target.hpp"
#include "tools/stages/depfile.hpp"

using namespace kiln::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)kiln::tools::parse_depfile(text_of(data, size));
  return 0;
}

std::vector<std::string> kiln::testing::fuzz_seeds() {
  return {"a.o: a.cu \\\n  b\\ c.hpp d$$e.hpp \\\n  f\\#g.hpp\n", "x : \\\r\n y\nz:\n"};
}
