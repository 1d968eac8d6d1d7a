// How products with quantized rows are spread over a launch. Plain C++17, for device code and host
// programs.
//
// Measured on an H200, Q4_0 weights and one vector, microseconds; a bare read of the weights
// takes 9.6, the reference's kernel 14.4:
//   threads of a block       32     64    128
//   14336 x 4096 weights   10.96  10.86  11.76
//   4096 x 14336           14.79  11.30  12.17
// Four rows at once instead of one: 27 to 13 (128 threads). Other architectures: the same.
#pragma once

namespace kiln::tuning {

// A block of threads takes so many rows at once, of matrices that have kManyRows or more; else one.
inline constexpr unsigned kRowsAtOnce = 4, kManyRows = 2048;

constexpr unsigned vector_blocks(unsigned rows) {
  return rows >= kManyRows ? (rows + kRowsAtOnce - 1) / kRowsAtOnce : rows;
}
// Threads of a block: two waves for long rows, unless there are vectors and blocks enough to fill
// the device with one each.
constexpr unsigned vector_threads(unsigned rows, unsigned columns, unsigned vectors) {
  return columns >= 2048 && (vectors == 1 || rows < 8192) ? 64 : 32;
}

}  // namespace kiln::tuning
