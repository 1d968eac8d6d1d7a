// How kernels that compute nothing are launched. Plain C++17, for host programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// A thread a chunk of sixteen bytes, however many there are.
constexpr Launch chunk_each(unsigned long long elements, unsigned per_chunk,
                            unsigned threads = 256) {
  const unsigned long long each = static_cast<unsigned long long>(per_chunk) * threads;
  return {static_cast<unsigned>((elements + each - 1) / each), threads};
}

// Copies, `per_chunk` elements to a chunk. NVIDIA H200, us for copy2d of 2^20 elements of one byte and of
// eight, 2^26 of both: 2.56, 6.26, 34.4, 256; by as many threads as run at once 2.57, 6.48, 36.5, 273.
constexpr Launch copied_by_chunks(const Spread& device, unsigned long long elements,
                                  unsigned per_chunk) {
  const bool all = elementwise(device.machine.architecture).small_chunks;
  if (all || elements <= device.resident()) return device.contiguous(elements, per_chunk);
  return chunk_each(elements, per_chunk);
}

// Threads of a block of the reference's 1024 that fill by chunks; the others leave at once. NVIDIA H200, us
// for 2^28 elements of one, two and four bytes: 259, 263, 294; of four bytes by 64 threads 318, by 256 303;
// an element a thread 335, 304, 305.
constexpr unsigned filling_threads(unsigned bytes) { return bytes == 1 ? 64 : 128; }

// Fills of our own: of a few chunks by smaller blocks. NVIDIA H200, us by 128 and by 256 threads for 2^12,
// 2^18 and 2^22 elements of one byte: 0.82, 0.85; 0.97, 0.93; 2.10, 2.03. Elements of eight bytes are as
// fast one by one.
constexpr Launch filled(unsigned long long elements, unsigned bytes) {
  if (bytes == 8) return chunk_each(elements, 1, 1024);
  constexpr unsigned long long kFew = 1u << 17;  // bytes
  return chunk_each(elements, 16 / bytes, elements * bytes <= kFew ? 128 : 256);
}

}  // namespace kiln::tuning
