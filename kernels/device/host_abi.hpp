// The contract between a host image and the engine that runs it (host/).
//
// A host image is a shared object compiled from the same .cu files as every other image. It holds,
// for each kernel, a record that can be read without running it (section .kiln.kernels), and a
// function `kiln_host_run_<kernel>` that runs threads of one block. The image needs nothing beyond
// libc, libm and libgcc_s: whatever a thread asks of the others (a barrier, a shuffle, shared
// memory) it asks through the table of functions that the engine hands over with the block.
//
// This header is the one file of kernels/ that host programs include; it is C++17 and plain data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::host {

// Grows when a struct below changes; the engine refuses images of another version.
inline constexpr std::uint32_t kAbiVersion = 4;

inline constexpr std::uint32_t kMaxBlockThreads = 1024;
inline constexpr std::uint32_t kMaxParameters = 24;

struct Index3 {
  std::uint32_t x, y, z;
};

// Where in the source a thread waits: kept for messages, compared to find divergence.
struct Site {
  const char* file;
  std::uint32_t line;
};

struct Block;

// What the engine does for a thread. All are called on the thread's own stack and may switch to
// another thread of the block before they return.
struct Services {
  // Waits until every thread of the block has come here; orders their memory accesses.
  void (*block_barrier)(Block*, Site);
  // Waits until every lane of the thread's group of `width` lanes has come here, and orders their
  // memory accesses. `width` is a power of two, at most the wave width.
  void (*wave_barrier)(Block*, std::uint32_t width, Site);
  // The word that lane `source`, counted within the group of `width` lanes, passes.
  std::uint32_t (*shuffle)(Block*, std::uint32_t value, std::uint32_t source, std::uint32_t width,
                           Site);
  // Bit i is lane i's predicate, counted within the group of `width` lanes.
  std::uint64_t (*ballot)(Block*, bool predicate, std::uint32_t width, Site);
  // Shared memory of the block: the same address for every thread that passes the same tag. Its
  // bytes are filled with a pattern (0xA5), not zero.
  void* (*shared)(Block*, const void* tag, std::size_t bytes, std::size_t alignment);
  // Ends the launch with an error that names kernel, block and thread. Does not return.
  void (*fail)(Block*, const char* message, Site);
};

// The block that runs, as its threads see it.
struct Block {
  const Services* services;
  const void* const* arguments;  // one pointer per parameter
  void* dynamic_shared;
  Index3 grid_dim, block_dim, block_index;
  std::uint32_t thread;        // that runs, by its linear number
  std::uint32_t thread_index;  // of the same, along x
  std::uint32_t next_thread;   // the first thread that has not started
  std::uint32_t thread_limit;  // `run` starts threads below this one
  std::uint32_t wave_width;    // 32 or 64
  bool is_linear;              // block_dim.y and .z are 1
};

// Runs threads `next_thread` to `thread_limit`, one after the other, on the calling stack. When one
// waits, the engine goes on with the next on another stack, by calling this function again.
using RunFunction = void (*)(Block*);

// This OS thread's pointer to its thread-local storage.
inline void* thread_pointer() {
#if defined(__x86_64__)
  void* pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));  // clang learnt __builtin_thread_pointer() late
  return pointer;
#else
  return __builtin_thread_pointer();
#endif
}

// One kernel, as data: an array of these fills section .kiln.kernels, no pointers, so that a reader
// needs no relocation. Compilers align each to 32 bytes or so: its size is a multiple of that, or the
// section would have gaps.
struct KernelRecord {
  std::uint16_t record_size;  // sizeof(KernelRecord)
  std::uint16_t max_threads;  // of a block: the kernel's launch bound
  std::uint16_t abi_version;
  std::uint16_t parameter_count;
  struct {
    std::uint16_t offset, size;
    std::uint16_t is_pointer;
  } parameters[kMaxParameters];
  char name[104];  // NUL-terminated
};
static_assert(sizeof(KernelRecord) == 256);

// One per image, in section .kiln.image.
struct ImageRecord {
  char magic[8];  // "KILNHOST"
  std::uint32_t record_size;
  std::uint16_t abi_version;
  std::uint16_t wave_width;
  char cpu[32];        // "x86-64-v3", "armv8-a"
  char sanitizer[16];  // "", "address", "thread"
};

}  // namespace kiln::host
