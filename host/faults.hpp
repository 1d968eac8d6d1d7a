// Makes an error of a launch out of a fault of its threads: an access where there is no memory, a
// stack that is used up, a division of whole numbers by zero.
//
// Handlers for SIGSEGV, SIGBUS and SIGFPE stand from the first launch on, for the process. A fault of other
// code goes on to the handler that stood before, or ends the process as ever. Sanitizer builds, whose reports
// say more, and processors that are not known here install nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::host {

// What lies below is taken for a null pointer with an index.
inline constexpr std::uintptr_t kNearNull = 64 * 1024;

// The hint of an access outside of buffers: it is told here without thread and line.
inline constexpr const char* kWhoTellsMore =
    "the device emulated:gfx1100 tells the thread, a host image with the address sanitizer the line";

struct Fault {
  // kNoAddress: x86-64 does not tell one that no memory can have (0xdead000000000000), or that is not aligned.
  enum class Kind { kNoMemory, kNoAddress, kStackUsedUp, kDivision };
  Kind kind = Kind::kNoMemory;
  const void* address = nullptr;  // of kNoMemory and kStackUsedUp
};

// Who runs device threads on an OS thread.
class RunsThreads {
 public:
  // The stack that a device thread runs on now, which ends with a page below it that nobody may
  // touch; empty while none runs. Called by a signal handler.
  virtual std::span<std::byte> running_stack() const = 0;
  // Gives the thread up. Called from the top of that stack, out of the signal: what was on the
  // stack is lost. Does not return.
  virtual void give_up_thread(const Fault& fault) = 0;

 protected:
  ~RunsThreads() = default;
};

// Before each launch: the program, or its test framework, may have put others in their place since.
void install_fault_handlers();

// While it lives, faults of the device threads that `runner` runs on this OS thread go to it. One
// at a time on an OS thread.
class WatchForFaults {
 public:
  explicit WatchForFaults(RunsThreads& runner);
  ~WatchForFaults();
  WatchForFaults(const WatchForFaults&) = delete;
  WatchForFaults& operator=(const WatchForFaults&) = delete;
};

}  // namespace kiln::host
