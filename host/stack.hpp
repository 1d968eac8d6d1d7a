// Memory for a fiber's stack, with an inaccessible page below it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace kiln::host {

class Stack {
 public:
  explicit Stack(std::size_t bytes) : size_(bytes + page()), unused_(next_unused()) {
    base_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(base_, page(), PROT_NONE);
  }
  ~Stack() { munmap(base_, size_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  // Maps the same addresses again. The old content is lost, also for a sanitizer.
  void renew() {
    if (mmap(bottom(), size(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
      throw std::bad_alloc();
    }
  }

  void* bottom() const { return static_cast<std::byte*>(base_) + page(); }
  void* top() const { return static_cast<std::byte*>(base_) + size_ - unused_; }
  std::size_t size() const { return size_ - unused_ - page(); }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  // A number below 4096 that differs from stack to stack. If all stacks ended at the end of a page,
  // the tops of the stacks of a block would share a few lines of the L1 cache and evict each other.
  static std::size_t next_unused() {
    static std::atomic<std::size_t> count{0};
    return count.fetch_add(1, std::memory_order_relaxed) * 5 % 64 * 64;
  }

  std::size_t size_;
  std::size_t unused_;  // bytes above the top
  void* base_;
};

}  // namespace kiln::host
