// How kernels that compute nothing are launched. Plain C++17, for host programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// A thread a chunk of sixteen bytes, however many there are.
constexpr Launch chunk_each(unsigned long long elements, unsigned per_chunk) {
  constexpr unsigned kThreads = 256;
  const unsigned long long each = static_cast<unsigned long long>(per_chunk) * kThreads;
  return {static_cast<unsigned>((elements + each - 1) / each), kThreads};
}

// Copies, `per_chunk` elements to a chunk. NVIDIA H200, us for copy2d of 2^20 elements of one byte and of
// eight, 2^26 of both: 2.56, 6.26, 34.4, 256; by as many threads as run at once 2.57, 6.48, 36.5, 273.
constexpr Launch copied_by_chunks(const Spread& device, unsigned long long elements,
                                  unsigned per_chunk) {
  const bool all = elementwise(device.machine.architecture).small_chunks;
  if (all || elements <= device.resident()) return device.contiguous(elements, per_chunk);
  return chunk_each(elements, per_chunk);
}

// Threads of a block, along x, that fill 1024 elements of so many bytes by chunks. Those of the reference
// behind them leave at once.
constexpr unsigned filling_threads(unsigned bytes) { return 1024 * bytes / 16; }

// Fills: small ones by blocks for 1024 elements each; larger ones by 256 threads at least, which is faster
// than more blocks. NVIDIA H200, us for 2^28 elements of one, two and four bytes: 59, 116, 230, in the
// reference's geometry 272, 292, 315, and an element a thread 336, 304, 304.
struct Filling {
  unsigned blocks, x, y;
};
constexpr Filling filled(unsigned long long elements, unsigned bytes) {
  const unsigned x = filling_threads(bytes);
  const unsigned y = elements <= 1u << 18 || x >= 256 ? 1 : 256 / x;
  const unsigned long long blocks = (elements + 1024 * y - 1) / (1024 * y);
  return {static_cast<unsigned>(blocks), bytes == 8 ? 1024 : x, y};
}

}  // namespace kiln::tuning
