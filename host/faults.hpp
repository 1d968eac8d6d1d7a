// Turns a fault of a device thread into an error of the launch: an access to an address without
// memory, a stack overflow, an integer division by zero.
//
// Handlers for SIGSEGV, SIGBUS and SIGFPE are installed for the process at the first launch. A
// fault of other code goes to the handler that was installed before, or ends the process as usual.
// Sanitizer builds, whose own reports say more, and processors that are not supported here install
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::host {

// An address below this limit counts as a null pointer plus an index.
inline constexpr std::uintptr_t kNearNull = 64 * 1024;

// The hint for an access outside of buffers, whose report here has no thread and no line.
inline constexpr const char* kMoreDetailHint =
    "the device emulated:gfx1100 tells the thread, a host image with the address sanitizer the "
    "line";

struct Fault {
  // kNoAddress: an address that no memory can have (0xdead000000000000), or a misaligned one.
  // x86-64 does not report such an address.
  enum class Kind { kNoMemory, kNoAddress, kStackUsedUp, kDivision };
  Kind kind = Kind::kNoMemory;
  const void* address = nullptr;  // for kNoMemory and kStackUsedUp
};

// An object that runs device threads on an OS thread.
class ThreadRunner {
 public:
  // Returns the stack that a device thread runs on now, which has an inaccessible page below it.
  // Empty if no device thread runs. Called by a signal handler.
  virtual std::span<std::byte> running_stack() const = 0;
  // Abandons the thread. Called at the top of that stack, after the signal handler has returned;
  // the content of the stack is lost. Does not return.
  virtual void abandon_thread(const Fault& fault) = 0;

 protected:
  ~ThreadRunner() = default;
};

// Called before each launch, because the program or its test framework may have replaced the
// handlers.
void install_fault_handlers();

// During its lifetime, faults of the device threads that `runner` runs on this OS thread go to
// `runner`. At most one exists on an OS thread at a time.
class FaultScope {
 public:
  explicit FaultScope(ThreadRunner& runner);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
};

}  // namespace kiln::host
