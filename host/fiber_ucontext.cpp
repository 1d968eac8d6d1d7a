// Fibers with ucontext, for sanitizer builds and for builds without Boost.Context. They are slower,
// but need the C library alone. In sanitizer builds, every switch is announced, so that the address
// sanitizer knows which stack is in use and the thread sanitizer treats each fiber as a thread.
#include <ucontext.h>

#include <array>
#include <atomic>
#include <utility>

#include "host/fiber.hpp"
#include "host/stack.hpp"

#if defined(KILN_HOST_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(KILN_HOST_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace kiln::host {

#if defined(KILN_HOST_TSAN)
namespace {

// Keeps the most recently ended threads. The sanitizer can only report a race if it remembers both
// threads, and it forgets most ended threads. The number kept is that of the threads of two of the
// largest blocks, a quarter of the threads that the sanitizer has room for.
class EndedThreads {
 public:
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
EndedThreads ended_threads;

}  // namespace
#endif

struct Fiber::Implementation {
  explicit Implementation(std::size_t stack_bytes) : stack(stack_bytes) {}
  Stack stack;
  ucontext_t inside{};
  ucontext_t outside{};
  Fiber* next = nullptr;  // the fiber that resume() is to run in place of this one

  void enter();
#if defined(KILN_HOST_ASAN)
  void* inside_fake_stack = nullptr;
  void* outside_fake_stack = nullptr;
  const void* outside_bottom = nullptr;
  std::size_t outside_size = 0;
#elif defined(KILN_HOST_TSAN)
  void* inside_thread = nullptr;
  void* outside_thread = nullptr;
#endif
};

struct FiberEntry {
  static void enter(unsigned high, unsigned low) {
    auto* fiber = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32) | low);
    auto& self = *fiber->implementation_;
#if defined(KILN_HOST_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &self.outside_bottom, &self.outside_size);
#endif
    fiber->function_(fiber->argument_);
    fiber->finished_ = true;
#if defined(KILN_HOST_ASAN)
    __sanitizer_start_switch_fiber(nullptr, self.outside_bottom, self.outside_size);
#elif defined(KILN_HOST_TSAN)
    __tsan_switch_to_fiber(self.outside_thread, __tsan_switch_to_fiber_no_sync);
#endif
    setcontext(&self.outside);
  }
};

Fiber::Fiber(std::size_t stack_bytes)
    : implementation_(std::make_unique<Implementation>(stack_bytes)) {}

Fiber::~Fiber() {
#if defined(KILN_HOST_TSAN)
  if (implementation_->inside_thread != nullptr)
    __tsan_destroy_fiber(implementation_->inside_thread);
#endif
}

std::span<std::byte> Fiber::stack() const {
  const Stack& stack = implementation_->stack;
  return {static_cast<std::byte*>(stack.bottom()), stack.size()};
}

void Fiber::start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  finished_ = false;
  auto& self = *implementation_;
#if defined(KILN_HOST_TSAN)
  // Every device thread gets a new identity. Nothing that the previous thread did is ordered before
  // it, so its stack must not be memory that the previous thread wrote.
  self.stack.renew();
  if (self.inside_thread != nullptr) ended_threads.add(self.inside_thread);
  self.inside_thread = __tsan_create_fiber(0);
#endif
  getcontext(&self.inside);
  self.inside.uc_stack.ss_sp = self.stack.bottom();
  self.inside.uc_stack.ss_size = self.stack.size();
  self.inside.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&self.inside, reinterpret_cast<void (*)()>(FiberEntry::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
}

void Fiber::Implementation::enter() {
#if defined(KILN_HOST_ASAN)
  __sanitizer_start_switch_fiber(&outside_fake_stack, stack.bottom(), stack.size());
#elif defined(KILN_HOST_TSAN)
  outside_thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_thread, __tsan_switch_to_fiber_no_sync);
#endif
  swapcontext(&outside, &inside);
#if defined(KILN_HOST_ASAN)
  __sanitizer_finish_switch_fiber(outside_fake_stack, nullptr, nullptr);
#endif
}

// Switches through resume(), so that the sanitizers see only one kind of switch.
void Fiber::resume() {
  for (Fiber* fiber = this; fiber != nullptr;) {
    fiber->implementation_->enter();
    fiber = std::exchange(fiber->implementation_->next, nullptr);
  }
}

void Fiber::switch_to(Fiber& next) {
  implementation_->next = &next;
  suspend();
}

void Fiber::suspend() {
  auto& self = *implementation_;
#if defined(KILN_HOST_ASAN)
  __sanitizer_start_switch_fiber(&self.inside_fake_stack, self.outside_bottom, self.outside_size);
#elif defined(KILN_HOST_TSAN)
  __tsan_switch_to_fiber(self.outside_thread, __tsan_switch_to_fiber_no_sync);
#endif
  swapcontext(&self.inside, &self.outside);
#if defined(KILN_HOST_ASAN)
  __sanitizer_finish_switch_fiber(self.inside_fake_stack, &self.outside_bottom, &self.outside_size);
#endif
}

#if defined(KILN_HOST_TSAN)
void order_release(void* address) { __tsan_release(address); }
void order_acquire(void* address) { __tsan_acquire(address); }
#endif

}  // namespace kiln::host
