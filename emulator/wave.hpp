// The state of a running wave and of its workgroup.
#pragma once

#include <span>
#include <vector>

#include "emulator/instruction.hpp"

namespace kiln::emulator {

class AccessObserver;
class MemoryMap;
class Program;
struct LaunchPlan;

// A range of addresses that accesses may touch.
struct AddressRange {
  u64 begin = 1;
  u64 end = 0;
  bool writable = false;

  bool holds(u64 address, u64 bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

struct Workgroup {
  const LaunchPlan* plan = nullptr;
  std::array<u32, 3> id{};
};

struct Wave {
  u32* vector = nullptr;  // register r of lane l is vector[r * width + l]
  std::array<u32, kScalarRegisters> scalar{};
  u32 scc = 0;
  u32 pc = 0;          // index of the next instruction
  u64 write_mask = 0;  // lanes that the running vector instruction writes
  u32 mode = 0;        // the MODE register
  u32 index_mode = 0;  // gfx9: the operands that M0 indexes
  bool ended = false;
  bool at_barrier = false;
  u32 id = 0;  // number in its workgroup
  u64 instructions = 0;

  const Workgroup* workgroup = nullptr;
  const Program* program = nullptr;
  std::span<u8> lds;
  std::span<u8> scratch;               // interleaved by lane, dword by dword
  std::array<AddressRange, 8> ranges;  // touched by recent instructions
  AccessObserver* observer = nullptr;  // only in checked launches
};

template <int W>
inline constexpr u64 kAllLanes = W == 64 ? ~0ull : 0xffffffffull;

template <int W>
u64 read_exec(const Wave& wave) {
  return W == 32 ? wave.scalar[kExec] : combine(wave.scalar[kExec], wave.scalar[kExec + 1]);
}
template <int W>
void write_exec(Wave& wave, u64 mask) {
  wave.scalar[kExec] = low_half(mask);
  if (W == 64) wave.scalar[kExec + 1] = high_half(mask);
}
template <int W>
u64 read_vcc(const Wave& wave) {
  return W == 32 ? wave.scalar[kVcc] : combine(wave.scalar[kVcc], wave.scalar[kVcc + 1]);
}
template <int W>
bool has_lane(u64 mask, int lane) {
  return (mask >> lane & 1) != 0;
}

}  // namespace kiln::emulator
