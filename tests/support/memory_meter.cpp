#include "tests/support/memory_meter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> held{0};
std::atomic<std::size_t> most{0};

}  // namespace

namespace kiln::testing {

MemoryMeter::MemoryMeter() : start_(held.load()) { most = start_; }
std::size_t MemoryMeter::peak() const { return most.load() - start_; }

}  // namespace kiln::testing

// The other forms of new and delete call these two.
#if KILN_METERS_MEMORY
void* operator new(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = held += malloc_usable_size(memory);
  if (now > most) most = now;
  return memory;
}
void operator delete(void* memory) noexcept {
  held -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif
