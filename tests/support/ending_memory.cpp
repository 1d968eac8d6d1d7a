#include "tests/support/ending_memory.hpp"

#include <cstdlib>
#include <new>

namespace {

long left = -1;  // allocations left until they fail; negative: no limit
bool has_ended = false;

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = left != 0 ? std::malloc(size) : nullptr;
  if (left > 0) --left;
  if (memory != nullptr) return memory;
  has_ended = true;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace kiln::testing {

void end_memory_after(long allocations) {
  left = allocations;
  has_ended = false;
}
void end_memory_never() { left = -1; }
bool has_memory_ended() { return has_ended; }

}  // namespace kiln::testing
