// How fills are launched. Plain C++17, for host programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// Contiguous elements, `per_chunk` of them to a chunk. Stores alone are as fast element by element: up to
// about what the device holds, bytes excepted up to four times that, and those of eight bytes ever. NVIDIA
// H200, us for 2^14 elements of 1, 2 and 4 bytes: 1.09, 1.06, 1.07, and 1.15, 1.13, 1.13 by
// spread.contiguous(); for 2^20 of 2, 4 and 8 bytes 1.84, 2.30, 3.31 and 1.95, 2.58, 3.48; for 2^22 and
// 2^28 of eight bytes 8.6, 459 and 9.2, 494.
constexpr Launch filled(const Spread& spread, unsigned long long elements, unsigned per_chunk) {
  constexpr unsigned kThreads = 1024, kFew = 4096;
  const unsigned long long most = (per_chunk < 16 ? 4 : 1) * spread.resident();
  const bool singly = elements > kFew && (elements <= most || per_chunk <= 2);
  if (!singly || elementwise(spread.machine.architecture).small_chunks) {
    return spread.contiguous(elements, per_chunk);
  }
  return {static_cast<unsigned>((elements + kThreads - 1) / kThreads), kThreads};
}

}  // namespace kiln::tuning
