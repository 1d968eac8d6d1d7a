// How products with one vector whose rows stream through shared memory are spread over a launch
// (families/streamed_vector.cuh). Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// A thread takes kStreamedValues columns of a row at once. Each 32 threads have streamed_stages()
// stages, a number that depends on the size of a format's blocks. A block has up to
// kStreamedThreads threads, and a multiprocessor up to two blocks, as far as shared memory allows.
//
// Measured on an H200, fused_vector with one vector, in us, by blocks per multiprocessor, threads
// of a block and stages:
//                                               Q4_0   Q8_0   Q4_K   Q5_K   Q6_K
//   14336 x 4096, two of 256 threads, 3 stages    10.2   17.0   10.6   12.2   14.5
//                                     4           10.1   16.9   10.4   12.4   14.7
//                 one of 512, 3                   10.4   17.0   10.8   12.5   15.0
//                 four of 128, of stages that are no whole lines of memory
//                                                 15.3   21.6   15.4   17.2   16.1
//   4096 x 14336, two of 256, 3                   10.9   17.3   10.9   12.6   14.7
//                             4                   10.7   17.2   10.7   12.7   14.9
//                 one of 512, 3                   10.9   17.1   11.0   12.6   14.9
//   without streams: 14336 x 4096                 13.2   18.4   12.0   17.0   21.0
//                    4096 x 14336                 12.5   18.7   12.6   15.9   22.8
//
// Each pair: blocks take neighbouring rows, and one thread adds up a row; blocks take rows in
// turns, and four threads add up a row of many slices. Likewise in us:
//                      Q4_0          Q8_0          Q4_K          Q5_K          Q6_K
//   14336 x 4096    10.0   9.9    16.6  16.5    10.0  10.0    11.9  11.8    13.9  13.8
//   18944 x 3584    11.6  11.3    19.2  18.9    11.7  11.4    13.6  13.4    15.8  15.5
//    4096 x 14336   10.3  10.0    16.8  16.8    10.3  10.2    12.1  11.9    14.0  13.9
//    5120 x 13824   12.0  12.1    19.8  19.7    12.0  12.2    14.3  14.1    16.4  16.4
//    8192 x 2048     4.5   4.6     6.3   6.3     4.6   4.7     5.3   5.2     6.0   6.0
inline constexpr unsigned kStreamedValues = 64;
constexpr unsigned streamed_stages(unsigned block_bytes) {
  return block_bytes == 18 || block_bytes == 144 ? 4 : 3;
}
inline constexpr unsigned kStreamedThreads = 256, kStreamedBlocks = 2;
constexpr unsigned streamed_stage(unsigned bytes) { return (bytes + 2 * 127) / 128 * 128; }

// Shared memory of a block of `waves` times 32 threads. It holds the stages, the vector, the
// threads' sums of a few rows, and the sums of slices.
inline constexpr unsigned kStreamedBatch = 8, kStreamedStride = 36, kStreamedSums = 2048;
constexpr unsigned streamed_bytes(unsigned block_bytes, unsigned block_values, unsigned waves,
                                  unsigned columns) {
  const unsigned stage = streamed_stage(32 * kStreamedValues / block_values * block_bytes);
  return waves * (streamed_stages(block_bytes) * stage + 4 * kStreamedBatch * kStreamedStride) +
         4 * kStreamedSums + columns / 32 * 36;
}
// Returns the number of times 32 threads of a block, or 0 if not even four times fit into `room`
// bytes.
constexpr unsigned streamed_waves(unsigned block_bytes, unsigned block_values, unsigned columns,
                                  unsigned room) {
  for (unsigned waves = kStreamedThreads / 32; waves >= 4; waves /= 2) {
    if (streamed_bytes(block_bytes, block_values, waves, columns) <= room) return waves;
  }
  return 0;
}

// In kiln's own geometry, fused_vector streams matrices with at least this many columns, rows and
// weights, in all of its formats except MXFP4. For smaller matrices, blocks take longer to start
// than to work. The other products use the kernels of mul_mat_vec, which do not stream: they would
// have fewer blocks on a multiprocessor. In the reference geometry that costs, in us,
// without -> with streams: Q4_0 2048 x 2048 3.2 -> 3.4; Q8_0 4096 x 4096 7.0 -> 7.9.
//
// Measured likewise, results in f32; each pair: without and with streams:
//                         Q4_0         Q8_0         Q4_K         Q5_K         Q6_K
//   4096 x 4096      5.4   5.1    6.9   6.8    6.4   5.2    7.0   5.9    8.6   6.8
//   8192 x 2048            5.1          6.7          5.1    7.1   5.9          6.8
inline constexpr unsigned kStreamedColumns = 2048, kMaxStreamedColumns = 1u << 19;
inline constexpr unsigned kStreamedRows = 4096, kMaxStreamedRows = 1u << 20;
inline constexpr unsigned long long kStreamedWeights = 1ull << 24;
constexpr bool streams_fused_format(unsigned block_bytes) { return block_bytes >= 18; }
constexpr bool streams_rows(unsigned rows, unsigned columns) {
  return static_cast<unsigned long long>(rows) * columns >= kStreamedWeights &&
         columns >= kStreamedColumns && columns <= kMaxStreamedColumns && rows >= kStreamedRows &&
         rows <= kMaxStreamedRows;
}

}  // namespace kiln::tuning
