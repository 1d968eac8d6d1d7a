// What a kernel did wrong, thrown by the instruction that did it and caught by the launch.
#pragma once

#include <string>
#include <utility>

#include "emulator/instruction.hpp"

namespace kiln::emulator {

enum class FaultKind : u8 {
  kOutOfBounds,   // a global access outside all buffers
  kUseAfterFree,  // to a buffer that was freed
  kReadOnly,      // a write to constants or arguments
  kLdsOverrun,
  kScratchOverrun,
  kMisaligned,  // an atomic
  kUninitialised,
  kRace,
  kDivergentBarrier,
  kEndless,
  kTrap,
  kUnsupported,  // what the emulator does not model
  kBadCode,      // a jump to where no instruction is
};

// "out-of-bounds access", "race", ...: the words that a report begins with.
const char* to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kTrap;
  std::string what;  // "write of 4 bytes at 0x7f...: 0 bytes past the end of argument 2 ..."
  u64 address = 0;   // of the instruction
  std::array<u32, 3> workgroup{};
  u32 wave = 0;
  int lane = -1;  // -1: none in particular

  Fault(FaultKind fault_kind, std::string text) : kind(fault_kind), what(std::move(text)) {}
};

// The fault with its place filled in, and the same thrown.
Fault fault_at(const Wave& wave, const Instruction& in, FaultKind kind, std::string what,
               int lane = -1);
[[noreturn]] void raise(const Wave& wave, const Instruction& in, FaultKind kind, std::string what,
                        int lane = -1);

}  // namespace kiln::emulator
