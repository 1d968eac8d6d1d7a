// Fibers with Boost.Context. A switch takes a few nanoseconds and is not visible to sanitizers.
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

namespace {

// The data of a jump: its destination, and the place to store the context that it leaves.
struct Jump {
  Fiber* to;
  context::fcontext_t* from;
};

void save_context(context::transfer_t arrival) {
  *static_cast<Jump*>(arrival.data)->from = arrival.fctx;
}

void jump(context::fcontext_t to, Jump jump) { save_context(context::jump_fcontext(to, &jump)); }

}  // namespace

struct FiberEntry {
  static void enter(context::transfer_t arrival) {
    Fiber* const fiber = static_cast<Jump*>(arrival.data)->to;
    save_context(arrival);
    fiber->function_(fiber->argument_);
    fiber->finished_ = true;
    jump(fiber->implementation_->outside, {nullptr, &fiber->implementation_->inside});
  }
};

Fiber::Fiber(std::size_t stack_bytes)
    : implementation_(std::make_unique<Implementation>(stack_bytes)) {}
Fiber::~Fiber() = default;

std::span<std::byte> Fiber::stack() const {
  const Stack& stack = implementation_->stack;
  return {static_cast<std::byte*>(stack.bottom()), stack.size()};
}

void Fiber::start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  finished_ = false;
  implementation_->inside = context::make_fcontext(
      implementation_->stack.top(), implementation_->stack.size(), FiberEntry::enter);
}

void Fiber::resume() { jump(implementation_->inside, {this, &implementation_->outside}); }

void Fiber::suspend() { jump(implementation_->outside, {nullptr, &implementation_->inside}); }

void Fiber::switch_to(Fiber& next) {
  next.implementation_->outside = implementation_->outside;
  jump(next.implementation_->inside, {&next, &implementation_->inside});
}

}  // namespace kiln::host
