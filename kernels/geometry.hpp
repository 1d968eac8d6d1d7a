// Launch geometry: the choices that host code and kernels must agree on, and the numbers that were
// measured for them. Plain C++17, no device code.
//
// Every kernel is correct for every grid and block; what is chosen here is only fast.
//
// Evidence, NVIDIA H200, contiguous f32 of 2^27 elements, read and written (a copy takes 260 us):
//   exact grid, one 16-byte item a thread, blocks of 128 to 256     256 us
//   1 to 8 blocks of 512 a multiprocessor that stride               271 to 278 us
//   one element a thread in blocks of 1024, as the reference        475 us
//   the same launch, the first 66 (132) blocks do all the work      296 (289) us
//   the same launch, nothing done                                   131 us
// A launch of 1024-thread blocks costs about 1 ns a block, so in a launch with many more threads than
// items the first blocks do the work while the rest, which leave at once, are still being started.
#pragma once

#include <cstdint>

namespace kiln::geometry {

struct Launch {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
};

// The largest block that a kernel accepts (the reference launches 1024).
inline constexpr unsigned kMaxThreads = 1024;

// Threads of one block in our own launches.
inline constexpr unsigned kThreads = 256;

// Bytes that a thread moves in one access.
inline constexpr unsigned kItemBytes = 16;

// Threads that work when a launch has many more threads than items.
inline constexpr unsigned kWorkingThreads = 96 * 1024;

// Blocks of kThreads in a launch over a strided view: each prepares the view once and then strides, so
// there are as many as stay resident on a large GPU (8 on each of 132 multiprocessors), not more.
inline constexpr unsigned kStridedBlocks = 8 * 132;

// A grid never has more blocks than this; kernels stride over the rest.
inline constexpr std::uint64_t kMaxBlocks = 1u << 23;

constexpr Launch over(std::uint64_t items, std::uint64_t max_blocks) {
  const std::uint64_t blocks = items / kThreads + (items % kThreads != 0 ? 1 : 0);
  const std::uint64_t bounded = blocks > max_blocks ? max_blocks : blocks;
  return {static_cast<std::uint32_t>(bounded == 0 ? 1 : bounded), kThreads};
}

constexpr std::uint64_t items_of(std::uint64_t elements, std::uint32_t element_bytes) {
  const std::uint64_t per_item = kItemBytes / element_bytes;
  return elements / per_item + 1;  // one more: unaligned arrays have a short item at each end
}

// map and fill over contiguous data: one item a thread.
constexpr Launch contiguous(std::uint64_t elements, std::uint32_t element_bytes) {
  return over(items_of(elements, element_bytes), kMaxBlocks);
}

// map and fill over a strided view.
constexpr Launch strided(std::uint64_t elements, std::uint32_t element_bytes) {
  return over(items_of(elements, element_bytes), kStridedBlocks);
}

// copy2d: one item a thread.
constexpr Launch rows(std::uint64_t rows, std::uint64_t columns, std::uint32_t element_bytes) {
  const std::uint64_t per_item = kItemBytes / element_bytes;
  const std::uint64_t per_row = columns / per_item + (columns % per_item != 0 ? 1 : 0);
  return over(rows * per_row, kMaxBlocks);
}

}  // namespace kiln::geometry
