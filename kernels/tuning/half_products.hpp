// How products with many vectors of f16 are spread over a launch (families/half_products.cuh), and how
// the vectors lie in memory. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// A step of a product has so many columns.
inline constexpr unsigned kHalfSpan = 256;

// ---- vectors ----------------------------------------------------------------------------------
//
// Vectors lie by chunks of 64 columns of 128 vectors, 16 KB, as matrix units want them: a copy of
// a chunk is a copy of bytes. The chunks of 128 vectors lie one behind the other, up to a whole step;
// values behind the last column are zero, vectors behind the last are anything. Within a chunk
//
//   a vector has 128 bytes: eight pieces of 16, of which piece p lies at place p ^ vector % 8
//   two pieces have 16 columns: the pairs of columns 0, 2, 4 and 6, and those of 1, 3, 5 and 7
//
// so that four neighbouring columns are one pair in each of two pieces (device/half_layout.cuh).
//
// Of a mixture of experts, those of expert e's tasks begin at number (b / 64 + e) * 64, where b tasks
// have a lesser expert; what lies between them is anything. So do those of a tile of an expert's
// tasks, if b counts all tasks before the tile. Where warp groups multiply, any multiple of 8 would do.
inline constexpr unsigned kHalfTileVectors = 128, kHalfChunkColumns = 64, kHalfTaskAlignment = 64;

constexpr unsigned long long half_columns(unsigned long long columns) {
  return (columns + kHalfSpan - 1) / kHalfSpan * kHalfSpan;
}
// How many values that takes, with all that is behind the last.
constexpr unsigned long long half_values(unsigned long long vectors, unsigned long long columns) {
  const unsigned long long tiles = (vectors + kHalfTileVectors - 1) / kHalfTileVectors;
  return tiles * kHalfTileVectors * half_columns(columns);
}
// How many vectors the tasks of so many experts take.
constexpr unsigned long long half_task_vectors(unsigned long long tasks,
                                               unsigned long long experts) {
  return (tasks / kHalfTaskAlignment + experts) * kHalfTaskAlignment;
}

// ---- launches ---------------------------------------------------------------------------------

// A block's threads make `parts` parts, which share the tile and have some of a step's columns each. A
// tile has 16 rows for each 32 threads of a part, a multiple of kHalfThreads. Where warp groups
// multiply, a tile has more vectors, and kHalfThreads more threads copy for all.
inline constexpr unsigned kHalfThreads = 128;
constexpr unsigned half_vectors(bool has_warp_groups) { return has_warp_groups ? 128 : 64; }
constexpr unsigned half_most_threads(bool has_warp_groups) { return has_warp_groups ? 256 : 512; }
constexpr unsigned half_copying_threads(bool has_warp_groups) {
  return has_warp_groups ? kHalfThreads : 0;
}

// What a vector takes of a step in shared memory, and a row.
inline constexpr unsigned kHalfVectorBytes = 2 * kHalfSpan;
constexpr unsigned half_row_bytes(unsigned block_bytes, unsigned block_values) {
  return ((kHalfSpan / block_values * block_bytes + 30) / 16 | 1) * 16;
}
// Results of vectors have so many between them, beside the rows.
inline constexpr unsigned kHalfResultsApart = 4;

// Dynamic shared memory of a block whose parts have so many threads: `stages` steps, what 32 threads
// decode where no matrix units take it from registers, and room to align all.
constexpr unsigned half_bytes(unsigned block_bytes, unsigned block_values, unsigned threads,
                              unsigned parts, unsigned vectors, unsigned stages) {
  const unsigned rows = threads / 2, scratch = threads * parts / 32 * (16 * 34 * 2);
  const unsigned steps =
      stages * (vectors * kHalfVectorBytes + rows * half_row_bytes(block_bytes, block_values));
  const unsigned results = 4 * vectors * (rows + kHalfResultsApart) * parts;
  const unsigned all = stages == 1 ? steps + scratch : steps;
  return (all > results ? all : results) + 1024;
}

// How many threads a part has, and how many parts there are: small tiles, whose columns parts share,
// where large ones would leave multiprocessors without a block.
struct HalfBlock {
  unsigned threads, parts;
};
constexpr HalfBlock half_block(unsigned long long rows, unsigned long long tiles_of_vectors,
                               unsigned multiprocessors, bool has_warp_groups) {
  const unsigned most = half_most_threads(has_warp_groups);
  const unsigned long long tiles = (rows + most / 2 - 1) / (most / 2) * tiles_of_vectors;
  const bool is_full = 4 * tiles >= 3ull * multiprocessors;
  return is_full ? HalfBlock{most, 1} : HalfBlock{most / 2, 2};
}

// Whether more vectors than a few are taken as f16 instead of in Q8_1. Without warp groups rows go by
// copies in the background where each begins at a multiple of sixteen bytes, and fewer vectors than
// these were not measured, nor other GPUs than the H200.
//
// Microseconds of the product alone, as f16 and in Q8_1, H100 but for the last four lines, of the
// H200; the last is of the image for sm_90, without warp groups:
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
// Of experts, whose tasks are sorted: microseconds of all launches on the H200, as f16 and in Q8_1,
// of Q4_K where nothing else is said, f16 to f16, by tasks of an expert:
//                                       4         8        32       128       256       1024
//     8 experts  2048 x 4096        47   51   47   52   50   93            143  309  392 1057
//    64 experts  2048 x 4096       317  285  295  291  337  416  548 1149
//     the same, Q8_0                         344  338
//     the same, Q6_K                         328  437
//   128 experts   768 x 2048                 150  123
//   and without warp groups
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
