// Fibers by Boost.Context: a switch costs a few nanoseconds and knows nothing of sanitizers.
#include <boost/context/detail/fcontext.hpp>

#include "host/fiber.hpp"
#include "host/stack.hpp"

namespace kiln::host {

namespace context = boost::context::detail;

struct Fiber::Implementation {
  explicit Implementation(std::size_t stack_bytes) : stack(stack_bytes) {}
  Stack stack;
  context::fcontext_t inside = nullptr;   // where the fiber stopped
  context::fcontext_t outside = nullptr;  // where resume() waits
};

struct FiberEntry {
  static void enter(context::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    fiber->implementation_->outside = from.fctx;
    fiber->function_(fiber->argument_);
    fiber->finished_ = true;
    context::jump_fcontext(fiber->implementation_->outside, fiber);
  }
};

Fiber::Fiber(std::size_t stack_bytes)
    : implementation_(std::make_unique<Implementation>(stack_bytes)) {}
Fiber::~Fiber() = default;

void Fiber::start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  finished_ = false;
  implementation_->inside = context::make_fcontext(
      implementation_->stack.top(), implementation_->stack.size(), FiberEntry::enter);
}

void Fiber::resume() {
  implementation_->inside = context::jump_fcontext(implementation_->inside, this).fctx;
}

void Fiber::suspend() {
  implementation_->outside = context::jump_fcontext(implementation_->outside, this).fctx;
}

void order_release(void*) {}
void order_acquire(void*) {}
bool one_thread_per_fiber() { return false; }

}  // namespace kiln::host
