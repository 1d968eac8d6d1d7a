// A stack that a function runs on, and that can be left and entered again.
//
// A fiber belongs to the OS thread that first resumes it. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace kiln::host {

class Fiber {
 public:
  using Function = void (*)(void* argument);

  explicit Fiber(std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes the next resume() call `function(argument)` at the top of the stack. A function that ran
  // on this fiber before is dropped without unwinding.
  void start(Function function, void* argument);
  // Runs the fiber until it, or a fiber that it switched to, suspends or returns from its function.
  void resume();
  // Returns to resume(). Called on the fiber.
  void suspend();
  // Suspends this fiber and runs `next` in its place, without a return of resume() in between.
  // Called on the fiber.
  void switch_to(Fiber& next);
  bool finished() const { return finished_; }
  std::span<std::byte> stack() const;

 private:
  friend struct FiberEntry;
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
  Function function_ = nullptr;
  void* argument_ = nullptr;
  bool finished_ = true;
};

// order_release() and order_acquire() tell the thread sanitizer that what this stack did before a
// release happens before what another stack does after an acquire of the same address.
// one_thread_per_fiber() is true if every device thread needs its own fiber, so that the sanitizer
// sees races between threads of a block. Other builds pay nothing for these functions.
#if defined(KILN_HOST_TSAN)
void order_release(void* address);
void order_acquire(void* address);
constexpr bool one_thread_per_fiber() { return true; }
#else
inline void order_release(void*) {}
inline void order_acquire(void*) {}
constexpr bool one_thread_per_fiber() { return false; }
#endif

}  // namespace kiln::host
