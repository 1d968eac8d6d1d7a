// Listing a folder where memory ends: the Nth allocation and all after it fail, for every N, and what is
// thrown can be caught. Ends with 0 when it is so.
#include <new>

#include "tests/support/ending_memory.hpp"
#include "tools/system/files.hpp"

int main() {
  const auto files = kiln::tools::real_files();
  const std::filesystem::path folder = "/";
  for (long allowed = 0; allowed < 1000; ++allowed) {
    kiln::testing::end_memory_after(allowed);
    try {
      const auto names = files->list(folder);
      kiln::testing::end_memory_never();
      return names && allowed > 0 ? 0 : 1;
    } catch (const std::bad_alloc&) {
      kiln::testing::end_memory_never();
    }
  }
  return 1;
}
