// Memory that ends at an inaccessible guard.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kiln::host {

class GuardedMemory {
 public:
  // Allocates `capacity` bytes, which must be a multiple of the page size.
  explicit GuardedMemory(std::size_t capacity) : capacity_(capacity) {
    void* const memory = mmap(nullptr, capacity + kGuard, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(memory);
    mprotect(begin_ + capacity, kGuard, PROT_NONE);
  }
  ~GuardedMemory() { munmap(begin_, capacity_ + kGuard); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // Returns the address of the last `bytes` bytes, rounded up to a multiple of 16.
  std::byte* last(std::size_t bytes) const { return begin_ + (capacity_ - (bytes + 15) / 16 * 16); }
  // True if the address lies in the guard behind the memory.
  bool guards(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    return byte >= begin_ + capacity_ && byte < begin_ + capacity_ + kGuard;
  }

 private:
  static constexpr std::size_t kGuard = 1 << 20;
  std::size_t capacity_;
  std::byte* begin_ = nullptr;
};

}  // namespace kiln::host
