// How products with many vectors of f16 are spread over a launch (families/half_products.cuh).
// Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// A tile has 16 rows for each 32 threads of a block along x, a multiple of kHalfThreads, which y
// parts of as many threads share: each has some of kHalfSpan columns a step. Where warp groups
// multiply, a tile has more vectors, and a block fewer threads.
inline constexpr unsigned kHalfSpan = 256, kHalfThreads = 128;
constexpr unsigned half_vectors(bool has_warp_groups) { return has_warp_groups ? 128 : 64; }
constexpr unsigned half_most_threads(bool has_warp_groups) { return has_warp_groups ? 256 : 512; }

// What a vector takes in shared memory, and a row.
inline constexpr unsigned kHalfVectorBytes = 2 * kHalfSpan + 32;
constexpr unsigned half_row_bytes(unsigned block_bytes, unsigned block_values) {
  return ((kHalfSpan / block_values * block_bytes + 30) / 16 | 1) * 16;
}
// Results of vectors have so many between them, beside the rows.
inline constexpr unsigned kHalfResultsApart = 4;

// Dynamic shared memory of a block: `stages` steps, what 32 threads decode where no matrix units
// take it from registers, and room to align all.
constexpr unsigned half_bytes(unsigned block_bytes, unsigned block_values, unsigned threads,
                              unsigned parts, unsigned vectors, unsigned stages) {
  const unsigned rows = threads / 2, scratch = threads * parts / 32 * (16 * 34 * 2);
  const unsigned steps =
      stages * (vectors * kHalfVectorBytes + rows * half_row_bytes(block_bytes, block_values));
  const unsigned results = 4 * vectors * (rows + kHalfResultsApart) * parts;
  const unsigned all = stages == 1 ? steps + scratch : steps;
  return (all > results ? all : results) + 1024;
}

// How many threads a block has along x, and parts: small tiles, whose columns parts share, where
// large ones would leave multiprocessors without a block.
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

// Whether many vectors are taken as f16 instead of in Q8_1. Between 64 and 512 vectors nothing was
// measured, nor other GPUs. Rows go by copies in the background where each begins at a multiple of
// sixteen bytes.
//
// H200, microseconds of the product alone, as f16 and in Q8_1:
//                          Q4_0       Q8_0       Q4_K       Q6_K
//    4096 x 4096 by 64    40   29    46   32    39   32    47   39
//    4096 x 4096 by 512   55  101    65  114    55  127    65  151
//   14336 x 4096 by 512  210  350                         250  519
constexpr bool prefers_halves(unsigned long long rows, unsigned long long row_bytes,
                              unsigned long long columns, unsigned long long vectors) {
  return vectors > 256 && rows >= 2048 && columns >= 2048 && row_bytes % 16 == 0;
}

}  // namespace kiln::tuning
