// Runs a kernel: spreads its grid of workgroups over several CPU threads.
//
// The waves of a workgroup take turns on one thread. A turn ends when the wave waits at a barrier,
// ends, or has executed its share of instructions. With a seed, the order and the length of turns
// are random, and the same for the same seed. Workgroups start in order.
#pragma once

#include <array>
#include <vector>

#include "emulator/memory_map.hpp"
#include "emulator/program.hpp"
#include "formats/pointer_arguments.hpp"

namespace kiln::emulator {

enum class Checks : u8 {
  kAccesses,    // bounds, alignment, endless loops: costs almost nothing
  kEverything,  // also uninitialised values, races, divergent barriers: takes several times as long
};

struct RunOptions {
  unsigned threads = 1;
  Checks checks = Checks::kAccesses;
  u64 seed = 0;                          // 0: waves run in order
  u64 instruction_limit = u64{1} << 29;  // for a workgroup, summed over its waves
  bool count_classes = false;
};

struct LaunchRequest {
  const Program* program = nullptr;
  const Kernel* kernel = nullptr;
  MemoryMap* memory = nullptr;
  std::array<u32, 3> grid{1, 1, 1};   // workgroups
  std::array<u32, 3> block{1, 1, 1};  // threads in one
  u32 dynamic_lds = 0;
  const void* const* arguments = nullptr;  // explicit arguments, in the order of their offsets
};

// Statistics of a launch.
struct Counts {
  u64 instructions = 0;  // executed by waves
  std::array<u64, kInstructionClasses> by_class{};
  u64 lanes = 0;  // lanes of vector instructions
  u64 active_lanes = 0;
  unsigned threads = 1;  // CPU threads that took part
  double seconds = 0;

  void add(const Counts& other);
};

// The data that all workgroups of a launch share.
struct LaunchPlan {
  const Program* program = nullptr;
  const DeviceModel* device = nullptr;
  const Kernel* kernel = nullptr;
  MemoryMap* memory = nullptr;
  std::array<u32, 3> grid{};
  std::array<u32, 3> block{};
  u32 threads = 0;  // in a workgroup
  u32 lds_bytes = 0;
  u32 scratch_bytes = 0;     // per lane
  u32 vector_registers = 0;  // registers that a wave has room for
  std::vector<u32> user_registers;
  std::vector<AddressRange> own_ranges;  // arguments, dispatch packet, segments of the code object
  PointerArguments pointers;
  RunOptions options;
};

// The last dword of the descriptor of scratch memory. Buffer instructions recognise scratch by it.
inline constexpr u32 kScratchDescriptorTag = 0x5c4a7c47;

// Runs the kernel to its end. Errors: kInvalidInput (no device accepts such a launch), kUnavailable
// (the emulator lacks something that the kernel uses), kDriver (a fault of the kernel, as a
// report).
Result<Counts> launch(const LaunchRequest& request, const RunOptions& options);

}  // namespace kiln::emulator
