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

// Runs of whole 16 bytes, `chunks` of them in all. Measured on an H200, in us, ucopy -> slice:
// operands in the cache, f32 1024x1024 of 1024x2048 3.2 -> 3.6, f16 2048x1024 3.2 -> 3.7, heads of
// 64 f64 8x64x32 5.8 -> 6.2; in memory, u8 4096x2048 7.8 -> 7.2, f16 4096x2048 14.0 -> 12.0.
inline constexpr unsigned kSliceThreads = 256;
constexpr bool slices(unsigned long long chunks, unsigned long long resident) {
  return chunks > 3 * resident / 2;
}

}  // namespace kiln::tuning
