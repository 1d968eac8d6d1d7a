// Memory that ends at an inaccessible guard.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kiln::host {

class GuardedMemory {
 public:
  // Allocates `most` bytes, which must be a multiple of the page size.
  explicit GuardedMemory(std::size_t most) : max_(most) {
    void* const memory = mmap(nullptr, most + kGuard, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(memory);
    mprotect(begin_ + most, kGuard, PROT_NONE);
  }
  ~GuardedMemory() { munmap(begin_, max_ + kGuard); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // Returns the address of the last `bytes` bytes, rounded up to a multiple of 16.
  std::byte* last(std::size_t bytes) const { return begin_ + (max_ - (bytes + 15) / 16 * 16); }
  // True if the address lies in the guard behind the memory.
  bool guards(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= begin_ + max_ && at < begin_ + max_ + kGuard;
  }

 private:
  static constexpr std::size_t kGuard = 1 << 20;
  std::size_t max_;
  std::byte* begin_ = nullptr;
};

}  // namespace kiln::host
