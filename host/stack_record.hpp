// What the sanitizer of this build is told of a stack that is left and entered: the address
// sanitizer must know which stack is in use, and the thread sanitizer treats each fiber as a thread.
// Without these sanitizers, a record is empty and its functions do nothing.
#pragma once

#include <cstddef>

#include "host/stack.hpp"

#if defined(KILN_HOST_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(KILN_HOST_TSAN)
#include <sanitizer/tsan_interface.h>

#include <array>
#include <atomic>
#include <utility>
#endif

namespace kiln::host {

#if defined(KILN_HOST_ASAN)

class StackRecord {
 public:
  // A function is going to start at the top of the stack. An earlier one may never have returned:
  // the sanitizer then still forbids access to its variables.
  void begin(Stack& stack, bool has_dropped_function) {
    bottom_ = stack.bottom();
    size_ = stack.size();
    fake_stack_ = nullptr;
    if (has_dropped_function) __asan_unpoison_memory_region(bottom_, size_);
  }
  void leave_for(const StackRecord& next) {
    __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
  }
  // Leaves the stack because its function has ended.
  void end_for(const StackRecord& next) {
    __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.size_);
  }
  void arrive() { __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr); }
  // The same on a fiber. The first fiber that `outside` is left for tells it where its stack is.
  void arrive(StackRecord& outside) {
    if (outside.bottom_ != nullptr) return arrive();
    __sanitizer_finish_switch_fiber(fake_stack_, &outside.bottom_, &outside.size_);
  }

 private:
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  void* fake_stack_ = nullptr;
};

#elif defined(KILN_HOST_TSAN)

// Keeps the most recently ended threads. The sanitizer can only report a race if it remembers both
// threads, and it forgets most ended threads. The number kept is that of the threads of two of the
// largest blocks, a quarter of the threads that the sanitizer has room for.
class EndedThreads {
 public:
  static EndedThreads& instance() {
    static EndedThreads threads;
    return threads;
  }
  void add(void* thread) {
    // No mutex: for the sanitizer, it would order the workers.
    while (busy_.test_and_set(std::memory_order_acquire)) continue;
    void* const oldest = std::exchange(threads_[next_], thread);
    next_ = (next_ + 1) % threads_.size();
    busy_.clear(std::memory_order_release);
    if (oldest != nullptr) __tsan_destroy_fiber(oldest);
  }

 private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::array<void*, 2048> threads_{};
  std::size_t next_ = 0;
};

class StackRecord {
 public:
  StackRecord() = default;
  ~StackRecord() {
    if (own_thread_ != nullptr) __tsan_destroy_fiber(own_thread_);
  }
  StackRecord(const StackRecord&) = delete;
  StackRecord& operator=(const StackRecord&) = delete;

  // Every device thread gets a new identity. Nothing that the previous thread did is ordered before
  // it, so its stack must not be memory that the previous thread wrote.
  void begin(Stack& stack, bool) {
    stack.renew();
    if (own_thread_ != nullptr) EndedThreads::instance().add(own_thread_);
    thread_ = own_thread_ = __tsan_create_fiber(0);
  }
  void leave_for(const StackRecord& next) {
    thread_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(next.thread_, __tsan_switch_to_fiber_no_sync);
  }
  void end_for(const StackRecord& next) { leave_for(next); }
  void arrive() {}
  void arrive(StackRecord&) {}

 private:
  void* thread_ = nullptr;
  void* own_thread_ = nullptr;  // null for a stack on which no fiber runs
};

#else

class StackRecord {
 public:
  void begin(Stack&, bool) {}
  void leave_for(const StackRecord&) {}
  void end_for(const StackRecord&) {}
  void arrive() {}
  void arrive(StackRecord&) {}
};

#endif

}  // namespace kiln::host
