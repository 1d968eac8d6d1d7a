// Which copies of views go by transpose_<T> and slice_<T>, and not by ucopy_<T>. Plain C++17, for host
// programs.
#pragma once

#include "transpose.hpp"

namespace kiln::tuning {

// NVIDIA H200, us by ucopy, and by transpose: f32 4096x8192 104, 67; 1000x1000 6.6, 4.6; 384x384 3.9,
// 3.2; 1500x80 3.0, 3.2; 128x100 1.9, 2.3. Of elements that tiles do not suit: f16 3x100000 5.1, 3.2.
inline constexpr unsigned long long kFewestTransposed = 1u << 17;
// Lines of the input that are no whole accesses are slow where few tiles are on their way, or of bytes. By
// ucopy, and by transpose: f32 299x1283 (105 tiles) 5.0, 7.4; f64 12x197x64 (168) 4.0, 3.4; 8191x8193 of f32
// 241, 197; of f16 215, 116; of u8 110, 119.
constexpr bool transposes(unsigned long long count, unsigned element_bytes, bool has_whole_lines,
                          unsigned long long tiles, unsigned multiprocessors) {
  return count >= kFewestTransposed &&
         (has_whole_lines || (element_bytes >= 2 && tiles >= multiprocessors));
}

// By ucopy, and by slice, of runs of 16 bytes: f32 1000x1000 of 1000x2000 6.8, 4.8; 77x2000 3.3, 3.4; heads
// of 64 in 197x12 3.8, 3.3, in 77x12 2.8, 3.0, in 8x512x8 13.6, 7.1; one row repeated, 8192x8192, 115, 76. H100,
// 512x512 of 512x1024, f16, f32 and f64 2.7, 3.6; 2.9, 3.9; 3.5, 4.6.
inline constexpr unsigned kSliceThreads = 256;
inline constexpr unsigned long long kFewestHeads = 150'000;
constexpr bool slices_runs(unsigned long long count, unsigned long long rank,
                           unsigned long long resident) {
  return rank == 2 ? count > resident : count >= kFewestHeads;
}
// Of other runs, one of `moved` elements after the other, of so many bytes, which are wider than the copy's: f16
// 128x4097 7.1, 7.6; u8 6.0, 11.9. H100, of elements that are no wider: f32 128x4097 4.4, 5.9; 1000x777 5.8, 7.3;
// f64 5.3, 6.3; 7.0, 8.4.
inline constexpr unsigned long long kMostSlicedSingly = 1u << 21;
constexpr bool slices_singly(unsigned long long count, unsigned long long moved, unsigned bytes,
                             unsigned long long resident) {
  return bytes >= 4 && count > resident && moved < count && moved <= kMostSlicedSingly;
}

}  // namespace kiln::tuning
