#include "tests/support/memory_meter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> held_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

}  // namespace

namespace kiln::testing {

MemoryMeter::MemoryMeter() : start_(held_bytes.load()) { peak_bytes = start_; }
std::size_t MemoryMeter::peak() const { return peak_bytes.load() - start_; }

}  // namespace kiln::testing

// The other forms of new and delete call these two.
#if KILN_METERS_MEMORY
void* operator new(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = held_bytes += malloc_usable_size(memory);
  if (now > peak_bytes) peak_bytes = now;
  return memory;
}
void operator delete(void* memory) noexcept {
  held_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif
