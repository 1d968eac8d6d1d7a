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

// Products of our own names: threads of a block, which makes kRowsAtOnce rows; the fewer blocks
// there are, the more threads.
//
// Measured on an H200, Q4_0, microseconds by threads of a block:
//                                   32     64    128    256
//   14336 x 4096                  14.1   15.3   18.5   31.8
//   4096 x 14336                  16.4   13.0   14.3   17.4
//   1024 x 4096                    5.2    4.7    4.7    4.7
//   1024 x 4096, floats            8.7    5.9    4.9    4.9
constexpr unsigned fused_threads(unsigned rows, unsigned columns) {
  if (columns < 2048 || rows >= 8192) return 32;
  return rows < 2048 ? 128 : 64;
}
// Whether one vector is taken as floats instead of in Q8_1, which another launch makes.
//
// Measured likewise, f16 activations, with and without the step to Q8_1. No launch took less than
// 4:
//                   Q4_0         Q8_0         Q4_K         Q6_K
//   1024 x 4096     7.6   4.9    7.7   6.1    8.1   5.6    9.9   5.6
//   4096 x 4096     9.9  10.3   11.3  11.7   10.0  13.0   13.2  12.4
//   14336 x 4096   16.9  24.9   22.8  29.7   19.6  33.5   31.1  36.4
constexpr bool prefers_floats(unsigned long long rows, unsigned long long columns) {
  return rows * columns <= 1u << 23;
}
// From so many tasks an expert on, tasks are sorted by their experts.
//
// Measured on an H200, Q4_K, 2048 x 4096 an expert, microseconds of all launches:
//   tasks                 32     64    256    512    2048    8192
//   8 experts, each       56    106    404    802    3184   12705
//     sorted              82     82     88    156     373    1174
//   64 experts, each      65    121    458    903    3577   14286
//     sorted             299    425    590    590     602    1431
inline constexpr unsigned kSortedTasksOfExpert = 5;

// Rows of a tile of a product with many vectors: 64 or, where the device would not be full, 32.
// H200, 4096x4096 by 64, 128, 256, 512 vectors, Q4_0, microseconds:
//   64 rows   51   53   71  110
//   32 rows   43   53   77  147
inline constexpr unsigned kTileVectors = 64;
constexpr unsigned tile_rows(unsigned rows, unsigned vectors, unsigned multiprocessors) {
  const unsigned tiles = (rows + 63) / 64 * ((vectors + kTileVectors - 1) / kTileVectors);
  return tiles <= multiprocessors ? 32 : 64;
}

}  // namespace kiln::tuning
