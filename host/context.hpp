// Where a function on a stack of its own stopped, and how it goes on from there.
//
// Boost.Context switches in a few nanoseconds. Builds without it use the C library's ucontext, which
// makes a system call for every switch.
#pragma once

#include "host/stack.hpp"

#if defined(KILN_HOST_BOOST_CONTEXT)

#include <boost/context/detail/fcontext.hpp>

namespace kiln::host {

class Context {
 public:
  using Function = void (*)(void* argument);  // must not return

  // Makes the next switch to this context call `function(argument)` at the top of the stack.
  void make(const Stack& stack, Function function, void* argument) {
    function_ = function;
    argument_ = argument;
    place_ = boost::context::detail::make_fcontext(stack.top(), stack.size(), enter);
  }

  // Leaves the running function, which continues when somebody switches to `from`.
  static void swap(Context& from, Context& to) {
    Swap swap{&from, &to};
    arrive(boost::context::detail::jump_fcontext(to.place_, &swap));
  }

 private:
  struct Swap {
    Context* from;
    Context* to;
  };

  static Context& arrive(boost::context::detail::transfer_t arrival) {
    const Swap& swap = *static_cast<Swap*>(arrival.data);
    swap.from->place_ = arrival.fctx;
    return *swap.to;
  }
  static void enter(boost::context::detail::transfer_t arrival) {
    const Context& self = arrive(arrival);
    self.function_(self.argument_);
  }

  boost::context::detail::fcontext_t place_ = nullptr;
  Function function_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace kiln::host

#else

#include <ucontext.h>

#include <cstdint>

namespace kiln::host {

class Context {
 public:
  using Function = void (*)(void* argument);

  void make(const Stack& stack, Function function, void* argument) {
    function_ = function;
    argument_ = argument;
    getcontext(&place_);
    place_.uc_stack.ss_sp = stack.bottom();
    place_.uc_stack.ss_size = stack.size();
    place_.uc_link = nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&place_, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }

  static void swap(Context& from, Context& to) { swapcontext(&from.place_, &to.place_); }

 private:
  // makecontext() passes numbers of 32 bits.
  static void enter(unsigned high, unsigned low) {
    const auto& self = *reinterpret_cast<Context*>((std::uintptr_t{high} << 32) | low);
    self.function_(self.argument_);
  }

  ucontext_t place_{};
  Function function_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace kiln::host

#endif
