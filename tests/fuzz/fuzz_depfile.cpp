#include "tests/fuzz/fuzz_target.hpp"
#include "tools/stages/depfile.hpp"

using namespace kiln::testing;

FUZZ_TARGET(depfile, data, size) { (void)kiln::tools::parse_depfile(text_of(data, size)); }

FUZZ_SEEDS(depfile) {
  return {"a.o: a.cu \\\n  b\\ c.hpp d$$e.hpp \\\n  f\\#g.hpp\n", "x : \\\r\n y\nz:\n"};
}
