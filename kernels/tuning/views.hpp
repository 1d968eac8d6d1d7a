// How strided views are walked. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// A line is kLine neighbours in the innermost dim, one for each of as many threads. A thread takes
// the same element of kLines lines.
inline constexpr unsigned kLogLine = 5, kLine = 1 << kLogLine;
inline constexpr unsigned kLogLines = 2, kLines = 1 << kLogLines;
// Maximum number of neighbours in another dim that a thread takes together.
inline constexpr unsigned kNeighbours = 8;

// Kernels that move rows by chunks may fill a chunk with one element that is repeated along a row.
// Operations of two operands lack the registers for results of four bytes, and so do comparisons.
// Measured on an H200, own geometry, bmul_bf16 of 32768x8192 by columns of one element, in us,
// element by element -> by chunks: 886 -> 402.
constexpr bool binary_repeats(unsigned out_bytes, unsigned in_bytes) {
  return out_bytes == in_bytes && out_bytes != 4;
}
// For `where`, chunks of two elements would gain little.
constexpr bool where_repeats(unsigned per_chunk) { return per_chunk > 2; }

}  // namespace kiln::tuning
