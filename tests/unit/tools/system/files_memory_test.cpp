// Listing a folder where memory ends: the Nth allocation and all after it fail, for every N, and what is
// thrown can be caught. Ends with 0 when it is so.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "tools/system/files.hpp"

namespace {

long left = -1;  // allocations until they fail; negative: they do not

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = left != 0 ? std::malloc(size) : nullptr;
  if (left > 0) --left;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  const auto files = kiln::tools::real_files();
  const std::filesystem::path folder = "/";
  for (long allowed = 0; allowed < 1000; ++allowed) {
    left = allowed;
    try {
      const auto names = files->list(folder);
      left = -1;
      return names && allowed > 0 ? 0 : 1;
    } catch (const std::bad_alloc&) {
      left = -1;
    }
  }
  return 1;
}
