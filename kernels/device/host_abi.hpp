// The contract between a host image and the engine that runs it (host/).
//
// A host image is a shared object, compiled from the same .cu files as every other image. For each
// kernel it has a record that can be read without running the image (section .kiln.kernels), and a
// function `kiln_host_run_<kernel>` that runs threads of one block. It depends only on libc, libm
// and libgcc_s. Everything that threads do together (barriers, shuffles, shared memory) goes
// through a table of functions that the engine passes with the block.
//
// This is the only file of kernels/device/ that host programs include. It is C++17 and plain data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::host {

// Increases when a struct below changes. The engine refuses images of another version.
inline constexpr std::uint32_t kAbiVersion = 4;

inline constexpr std::uint32_t kMaxBlockThreads = 1024;
inline constexpr std::uint32_t kMaxParameters = 24;

struct Index3 {
  std::uint32_t x, y, z;
};

// The source location at which a thread waits. Shown in messages, and compared to find divergence.
struct Site {
  const char* file;
  std::uint32_t line;
};

struct Block;

// Functions of the engine that threads call. Each is called on the thread's own stack, and may
// switch to another thread of the block before it returns.
struct Services {
  // Waits until every thread of the block has arrived, and orders their memory accesses.
  void (*block_barrier)(Block*, Site);
  // Waits until every lane of the thread's group of `width` lanes has arrived, and orders their
  // memory accesses. `width` is a power of two, at most the wave width.
  void (*wave_barrier)(Block*, std::uint32_t width, Site);
  // Returns the word that lane `source` of the group of `width` lanes passes.
  std::uint32_t (*shuffle)(Block*, std::uint32_t value, std::uint32_t source, std::uint32_t width,
                           Site);
  // Returns the predicates of the group of `width` lanes; bit i is that of lane i.
  std::uint64_t (*ballot)(Block*, bool predicate, std::uint32_t width, Site);
  // Returns shared memory of the block, at the same address for every thread that passes the same
  // tag. Its bytes are filled with a pattern (0xA5), not with zeros.
  void* (*shared)(Block*, const void* tag, std::size_t bytes, std::size_t alignment);
  // Ends the launch with an error that names kernel, block and thread. Does not return.
  void (*fail)(Block*, const char* message, Site);
};

// The running block, as its threads see it.
struct Block {
  const Services* services;
  const void* const* arguments;  // one pointer per parameter
  void* dynamic_shared;
  Index3 grid_dim, block_dim, block_index;
  std::uint32_t thread;        // linear index of the running thread
  std::uint32_t thread_index;  // its index along x
  std::uint32_t next_thread;   // the first thread that has not started
  std::uint32_t thread_limit;  // `run` starts threads below this one
  std::uint32_t wave_width;    // 32 or 64
  bool is_linear;              // block_dim.y and .z are 1
};

// Runs threads `next_thread` to `thread_limit`, one after the other, on the calling stack. When a
// thread waits, the engine continues with the next one on another stack, by calling this function
// again.
using RunFunction = void (*)(Block*);

// Returns the OS thread's pointer to its thread-local storage.
inline void* thread_pointer() {
#if defined(__x86_64__)
  void* pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));  // older clangs lack __builtin_thread_pointer()
  return pointer;
#else
  return __builtin_thread_pointer();
#endif
}

// Describes one kernel, as plain data. Section .kiln.kernels is an array of these records. They
// contain no pointers, so reading them needs no relocation. Compilers align each record to 32 bytes
// or so; its size is a multiple of that, so that the section has no gaps.
struct KernelRecord {
  std::uint16_t record_size;  // sizeof(KernelRecord)
  std::uint16_t max_threads;  // threads of a block: the kernel's launch bound
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
