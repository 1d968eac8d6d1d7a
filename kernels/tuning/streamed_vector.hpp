// How products with one vector whose rows stream through shared memory are spread over a launch
// (families/streamed_vector.cuh). Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Each thread has so many columns of a row at once. Blocks have so many times 32 threads, and so many
// a multiprocessor work; each 32 threads have so many stages, by the bytes of a format's block.
//
// H200, microseconds, one vector of fused_vector, by stages:
//                        Q4_0    Q8_0    Q4_K    Q5_K    Q6_K
//   14336 x 4096, 2      10.9    17.1    11.2    12.7    16.2
//                 3      10.5    17.0    11.0    12.7    19.0
//                 4      10.6    17.2    11.1    12.9    16.6
//     without stages     13.2    18.4    12.0    17.0    21.0
//   4096 x 14336, 2      11.3    17.1    11.2    12.8    16.4
//                 3      11.1    17.2    11.2    12.7    18.6
//     without stages     12.5    18.7    12.6    15.9    22.8
inline constexpr unsigned kStreamedValues = 64, kStreamedWaves = 4, kStreamedBlocks = 4;
constexpr unsigned streamed_stages(unsigned block_bytes) { return block_bytes == 210 ? 2 : 3; }

// What blocks share: beside the stages columns of the vector, what threads sum of a few rows, and
// sums of slices.
inline constexpr unsigned kStreamedBatch = 8, kStreamedStride = 36, kStreamedSums = 1024;
constexpr unsigned streamed_bytes(unsigned block_bytes, unsigned block_values) {
  const unsigned stage = 32 * kStreamedValues / block_values * block_bytes;
  const unsigned vector = kStreamedValues * 36;
  return kStreamedWaves * (streamed_stages(block_bytes) * stage + vector +
                           4 * kStreamedBatch * kStreamedStride) +
         4 * kStreamedSums;
}

// Matrices of so many columns, rows and weights stream in our geometry, by fused_vector: those of
// all formats that it takes but MXFP4. Of smaller ones blocks take longer to begin than to work.
// Kernels of mul_mat_vec, which do the others, would have fewer blocks on a multiprocessor if they
// streamed, too: in the reference's geometry Q4_0 2048 x 2048 takes 3.2 microseconds, and 3.4 with
// that, Q8_0 4096 x 4096 7.0 and 7.9.
//
// Likewise, without and with:   Q5_K, results in f32                         in f16
//   4096 x 4096                        7.0   6.4      8192 x 4096, Q4_0       8.4   7.7
//   5120 x 4096                        7.9   7.0                   Q8_0      11.6  11.2
//   8192 x 2048                        7.1   6.9                   Q4_K       8.4   7.7
//   8192 x 8192                       16.7  13.6                   Q5_K      10.3   8.8
//  14336 x 4096                       15.5  12.8      8192 x 2048, Q5_K       6.6   6.8
//                         Q4_0         Q8_0         Q4_K         Q6_K
//   4096 x 4096      5.4   5.5    6.9   7.1    6.4   5.6    8.6   7.2, results in f32
//   4096 x 14336    11.5  11.1   18.0  17.4   11.7  11.2   19.6  16.5
//  14336 x 4096     11.4  10.8   17.2  17.1   12.1  11.0   19.4  16.0
inline constexpr unsigned kStreamedColumns = 2048, kMostStreamedColumns = 1u << 19;
inline constexpr unsigned kStreamedRows = 4096;
constexpr bool streams_fused_format(unsigned block_bytes) { return block_bytes >= 18; }
constexpr bool streams_rows(unsigned rows, unsigned columns, unsigned long long weights) {
  return static_cast<unsigned long long>(rows) * columns >= weights &&
         columns >= kStreamedColumns && columns <= kMostStreamedColumns && rows >= kStreamedRows;
}
// Of mul_mat_vec, and of others.
constexpr unsigned long long streamed_weights(unsigned block_bytes) {
  return block_bytes < 144 ? 1u << 25 : 1u << 24;
}
inline constexpr unsigned long long kStreamedFusedWeights = 1u << 25;

}  // namespace kiln::tuning
