// Lists a folder when memory runs out: for every N, the Nth allocation and all later ones fail, and
// the exception can be caught. Exits with 0 if that is so.
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
