// Chooses the copies of views that use transpose_<T> or slice_<T> instead of ucopy_<T>. Plain
// C++17, for host programs.
#pragma once

#include "transpose.hpp"

namespace kiln::tuning {

// Measured on an H200, in us, ucopy -> transpose: f32 4096x8192 104 -> 67; 1000x1000 6.6 -> 4.6;
// 384x384 3.9 -> 3.2; 1500x80 3.0 -> 3.2; 128x100 1.9 -> 2.3. A shape that tiles do not suit: f16
// 3x100000 5.1 -> 3.2.
inline constexpr unsigned long long kMinTransposed = 1u << 17;
// Input lines that do not consist of whole accesses are slow if few tiles are in flight, or for
// one-byte elements.
// Measured likewise, ucopy -> transpose: f32 299x1283 (105 tiles) 5.0 -> 7.4; f64 12x197x64 (168
// tiles) 4.0 -> 3.4; 8191x8193 of f32 241 -> 197; of f16 215 -> 116; of u8 110 -> 119.
constexpr bool transposes(unsigned long long count, unsigned element_bytes, bool has_whole_lines,
                          unsigned long long tiles, unsigned multiprocessors) {
  return count >= kMinTransposed &&
         (has_whole_lines || (element_bytes >= 2 && tiles >= multiprocessors));
}

// Measured on an H200, runs of whole 16 bytes, in us, ucopy -> slice: f32 1000x1000 of 1000x2000
// 6.8 -> 4.8; 77x2000 3.3 -> 3.4; heads of 64 in 197x12 3.8 -> 3.3, in 77x12 2.8 -> 3.0, in 8x512x8
// 13.6 -> 7.1; one row repeated, 8192x8192, 115 -> 76. On an H100, 512x512 of 512x1024: f16
// 2.7 -> 3.6; f32 2.9 -> 3.9; f64 3.5 -> 4.6.
inline constexpr unsigned kSliceThreads = 256;
inline constexpr unsigned long long kMinHeads = 150'000;
constexpr bool slices_runs(unsigned long long count, unsigned long long rank,
                           unsigned long long resident) {
  return rank == 2 ? count > resident : count >= kMinHeads;
}
// Other runs are moved one element after another: `moved` elements of `bytes` bytes, which must be
// wider than the copy's own elements.
// Measured likewise, ucopy -> slice: f16 128x4097 7.1 -> 7.6; u8 6.0 -> 11.9. On an H100, elements
// that are no wider than the copy's: f32 128x4097 4.4 -> 5.9, 1000x777 5.8 -> 7.3; f64 5.3 -> 6.3,
// 7.0 -> 8.4.
inline constexpr unsigned long long kMaxSlicedSingly = 1u << 21;
constexpr bool slices_singly(unsigned long long count, unsigned long long moved, unsigned bytes,
                             unsigned long long resident) {
  return bytes >= 4 && count > resident && moved < count && moved <= kMaxSlicedSingly;
}

}  // namespace kiln::tuning
