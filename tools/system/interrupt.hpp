// Ctrl-C and other requests to stop: a flag that a signal raises and that waiting code can poll.
//
// The flag is raised once and stays raised: every thread that polls wake_fd() wakes, now or later.
// Thread-safe; raise() may also be called from a signal handler.
#pragma once

#include <atomic>

namespace kiln::tools {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void raise(int signal) noexcept;  // the first signal is kept, all are counted
  int signal() const noexcept { return signal_.load(std::memory_order_acquire); }  // 0: none
  explicit operator bool() const noexcept { return signal() != 0; }
  // True if raised again: an orderly stop should now become immediate.
  bool is_urgent() const noexcept { return count_.load(std::memory_order_relaxed) > 1; }
  int count() const noexcept { return count_.load(std::memory_order_relaxed); }
  // Becomes readable with raise(). Poll it, but never read from it.
  int wake_fd() const noexcept { return read_end_; }

 private:
  std::atomic<int> signal_{0};
  std::atomic<int> count_{0};
  int read_end_ = -1;
  int write_end_ = -1;
};

// While it lives, SIGINT, SIGTERM and SIGHUP raise `interrupt` instead of ending the program. A
// third SIGINT ends it at once. Signals that were ignored at the program's start stay ignored
// (nohup: SIGHUP). Only one may exist at a time.
class SignalScope {
 public:
  explicit SignalScope(Interrupt& interrupt);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
};

}  // namespace kiln::tools
