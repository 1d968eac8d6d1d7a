// How kernels that compute nothing are launched. Plain C++17, for host programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// A thread for each 16-byte chunk, however many there are.
constexpr Launch chunk_each(unsigned long long elements, unsigned per_chunk,
                            unsigned threads = 256) {
  const unsigned long long each = static_cast<unsigned long long>(per_chunk) * threads;
  return {static_cast<unsigned>((elements + each - 1) / each), threads};
}

// Copies, `per_chunk` elements to a chunk.
// Measured on an H200, copy2d, in us, only resident threads -> a thread per chunk: 2^20 elements of
// one byte 2.57 -> 2.56, of eight bytes 6.48 -> 6.26; 2^26 elements of one byte 36.5 -> 34.4, of
// eight bytes 273 -> 256.
constexpr Launch copied_by_chunks(const Spread& device, unsigned long long elements,
                                  unsigned per_chunk) {
  const bool all = elementwise(device.machine.architecture).small_chunks;
  if (all || elements <= device.resident()) return device.contiguous(elements, per_chunk);
  return chunk_each(elements, per_chunk);
}

// Maximum number of blocks of 1024 threads that work in a copy of rows: as many as take an element
// a thread, if rows are not whole chunks.
// Measured on an H200, copy2d, reference geometry, in us, by rows -> an element a thread: 129x4097,
// f32 4.54 -> 3.82, f64 5.25 -> 4.57. With twice as many blocks, 1023x1023 takes 6.17 -> 6.00, but
// 500000x3 7.86 -> 8.55, since more blocks then find that they have no work.
constexpr unsigned row_copy_blocks(const Machine& machine) {
  return 2 * fitting_blocks(largest_for(machine));
}

// Number of threads that fill by chunks, in a block of the reference's 1024 threads. The others
// exit early.
// Measured on an H200, 2^28 elements, in us: these threads, for one, two and four bytes 259, 263,
// 294; 64 or 256 threads for four bytes 318, 303; an element per thread 335, 304, 305.
constexpr unsigned filling_threads(unsigned bytes) { return bytes == 1 ? 64 : 128; }

// Fills in kiln's own geometry. Small ones use smaller blocks. Elements of eight bytes are as fast
// one by one.
// Measured on an H200, one-byte elements, in us, 128 and 256 threads: 2^12 elements 0.82, 0.85;
// 2^18 0.97, 0.93; 2^22 2.10, 2.03.
constexpr Launch filled(unsigned long long elements, unsigned bytes) {
  if (bytes == 8) return chunk_each(elements, 1, 1024);
  constexpr unsigned long long kFew = 1u << 17;  // bytes
  return chunk_each(elements, 16 / bytes, elements * bytes <= kFew ? 128 : 256);
}

}  // namespace kiln::tuning
