// How products with many f16 vectors are spread over a launch (families/half_products.cuh), and the
// memory layout of the vectors. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Number of columns of one step of a product.
inline constexpr unsigned kHalfSpan = 256;

// ---- vectors ----------------------------------------------------------------------------------
//
// Vectors lie in chunks of 64 columns of 128 vectors, 16 KB, in the layout that matrix units read,
// so that copying a chunk copies plain bytes. The chunks of 128 vectors follow one another, up to a
// whole step. Values after the last column are zero. Vectors after the last are unspecified. Within
// a chunk
//
//   a vector has 128 bytes: eight pieces of 16, of which piece p lies at place p ^ vector % 8
//   two pieces have 16 columns: the pairs of columns 0, 2, 4 and 6, and those of 1, 3, 5 and 7
//
// so that four neighbouring columns are one pair in each of two pieces (device/half_layout.cuh).
//
// In a mixture of experts, the vectors of expert e's tasks begin at vector (b / 64 + e) * 64, where
// b is the number of tasks of lower-numbered experts. Vectors in the gaps are unspecified. The same
// formula gives the first vector of a tile of an expert's tasks, if b counts all tasks before the
// tile. With warp groups, any multiple of 8 would do.
inline constexpr unsigned kHalfTileVectors = 128, kHalfChunkColumns = 64, kHalfTaskAlignment = 64;

constexpr unsigned long long half_columns(unsigned long long columns) {
  return (columns + kHalfSpan - 1) / kHalfSpan * kHalfSpan;
}
// Number of values of all vectors, including the padding after the last.
constexpr unsigned long long half_values(unsigned long long vectors, unsigned long long columns) {
  const unsigned long long tiles = (vectors + kHalfTileVectors - 1) / kHalfTileVectors;
  return tiles * kHalfTileVectors * half_columns(columns);
}
// Number of vectors that the tasks of `experts` experts take.
constexpr unsigned long long half_task_vectors(unsigned long long tasks,
                                               unsigned long long experts) {
  return (tasks / kHalfTaskAlignment + experts) * kHalfTaskAlignment;
}

// ---- launches ---------------------------------------------------------------------------------

// A block's threads form `parts` parts, which share the tile and take some of a step's columns
// each. A tile has 16 rows for each 32 threads of a part, whose threads are a multiple of
// kHalfThreads. With warp groups a tile has more vectors, and kHalfThreads further threads copy for
// all.
inline constexpr unsigned kHalfThreads = 128;
constexpr unsigned half_vectors(bool has_warp_groups) { return has_warp_groups ? 128 : 64; }
constexpr unsigned half_max_threads(bool has_warp_groups) { return has_warp_groups ? 256 : 512; }
constexpr unsigned half_copying_threads(bool has_warp_groups) {
  return has_warp_groups ? kHalfThreads : 0;
}

// Bytes of shared memory that a vector and a row take for one step.
inline constexpr unsigned kHalfVectorBytes = 2 * kHalfSpan;
constexpr unsigned half_row_bytes(unsigned block_bytes, unsigned block_values) {
  return ((kHalfSpan / block_values * block_bytes + 30) / 16 | 1) * 16;
}
// Number of unused values between the results of two vectors.
inline constexpr unsigned kHalfResultsApart = 4;

// Dynamic shared memory of a block whose parts have `threads` threads each: `stages` steps, scratch
// memory for decoded rows on hardware whose matrix units do not take them from registers, and room
// for alignment.
constexpr unsigned half_bytes(unsigned block_bytes, unsigned block_values, unsigned threads,
                              unsigned parts, unsigned vectors, unsigned stages) {
  const unsigned rows = threads / 2, scratch = threads * parts / 32 * (16 * 34 * 2);
  const unsigned steps =
      stages * (vectors * kHalfVectorBytes + rows * half_row_bytes(block_bytes, block_values));
  const unsigned results = 4 * vectors * (rows + kHalfResultsApart) * parts;
  const unsigned all = stages == 1 ? steps + scratch : steps;
  return (all > results ? all : results) + 1024;
}

// Number of threads of a part, and number of parts. Tiles are small, with two parts that share the
// columns, if large tiles would leave multiprocessors without a block.
struct HalfBlock {
  unsigned threads, parts;
};
constexpr HalfBlock half_block(unsigned long long rows, unsigned long long tiles_of_vectors,
                               unsigned multiprocessors, bool has_warp_groups) {
  const unsigned most = half_max_threads(has_warp_groups);
  const unsigned long long tiles = (rows + most / 2 - 1) / (most / 2) * tiles_of_vectors;
  const bool is_full = 4 * tiles >= 3ull * multiprocessors;
  return is_full ? HalfBlock{most, 1} : HalfBlock{most / 2, 2};
}

// True if more than a few vectors are taken as f16 instead of in Q8_1. Without warp groups, rows
// are copied asynchronously if each begins at a multiple of sixteen bytes; fewer vectors than
// these, and GPUs other than the H200, were not measured.
//
// Measured in us, product kernel alone; each pair: as f16, in Q8_1. H100, except for the last four
// lines, which are of an H200; the last line is of the sm_90 image without warp groups:
//                          Q4_0       Q8_0       Q4_K       Q6_K
//    4096 x 4096 by 16    20   24    23   27    23   25    24   31
//    4096 x 4096 by 64    21   36    23   37    24   37    24   52
//    1024 x 4096 by 64    20   34    23   35    24   35    26   45
//    2048 x 2048 by 64    12   21    14   22    14   22    14   27
//   14336 x 4096 by 256   71  185    83  206    83  216    85  278
//     512 x  512 by 17              6.0  5.2   5.5  4.9
//    4096 x  512 by 17              6.5  7.3   6.3  6.7
//    4096 x 4096 by 512   38  101    42  114    41  127    44  151
//    4096 x 4096 by 512   72  101    86  114    79  127    84  151
//
// Experts, whose tasks are sorted.
// Measured on an H200 in us, all launches, f16 to f16, Q4_K unless said otherwise; each pair: as
// f16, in Q8_1; columns: tasks per expert:
//                                       4         8        32       128       256       1024
//     8 experts  2048 x 4096        47   51   47   52   50   93            143  309  392 1057
//    64 experts  2048 x 4096       317  285  295  291  337  416  548 1149
//     the same, Q8_0                         344  338
//     the same, Q6_K                         328  437
//   128 experts   768 x 2048                 150  123
//   without warp groups:
//     8 experts  2048 x 4096                                              256  305  757 1045
//    64 experts  2048 x 4096, Q8_0           350  302
constexpr bool prefers_halves(unsigned long long rows, unsigned long long row_bytes,
                              unsigned long long columns, unsigned long long vectors,
                              unsigned long long experts, bool has_warp_groups) {
  const unsigned long long matrices = experts == 0 ? 1 : experts;
  const unsigned long long each = vectors / matrices;
  if (has_warp_groups) {
    return each > 16 && rows >= 512 && columns >= 512 && matrices * rows * columns >= 1u << 20;
  }
  return each > 256 && rows >= 2048 && columns >= 2048 && row_bytes % 16 == 0;
}

}  // namespace kiln::tuning
