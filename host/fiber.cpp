#include "host/fiber.hpp"

#include "host/context.hpp"
#include "host/stack.hpp"
#include "host/stack_record.hpp"

namespace kiln::host {
namespace {

// Where a stack was left.
struct Place {
  Context context;
  StackRecord record;

  // Leaves this place. Returns when somebody goes to it.
  void go_to(Place& next) {
    record.leave_for(next.record);
    Context::swap(context, next.context);
  }
};

}  // namespace

struct Fiber::Implementation {
  explicit Implementation(std::size_t stack_bytes) : stack(stack_bytes) {}
  Stack stack;
  Place inside;
  Place* outside = nullptr;  // where resume() waits
};

struct FiberEntry {
  static void enter(void* argument) {
    Fiber& fiber = *static_cast<Fiber*>(argument);
    Fiber::Implementation& self = *fiber.implementation_;
    self.inside.record.arrive(self.outside->record);
    fiber.function_(fiber.argument_);
    fiber.finished_ = true;
    self.inside.record.end_for(self.outside->record);
    Context::swap(self.inside.context, self.outside->context);
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
  Implementation& self = *implementation_;
  self.inside.record.begin(self.stack, !finished_);
  self.inside.context.make(self.stack, FiberEntry::enter, this);
  function_ = function;
  argument_ = argument;
  finished_ = false;
}

void Fiber::resume() {
  Place outside;
  implementation_->outside = &outside;
  outside.go_to(implementation_->inside);
  outside.record.arrive();
}

void Fiber::suspend() {
  Implementation& self = *implementation_;
  self.inside.go_to(*self.outside);
  self.inside.record.arrive(self.outside->record);
}

void Fiber::switch_to(Fiber& next) {
  Implementation& self = *implementation_;
  next.implementation_->outside = self.outside;
  self.inside.go_to(next.implementation_->inside);
  self.inside.record.arrive(self.outside->record);
}

#if defined(KILN_HOST_TSAN)
void order_release(void* address) { __tsan_release(address); }
void order_acquire(void* address) { __tsan_acquire(address); }
#endif

}  // namespace kiln::host
