#include "host/faults.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>

namespace kiln::host {

#if !defined(KILN_HOST_SANITIZED) && (defined(__x86_64__) || defined(__aarch64__))
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};

thread_local ThreadRunner* current_runner = nullptr;
thread_local Fault caught_fault;
// A fault while one is reported is not the kernel's. After the report, no device thread of the scope
// runs on.
thread_local bool is_reporting = false;

[[noreturn]] void abandon_thread() {
  is_reporting = true;
  current_runner->abandon_thread(caught_fault);
  std::abort();  // not reached
}

// Makes the thread continue with abandon_thread(), as if it had been called at the top of the
// stack.
void continue_from_top(std::span<std::byte> stack, ucontext_t& context) {
  const auto function = reinterpret_cast<std::uintptr_t>(&abandon_thread);
  const auto top = reinterpret_cast<std::uintptr_t>(stack.data() + stack.size()) / 16 * 16;
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(function);
  // A call pushes the return address of eight bytes.
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 8);
#else
  context.uc_mcontext.pc = function;
  context.uc_mcontext.sp = top;
#endif
}

Fault fault_of(int signal, const siginfo_t& info, std::span<std::byte> stack) {
  if (signal == SIGFPE) return {Fault::Kind::kDivision, nullptr};
  if (info.si_code == SI_KERNEL) return {Fault::Kind::kNoAddress, nullptr};
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const auto bottom = reinterpret_cast<std::uintptr_t>(stack.data());
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const bool is_below = address < bottom && bottom - address <= page;
  return {is_below ? Fault::Kind::kStackUsedUp : Fault::Kind::kNoMemory, info.si_addr};
}

void on_signal(int signal, siginfo_t* info, void* context);

// The handlers, and those that were installed before.
class Handlers {
 public:
  void install() {
    const std::lock_guard lock(mutex_);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction current {};
      sigaction(kSignals[i], nullptr, &current);
      if (current.sa_sigaction == on_signal) continue;
      previous_[i] = current;
      sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~Handlers() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction current {};
      sigaction(kSignals[i], nullptr, &current);
      if (current.sa_sigaction == on_signal) sigaction(kSignals[i], &previous_[i], nullptr);
    }
  }

  void pass_on(int signal, siginfo_t* info, void* context) const {
    // If the earlier handler raises the signal again, to pass it on to its own predecessor, the
    // signal may arrive here again.
    thread_local bool is_passed_on = false;
    for (std::size_t i = 0; i < std::size(kSignals) && !is_passed_on; ++i) {
      if (kSignals[i] != signal) continue;
      const struct sigaction& previous = previous_[i];
      const bool is_simple = (previous.sa_flags & SA_SIGINFO) == 0;
      if (is_simple && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) break;
      is_passed_on = true;
      is_simple ? previous.sa_handler(signal) : previous.sa_sigaction(signal, info, context);
      is_passed_on = false;
      return;
    }
    // The instruction faults again and ends the process.
    std::signal(signal, SIG_DFL);
  }

 private:
  std::mutex mutex_;
  struct sigaction previous_[std::size(kSignals)]{};
};

Handlers& handlers() {
  static Handlers installed;
  return installed;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  // Ignores signals that another process sent.
  if (current_runner != nullptr && !is_reporting && info->si_code > 0) {
    if (const std::span<std::byte> stack = current_runner->running_stack(); !stack.empty()) {
      caught_fault = fault_of(signal, *info, stack);
      return continue_from_top(stack, *static_cast<ucontext_t*>(context));
    }
  }
  handlers().pass_on(signal, info, context);
}

// An alternate stack for the handlers, because the stack of a device thread may have overflowed.
// Does nothing if this OS thread already has one.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t current{};
    if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<std::byte[]>(kBytes);
    stack_t alternate{};
    alternate.ss_sp = memory_.get();
    alternate.ss_size = kBytes;
    sigaltstack(&alternate, nullptr);
  }
  ~HandlerStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

 private:
  static constexpr std::size_t kBytes = 64 * 1024;  // AVX-512 and AMX states are saved on it
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void install_fault_handlers() { handlers().install(); }

FaultScope::FaultScope(ThreadRunner& runner) {
  static thread_local const HandlerStack handler_stack;
  static_cast<void>(handler_stack);
  current_runner = &runner;
  is_reporting = false;
}
FaultScope::~FaultScope() { current_runner = nullptr; }

#else
void install_fault_handlers() {}
FaultScope::FaultScope(ThreadRunner&) {}
FaultScope::~FaultScope() = default;
#endif

}  // namespace kiln::host
