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

// Stores alone are as fast element by element until the device is full, and of eight bytes ever. NVIDIA
// H200, us for 2^20, 2^28 elements, singly and by chunks: one byte 2.46, 316 and 1.57, 59; two bytes
// 2.66, 344 and 1.85, 116; four bytes 2.68, 344 and 2.32, 230.
constexpr Launch filled(const Spread& device, unsigned long long elements, unsigned per_chunk) {
  constexpr unsigned kFew = 4096, kThreads = 1024;
  if (elements <= kFew || elementwise(device.machine.architecture).small_chunks) {
    return device.contiguous(elements, per_chunk);
  }
  if (elements > device.resident() && per_chunk > 2) return chunk_each(elements, per_chunk);
  return {static_cast<unsigned>((elements + kThreads - 1) / kThreads), kThreads};
}

}  // namespace kiln::tuning
