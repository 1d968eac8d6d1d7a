// A fault of a kernel. The faulty instruction throws it, and the launch catches it.
#pragma once

#include <string>
#include <utility>

#include "emulator/instruction.hpp"

namespace kiln::emulator {

enum class FaultKind : u8 {
  kOutOfBounds,   // a global access outside all buffers
  kUseAfterFree,  // an access to a freed buffer
  kReadOnly,      // a write to constants or arguments
  kLdsOverrun,
  kScratchOverrun,
  kMisaligned,  // an atomic
  kUninitialised,
  kRace,
  kDivergentBarrier,
  kEndless,
  kTrap,
  kUnsupported,  // not modelled by the emulator
  kBadCode,      // a jump to an address without an instruction
};

// Returns the words that a report begins with: "out-of-bounds access", "race", ...
const char* to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kTrap;
  std::string message;  // "write of 4 bytes at 0x7f...: 0 bytes past the end of argument 2 ..."
  u64 address = 0;   // of the instruction
  std::array<u32, 3> workgroup{};
  u32 wave = 0;
  int lane = -1;  // -1: no particular lane

  Fault(FaultKind fault_kind, std::string text) : kind(fault_kind), message(std::move(text)) {}
};

// fault_at() returns a fault with its place filled in; raise() throws it.
Fault fault_at(const Wave& wave, const Instruction& in, FaultKind kind, std::string message,
               int lane = -1);
[[noreturn]] void raise(const Wave& wave, const Instruction& in, FaultKind kind,
                        std::string message, int lane = -1);

}  // namespace kiln::emulator
