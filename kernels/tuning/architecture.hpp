// The architectures that kernels are tuned for. Plain C++17, for device code and host programs.
//
// Every kernel is correct for every grid, block and architecture. Choices made here affect speed
// only.
#pragma once

namespace kiln::tuning {

enum class Architecture {
  kSm75,
  kSm80,
  kSm86,
  kSm89,
  kSm90,
  kSm100,
  kSm120,
  kCdna2,
  kCdna3,
  kRdna2,
  kRdna3,
  kRdna4,
  kHost
};

struct Machine {
  Architecture architecture;
  const char* target;        // the common beginning of its targets' names
  unsigned multiprocessors;  // of its largest GPU; a launch helper asks the device instead
  unsigned threads;          // resident threads of a multiprocessor
};

// Sources: NVIDIA's table of compute capabilities (CUDA C++ Programming Guide) and white papers;
// AMD's hardware specifications (ROCm documentation). For RDNA, a multiprocessor is a work-group
// processor.
inline constexpr Machine kMachines[] = {
    {Architecture::kSm75, "sm_75", 72, 1024},    {Architecture::kSm80, "sm_80", 108, 2048},
    {Architecture::kSm86, "sm_86", 84, 1536},    {Architecture::kSm89, "sm_89", 142, 1536},
    {Architecture::kSm90, "sm_90", 132, 2048},   {Architecture::kSm100, "sm_100", 148, 2048},
    {Architecture::kSm120, "sm_120", 170, 1536}, {Architecture::kCdna2, "gfx90a", 104, 2048},
    {Architecture::kCdna3, "gfx94", 304, 2048},  {Architecture::kRdna2, "gfx103", 40, 2048},
    {Architecture::kRdna3, "gfx11", 48, 2048},   {Architecture::kRdna4, "gfx12", 32, 2048},
    {Architecture::kHost, "host", 8, 1024},
};

// True if a GPU converts numbers of f8 itself.
constexpr bool converts_f8(Architecture architecture) {
  return architecture == Architecture::kSm89 || architecture == Architecture::kSm90 ||
         architecture == Architecture::kSm100 || architecture == Architecture::kSm120;
}

constexpr const Machine& machine(Architecture architecture) {
  return kMachines[static_cast<int>(architecture)];
}
// The largest machine that runs kernels compiled for `machine`. Those for sm_80 are also shipped as
// PTX, which all newer GPUs run.
constexpr const Machine& largest_for(const Machine& compiled) {
  return compiled.architecture == Architecture::kSm80 ? machine(Architecture::kSm100) : compiled;
}
// Number of blocks of 1024 threads that a machine holds at once.
constexpr unsigned fitting_blocks(const Machine& machine) {
  return machine.multiprocessors * (machine.threads / 1024);
}

}  // namespace kiln::tuning
