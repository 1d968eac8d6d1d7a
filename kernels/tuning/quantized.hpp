// How products with quantized rows are spread over a launch. Plain C++17, for device code and host
// programs.
#pragma once

namespace kiln::tuning {

// Activations of at least this many blocks of Q8_1 are quantized by four threads a block, of eight
// values each, and not by eight of four. These exchange less, but there are fewer of them.
//
// Measured on an H200, in us, eight threads -> four, from f32 and from f16: 1x4096 1.36 -> 1.46,
// 1.39 -> 1.45; 2^20 values 3.40 -> 3.87, 3.03 -> 3.25; 2^22 8.11 -> 7.58, 7.86 -> 6.95; 2^26
// 98.0 -> 83.3, 100 -> 80.1.
inline constexpr unsigned kManyQuantized = 1u << 17;

// Number of rows that a thread takes at once, of the same columns.
//
// Measured on an H200, in us; the reference's kernels; 1, 2 and 4 rows at once:
//                                 reference     1      2      4
//   Q4_0 14336 x 4096, 1 vector        14.5  14.0   11.9   11.6
//   Q4_0 14336 x 4096, 4               27.7  30.5   20.1   15.8
//   Q4_K 14336 x 4096, 1               19.3  16.3   13.3   12.3
//   Q4_0 1024 x 4096, 1                 2.9   3.0    2.9    2.9
//   Q6_K 1024 x 4096, 4                 7.0   6.8    5.4    5.5
inline constexpr unsigned kRowsAtOnce = 4;
// Two rows for one vector, so that more threads fit.
inline constexpr unsigned kSingleVectorRowsAtOnce = 2;

// Columns of a row that a thread has at once, by the number of vectors and the bytes of a block: as
// many as there are registers for. Q4_K has most; for one vector, Q8_0 has a whole block.
constexpr unsigned columns_at_once(unsigned vectors, unsigned block_bytes) {
  if (vectors > 4) return 16;
  if (block_bytes == 34) return vectors == 1 ? 32 : 16;
  return block_bytes == 144 && vectors <= 2 ? 64 : 32;
}

// One vector times at most kFewRows rows: each block has one row. One vector times at most
// kFewShortRows short rows: each wave has one row.
//
// Measured on an H200, in us. Own geometry: a block has a row or a pair of rows; a wave has a row.
// Then the same two in the reference geometry, and the reference's own kernels:
//   Q4_0 1024 x 1024             2.18  1.97      2.28  1.95  1.96
//   Q5_K 1024 x 1024             2.95  2.46      2.96  2.51  2.47
//   Q6_K 2048 x 1024             2.92  2.85      3.42  2.89  3.19
inline constexpr unsigned kFewRows = 528, kFewShortRows = 2048;
// Columns that a thread then has at once. Q4_K, by 64 and by 32 columns: 256 x 2048 2.31, 2.08;
// 512 x 4096 2.64, 2.48; 512 x 11008 4.05, 3.91. With 16 columns, a block's threads go over longer
// rows twice.
inline constexpr unsigned kColumnsOfFewRows = 32;
// Several vectors times short rows: with fewer groups of rows than this, a block shares each group.
inline constexpr unsigned kFewGroups = 512;

// A wave has rows of its own if these have at most kColumnsOfWave columns; otherwise the block
// shares them. In the reference geometry, a wave also has rows of its own if there are kWavesToFill
// groups of rows for each multiprocessor and, for one vector, at most kColumnsOfBlock columns. If
// rows have fewer pieces than a block has threads, half as many groups suffice, or seven sixteenths
// for one vector and formats of long blocks.
//
// Measured likewise, blocks -> waves: Q4_0 14336 x 4096, 1 vector 16.0 -> 13.2; 2 vectors
// 23.2 -> 12.9. Q8_0 5120 x 13824, 1 vector 20.1 -> 26.9. Fewer pieces than threads, 2048 x 2048:
// Q4_K 3.9 -> 3.3; Q5_K 4.1 -> 3.7; Q6_K 4.8 -> 4.5; but Q4_0 3.2 -> 3.4.
inline constexpr unsigned kColumnsOfWave = 1024, kColumnsOfBlock = 8192, kWavesToFill = 16;

// True if a wave may have rows of its own although a row has pieces for all threads of a block.
// This depends on the number of vectors, and on the values and bytes of a format's block. With
// several vectors, blocks are mostly faster; half of the blocks then exit.
//
// Measured on an H200, reference geometry, in us; each pair: waves, blocks:
//                             2 vectors      3             4
//   Q4_0 11008 x 4096       11.3  10.1   11.8  12.9    12.6  13.7
//        32000 x 4096       26.5  26.8   31.5  34.8    33.9  37.2
//   Q5_0 32000 x 4096       32.9  33.0   35.6  39.6    38.5  42.3
//   Q8_0 11008 x 4096       18.5  14.4   18.4  16.4    19.2  16.8
//        32000 x 4096       46.6  38.8   45.1  43.4    48.1  45.8
//   Q4_K 11008 x 4096       12.9  13.7   16.7  15.2    19.1  16.8
//        32000 x 4096       29.3  35.9   40.0  41.1    45.7  45.0
//   Q5_K 11008 x 4096       18.7  15.9   19.8  16.9    21.9  18.4
//   Q6_K 11008 x 4096       21.6  18.0   25.6  22.0    28.0  23.8
//   Q3_K 32000 x 4096       50.8  44.3   63.1  55.9    72.0  62.5
//   Q5_0  8192 x 2048        6.8   8.2
// Three or four vectors times 2048 x 2048, waves and halves of a block, because a row has fewer
// pieces than a block has threads: Q2_K 4.5 3.9, 5.8 4.1; Q3_K 5.2 4.4, 5.8 4.8; Q6_K 5.7 5.0, 5.8
// 4.9.
//
// H100, in us, one vector of Q8_0: waves, blocks, the reference's kernels:
//   5120 x 5120  13.7  11.6  12.4   11008 x 4096  21.4  18.8  19.3   14336 x 4096  25.4  24.4  24.2
//   4096 x 4096   8.0   8.0   8.8   28672 x 8192  95.3  86.8  88.7   32000 x 4096  56.2  54.0  50.5
// But other formats, 14336 x 4096: Q4_0 15.0, 16.4; Q5_0 18.4, 19.1. Two experts of Q8_0: 45.5,
// 48.1. H200, Q8_0 in the same order: 11.2  9.3 10.7; 17.0 15.0 16.5; 19.8 19.3 20.4; 6.4  6.3
// 7.9; 71.6 64.1 70.6; 43.2 41.6 41.9.
constexpr bool goes_by_wave(unsigned vectors, unsigned block_values, unsigned block_bytes) {
  if (vectors == 1) return block_bytes != 34;
  return vectors == 2 ? block_bytes == 144 : block_values == 32 && block_bytes < 34;
}

// Threads of a block that shares two rows of experts in kiln's own geometry. `rows` counts the rows
// of all tasks together.
//
// Measured on an H200, 8 tasks, in us, by 32, 64 and 128 threads:
//                         Q2_K              Q4_K              Q6_K              Q8_0
//     64 x 4096    4.1  2.9  2.5     3.4  2.7  2.8     4.5  3.3  2.9     4.1  3.0  2.5
//    256 x 2048    3.5  3.0  3.0     3.1  3.3  4.0     4.0  3.7  4.5     3.4  3.1  3.2
//    256 x 4096    4.8  4.1  4.3     4.2  4.1  4.8     5.8  5.5  5.6     5.0  4.3  4.3
//    512 x 4096    5.6  5.9  6.0     5.3  5.6  6.7     8.1  8.3  8.2     6.7  6.6  6.3
//    768 x 2048    4.9  5.5  6.1     4.5  5.8  7.2     6.7  6.6  8.4     5.7  5.3  6.2
//
// H100, Q8_0, whose whole rows 128 threads read at once: 8 tasks of 1024 x 4096 14.6, 14.5, 13.8;
// of 2048 x 5120 32.8, 32.1, 31.3; of 1024 x 2048 8.2, 8.1, 8.4; 2 tasks of 4096 x 14336 47.5,
// 45.6, 43.9. H200: 11.3, 11.1, 10.6; 24.1, 23.7, 23.7; 6.7, 6.5, 7.7; 35.6, 33.7, 32.0.
constexpr unsigned expert_threads(unsigned long long rows, unsigned columns, unsigned block_bytes) {
  if (columns <= kColumnsOfWave || rows < 2048) return 128;
  if (block_bytes == 34 && columns >= 4096) return 128;
  return rows < 4096 ? 64 : 32;
}

// Products of five to eight vectors with formats of many scales per block use no matrix units up to
// kRowsWithoutUnits rows. A block then takes kFewRowsAtOnce rows at once. In kiln's own geometry,
// with up to kFewRows rows, it takes half of the vectors.
//
// Measured on an H200, in us; each pair: own geometry, reference geometry; last, the reference's
// own kernels:
//   Q3_K    7 x 5120, 5            2.9   5.8       10.5   16.2     4.7
//   Q4_K    7 x 5120, 8            2.8   5.3        9.0   16.6    10.1
//   Q6_K  264 x 4096, 8            4.8   7.3        7.6   13.1    25.9
//   Q4_K  512 x 4096, 8            4.1   5.8        7.4   13.8    14.9
//   Q2_K  768 x 4096, 8            6.5   8.4        6.9   11.6    22.7
//   Q6_K 1024 x 4096, 8            8.6   9.2        7.7   13.2    26.4
//   Q4_K  256 x 512, 8             2.2   3.3        2.9    3.0     3.8
inline constexpr unsigned kRowsWithoutUnits = 1024, kFewRowsAtOnce = 2;
// The same limit if there is a block for each two rows, as in the reference geometry. It is higher
// for most formats.
//
// Measured likewise; each pair: matrix units, dot products:
//                         Q2_K          Q3_K          Q4_K          Q5_K        Q6_K
//   1152 x 4352, 5     11.1   8.0    12.1   9.5    10.1   7.3    11.0   7.5
//   1152 x 4352, 8     11.7   9.8    13.2  10.8    11.5   8.0    12.2   8.7
//   1200 x 4096, 5                   10.9   8.6     9.2   6.5                10.7  12.3
//   1280 x 1280, 5      5.0   4.6     5.3   5.3     4.7   4.4     4.9   4.4
//   1280 x 1280, 8      5.2   5.4     5.5   5.7     5.0   4.6     5.2   4.9
//   1536 x 1536, 5      5.0   4.9     5.3   5.4     4.7   6.0     5.0   6.0     5.4   7.4
//   1536 x 1536, 8      5.1   5.6     5.5   5.9     5.0   6.4     5.2   6.7     5.6   8.0
//   1536 x 4096, 5     10.0   8.0    10.9   8.9     9.2   9.8    10.1   9.9    10.8  13.0
//   1536 x 8960, 5     20.1  13.9    22.1  15.8    18.2  18.3    19.9  18.5    21.2  23.8
//   1536 x 8960, 8     21.3  16.7    24.9  18.8    20.2  19.2    21.4  20.9    22.6  29.3
//   1600 x 8960, 5     20.1  19.8    22.2  22.4    18.2  18.6    20.0  18.7    21.2  24.0
constexpr unsigned pair_rows_without_units(unsigned block_bytes) {
  constexpr unsigned kQ2K = 84, kQ3K = 110, kQ6K = 210;  // the formats' bytes
  if (block_bytes == kQ6K) return kRowsWithoutUnits;
  return block_bytes == kQ2K || block_bytes == kQ3K ? 1536 : 1280;
}
// Matrix units copy further ahead up to this many rows, which have fewer tiles than there are
// multiprocessors. Reference geometry, Q4_K 2048 x 2048, 5 vectors, in us, without -> with:
// 6.8 -> 6.2.
inline constexpr unsigned kRowsCopiedAhead = 2048;
// True if a product uses matrix units, in kiln's own geometry.
constexpr bool goes_by_units(unsigned rows, unsigned columns, unsigned vectors) {
  if (columns <= kColumnsOfWave) return rows > kRowsWithoutUnits / 4;
  return rows > (vectors > 6 ? kRowsWithoutUnits / 4 * 3 : kRowsWithoutUnits);
}

// If there are matrix units, held_vectors (families/held_vectors.cuh) takes up to eight vectors of
// large matrices. Each 32 threads hold kHeldColumns columns. A block has up to kHeldWaves times 32
// threads and sums kHeldTiles tiles at once. In it, each kHeldGroup times 32 threads copy for each
// other.
//
// First, with a form in which each 32 threads copy for themselves.
// Measured on an H200, in us; each pair: eight waves in two blocks with four tiles; without
// held_vectors:
//                            Q4_0         Q8_0         Q4_K         Q6_K
//    6144 x 2048, 8        7.2   8.3    8.9   9.3    7.6   9.2   10.1  11.4
//    2048 x 2048, 8        4.5   4.3    5.1   4.9    4.6   5.1    5.4   5.3
//    1024 x 4096, 8        5.0   4.4    6.4   4.9    5.2   7.2    7.4   7.4
//   14336 x 4096, 5       15.8  18.8   22.5  22.8   16.5  25.9   28.0  32.7
//    4096 x 4096, 5        7.5   7.0    9.8   8.1    7.8  10.1   10.7  12.2
// Each triple: sixteen waves in one block with seven tiles; eight as above; without held_vectors:
//   14336 x 4096, 8   15.6 17.0 24.9   22.0 23.4 28.8   16.0 17.4 27.6   23.4 27.5 34.2
//    4096 x 14336, 8  17.7 20.0 25.4   23.1 26.9 26.8   18.3 20.0 28.0   26.2 29.0 34.7
//    4096 x 4096, 8    7.9  8.5  9.1    9.5 10.6 10.2    8.0  8.5 10.7   10.5 11.3 12.8
//   14336 x 4096, 4   15.0 15.8 14.9   21.5 22.5 20.2   15.1 16.6 18.3   22.8 27.8 26.5
//    4096 x 14336, 4  16.1      14.7   21.8      21.0   17.4      17.7   25.3      31.1
//    4096 x 4096, 4    7.6       6.5    9.3       8.1    7.8       7.3   10.0      11.6
//    1024 x 4096, 4    5.2       3.7    5.6       4.4    5.3       4.1    6.4       5.1
// In the first row, with three stages, eight vectors of Q4_K take 17.0 and of Q6_K 25.2. Q2_K, Q3_K
// and Q5_1 gain little. Another run; each pair: sixteen waves; without held_vectors:
//                             Q4_K         Q5_K         Q6_K
//   14336 x 4096, 2      14.8  12.4   16.9  17.4   22.0  20.4
//                 3      14.8  16.3   16.9  18.5   22.1  24.6
//    4096 x 14336, 3     16.8  15.6   19.2  18.1   24.5  27.6
//    8192 x 3584, 3      10.1  10.6   11.3  11.9   14.1  15.7
//    5120 x 5120, 3      10.7  11.1   12.1  12.2   15.2  15.0
//    4096 x 4096, 3       7.3   6.7    8.0   7.4    9.8  11.7
//
// The kernels alone, on an H200, in us. "before": each 32 threads copy for themselves, to two
// stages whose 128-byte lines are not aligned with the matrix's. "1", "2" and "4": to two stages
// with aligned lines, one, two or four times 32 threads copying together. "4 of 3": four together,
// to three stages. Last, without copies and with copies alone:
//                             before    1     2     4   4 of 3   no copies   copies
//   Q4_0 14336 x 4096, 4       13.8  14.2  14.1  12.9    13.0       10.1      10.7
//                      8       14.5  14.7  14.5  13.3    13.4       10.5      11.2
//        4096 x 14336, 8       17.0  19.5  18.0  16.9    15.5       13.8      13.7
//   Q4_K 14336 x 4096, 4       14.1  14.0  14.1  13.6    12.9        9.1      10.6
//   Q5_K 14336 x 4096, 8       17.2        16.7  16.7    15.7       11.7      13.4
//   Q6_K 14336 x 4096, 8       23.0        20.5  19.3               15.2      15.0
//   Q8_0 14336 x 4096, 8       21.6              20.2                9.1      19.3
// If sixteen times 32 threads copy together, they wait for each other: 14.7 in the first row. The
// sums that each two threads have of a row are added up last; adding them up at once for four times
// 32 threads takes 14.0.
inline constexpr unsigned kHeldWaves = 16, kHeldGroup = 4, kHeldColumns = 256, kHeldTiles = 7;
// held_row(): bytes of kHeldColumns columns of a row. held_stages(): stages of a group.
// held_stage(): bytes of a stage, which holds 16 rows, with 128-byte lines that are aligned with
// the matrix's.
constexpr unsigned held_row(unsigned block_bytes, unsigned block_values) {
  return kHeldColumns / block_values * block_bytes;
}
constexpr unsigned held_stages(unsigned row) { return row <= 176 ? 3 : 2; }
constexpr unsigned held_stage(unsigned row) {
  return 16 * ((kHeldGroup * row + 126 + 127) / 128 * 128);
}
// Bytes of shared memory of a launch: the stages, and the sums of each 32 threads.
constexpr unsigned held_bytes(unsigned row, unsigned waves) {
  return waves / kHeldGroup * held_stages(row) * held_stage(row) + waves * kHeldTiles * 4 * 128;
}
// Number of waves of a block, which may have `room` bytes in all. It is the smallest number that
// needs no more rounds than the largest possible one, or 0 if there is no room for a group.
constexpr unsigned held_waves(unsigned columns, unsigned row, unsigned room) {
  unsigned most = kHeldWaves / kHeldGroup;
  while (most > 0 && held_bytes(row, most * kHeldGroup) > room) --most;
  if (most == 0) return 0;
  constexpr unsigned kOfGroup = kHeldGroup * kHeldColumns;
  const unsigned groups = (columns + kOfGroup - 1) / kOfGroup, rounds = (groups + most - 1) / most;
  return (groups + rounds - 1) / rounds * kHeldGroup;
}
// True if two to eight vectors are held, in kiln's own geometry.
//
// Measured on an H200, kernels alone, in us; each pair: dot products or tiles; held:
//                        Q4_0         Q5_0         Q8_0         Q4_K         Q5_K         Q6_K
//   14336 x 4096, 2  11.2  12.5   13.7  18.0   18.0  17.9   12.1  12.3   17.1  14.6   20.3  19.0
//                 3  13.3  12.7   15.7  18.1   18.9  18.0   16.6  12.6   18.4  14.7   25.1  19.1
//                 4  14.2  13.3   17.0  18.8   19.7  18.6   17.9  13.2   21.2  15.3   26.2  19.6
//   11008 x 4096, 4  11.6  12.0   14.0  16.5   16.8  15.7   14.7  11.5   17.1  13.6   21.2  17.1
//    6144 x 4096, 4   7.8   8.1                11.2  10.0    9.9   8.0
//    5120 x 5120, 2   7.1   8.7    8.2  12.2    9.5  10.1    7.7   8.5   10.4   9.7   11.6  13.3
//                 4   8.5   9.0   10.2  12.4   10.4  10.3   10.5   8.8   11.9  10.0   14.5  13.7
//                 5  11.8   9.2   13.3  12.8   12.9  10.5   13.3   9.0   15.5  10.2   17.4  13.9
//                 6  12.5   9.3   13.9  12.9   13.7  10.7   13.5   9.1   15.9  10.3   17.9  14.1
//    4096 x 14336, 2 11.3  13.8   14.1  19.6   18.9  19.0   12.8  13.5   17.0  15.5   19.7  21.3
//                  5 17.9  14.7   22.1  20.5   21.2  19.7   24.7  14.4   27.7  16.2   31.4  21.9
//    4096 x 4096, 3   5.3   6.1    6.5   7.7    7.4   7.5    6.7   6.0    7.1   7.0   10.4   8.2
//                 5   6.8   6.7    8.0   8.5    8.1   8.1    9.8   6.8   10.8   7.7   12.2   8.9
//    3072 x 4096, 5   5.9   6.5                 6.8   7.7    9.0   6.4
//    2560 x 9728, 3   7.6  10.8    8.9  14.7   11.3  11.8    9.6  10.6   10.7  11.9
//                 7  13.1  11.6   14.4  15.6   14.2  12.5   17.1  11.3   19.2  12.6
//    2048 x 2048, 4   3.1   3.6    3.3   4.3    3.2   3.6    3.6   3.6    3.7   3.9    4.2   4.3
//                 8   3.8   4.2    4.1   4.9    3.9   4.3    4.7   4.2    5.0   4.5    5.2   4.9
constexpr bool goes_held(unsigned long long rows, unsigned long long columns,
                         unsigned long long vectors, unsigned block_bytes) {
  if (vectors < 2 || columns <= kHeldColumns || columns % kHeldColumns != 0) return false;
  const auto is_large = [&](unsigned min_rows, unsigned min_millions) {
    return rows >= min_rows && rows * columns >> 20 >= min_millions;
  };
  if (block_bytes >= 144) {
    if (vectors > 4) return is_large(1024, 4);
    if (block_bytes == 144) return vectors > 2 && is_large(3072, 8);
    if (vectors > 2) return is_large(4096, 16);
    return block_bytes == 210 ? is_large(8192, 32) : is_large(4096, 24);
  }
  if (vectors > 6) return is_large(2048, 12);
  if (block_bytes == 20 || block_bytes == 22) return vectors > 4 && is_large(4096, 24);
  if (vectors > 4) return is_large(2560, 16);
  if (block_bytes == 18) return vectors > 2 && is_large(8192, 48);
  return is_large(2560, vectors == 2 ? 56 : 24);
}

// kiln's own geometry: threads of a block, which shares rows, and number of blocks. Small blocks
// have fewer idle threads at the end of a row, and more of them fit. With few rows, large blocks
// bring more threads. In 668 measured cases, this choice takes 0.6% longer than the best of 32, 64
// and 128 on average, at worst 16%.
//
// Measured on an H200, in us, by 32, 64 and 128 threads:
//                          2 vectors                           4 vectors
//                          Q4_0              Q4_K              Q8_0              Q5_K
//    1024 x 4096     4.5  3.2  2.7     4.1  3.1  3.4     7.6  5.0  3.9     7.1  4.7  3.7
//    2048 x 2048     3.2  2.6  2.7     3.0  3.3  3.2     4.9  3.9  3.7     4.5  3.7  3.7
//    2048 x 8192     8.0  5.7  4.7     7.1  5.6  5.2    14.3  9.5  7.8    13.5  9.3  7.7
//    2560 x 2560     4.3  3.8  3.2     4.8  3.9  4.9     6.0  5.1  4.8     6.4  6.0  6.1
//    3072 x 3072     4.4  3.9  3.5     4.9  4.0  5.4     7.0  5.5  6.4     6.8  6.1  6.6
//    4096 x 4096     5.6  4.6  5.1     5.4  5.0  6.3     9.3  7.7  8.0     9.0  7.5  8.2
//    5120 x 5120     7.2  6.5  7.4     7.7  9.1  8.2    12.1 10.6 10.9    12.0 14.3 13.4
//    8192 x 2048     4.7  5.1  6.3     4.9  6.6  8.6     7.6  7.9  8.6     7.5  8.2 10.5
//                      1 vector          1 vector         4 vectors        8 vectors
//                          Q4_0              Q4_K              Q6_K              Q4_0
//    2048 x 8192     6.9  5.1  4.6     5.5  4.8  5.4    14.1 11.2 12.8
//    2560 x 2560     3.8  3.6  3.0     3.9  3.4  4.2     7.1  7.0  6.7
//    5120 x 2560     4.6  4.8  4.8     5.1  5.1  6.1
//    5632 x 2048                                                         6.9  7.6  7.7
constexpr unsigned vector_threads(unsigned rows, unsigned columns, unsigned vectors,
                                  unsigned block_bytes) {
  const unsigned pieces = columns / columns_at_once(vectors, block_bytes), over = pieces % 64;
  const bool fits_32 = 0 < over && over <= 32;
  if (rows < 2048 || columns <= kColumnsOfWave) return 128;
  if (pieces <= 32) return rows < 4096 ? 64 : 32;
  if (vectors == 1) {
    if (pieces <= 64) return 64;
    return fits_32 && pieces <= 160 && rows >= 3072 ? 32 : rows < 8192 ? 128 : 64;
  }
  const bool has_four_parts = block_bytes == 84 || block_bytes == 110 || block_bytes == 210;
  if (vectors > 2 && has_four_parts) {
    return rows >= 3584 && (fits_32 || (pieces > 64 && pieces <= 128 && rows < 8192)) ? 32 : 64;
  }
  if (pieces <= 64) return pieces == 64 && rows >= 5120 ? 32 : 64;
  if (rows <= (vectors == 2 || pieces <= 128 ? 2640 : 2112)) return 128;
  return fits_32 && rows >= (pieces < 128 ? 4096 : 5120) ? 32 : 64;
}
constexpr unsigned vector_blocks(unsigned rows, unsigned at_once, unsigned teams) {
  return (rows + at_once * teams - 1) / (at_once * teams);
}
// The same for products with a vector of floats, in which a block has one row.
//
// Measured on an H200, in us, by 32, 64 and 128 threads:
//                         Q4_0               Q2_K              Q4_K               Q6_K
//    512 x 4096    5.9   3.9   3.2     4.0  3.0  2.6     4.2   3.9   2.9     4.4   3.3   2.9
//   1024 x 1024    2.7   2.4   2.4     2.2  2.4  2.2     2.4   2.2   3.1     2.4   2.6   3.1
//   1024 x 4096    6.2   4.8   4.4     4.3  3.5  3.7     4.9   4.4   4.7     4.9   4.0   4.7
//   2048 x 2048    4.9   4.6   4.9     3.6  3.7  4.2     4.5   4.7   4.8     4.1   4.7   5.2
//   4096 x 1024    5.7   5.1   5.5     4.8  5.3  5.7     4.9   5.1   7.4     5.0   5.9   6.9
//   4096 x 4096   12.7  15.5  13.4     8.8  8.9  9.7    12.3  11.2  12.2    12.6  11.2  12.1
//
// Likewise, 1000 short rows, by 32 threads and by 128, or 64 for long blocks: 64 columns of Q8_0
// 1.78, 1.89, of Q4_0 1.87, 1.91; 256 columns of Q4_K 1.90, 2.03, of Q3_K 2.03, 2.25.
inline constexpr unsigned kColumnsOfFloatWave = 256;
constexpr unsigned float_vector_threads(unsigned rows, unsigned columns, bool has_long_blocks) {
  if (columns <= kColumnsOfFloatWave) return 32;
  if (rows < 2048) return has_long_blocks && rows > kFewRows ? 64 : 128;
  return has_long_blocks || columns > 2048 ? 32 : 64;
}

// Number of blocks of 128 threads that fit on a multiprocessor; registers are limited accordingly.
// `parts` is the format's.
//
// Measured likewise; each pair: without this limit, with it:
//                                  Q4_K 2 vectors   Q4_K 4 vectors   Q6_K 2 vectors
//   14336 x 4096                   15.5   14.1      23.0   20.7      24.2   22.3
//   4096 x 14336                   17.5   13.7      25.7   19.9      27.7   21.4
//   4096 x 4096                     7.2    6.2      10.8    8.0      11.5    8.9
//
// One vector, in the reference geometry, by 6 and by 8:
//                             Q4_K           Q3_K         IQ4_NL
//   32000 x 4096           31.5  27.7     47.3  52.7
//   14336 x 4096           14.6  13.3     22.4  23.8    20.1  20.3
//    4096 x 14336          11.6  12.2     19.2  18.4
//    4096 x 4096            6.1   5.9      8.7   8.0
//    5120 x 5120            8.2   8.2     11.6  12.6
// 8 tasks of experts, 14336 x 4096: Q4_K 110 and 94, Q5_K 146 and 127.
constexpr unsigned vector_blocks_held(unsigned vectors, unsigned parts) {
  if (vectors == 1) return parts == 4 ? 6 : 8;
  if (vectors == 2 || parts == 2) return 4;
  return parts == 4 ? 3 : 5;
}
// Number of these blocks that work, in a launch that also has blocks without work. It is smaller
// for one vector, so that the other blocks have room to start and exit. It is smaller still for
// short rows, because such a launch spends most of its time on the other blocks.
//
// Measured likewise, in the reference geometry, 1 vector, by 5, 3 and 2:
//                                                                   Q4_K              Q6_K
//   151936 x 1024                                              113  101   93     125  107   94
//     8192 x 1024                                              6.6  5.8  5.7     7.7  6.3  6.8
inline constexpr unsigned kBlocksWorking = 5, kBlocksWorkingOfShort = 3;
// For one or two vectors and at least kManyShortRows rows of less than kManyRowBytes bytes. With so
// many rows, rows of up to twice as many columns and bytes also count as short. If their threads
// have 64 columns at once, these rows count as the shortest.
//
// Measured likewise; each triple: without this number, with it, the reference's own kernels:
//                     Q4_0             Q4_K             Q2_K             Q5_K             Q6_K
//  128256 x 2048   84   78   80    103   78   93    107   79   97    116   91   92    134  113  139
//  151936 x 1536  101   93   94    120   93  101    127   93   95    138  109   95    154  133  147
inline constexpr unsigned kBlocksWorkingOfMany = 2, kManyShortRows = 16384, kManyRowBytes = 1024;
constexpr unsigned vector_blocks_working(unsigned vectors, unsigned at_once, bool has_long_blocks,
                                         unsigned parts) {
  if (vectors == 1 && at_once == kSingleVectorRowsAtOnce) return kBlocksWorking;
  if (vectors > 2 && parts == 4) return 2;
  return has_long_blocks ? 3 : 4;
}

// kiln's own products: threads of a block, which makes kRowsAtOnce rows. The fewer blocks there
// are, the more threads a block has.
//
// Measured on an H200, Q4_0, in us, by threads of a block:
//                                   32     64    128    256
//   14336 x 4096                  14.1   15.3   18.5   31.8
//   4096 x 14336                  16.4   13.0   14.3   17.4
//   1024 x 4096                    5.2    4.7    4.7    4.7
//   1024 x 4096, floats            8.7    5.9    4.9    4.9
constexpr unsigned fused_threads(unsigned rows, unsigned columns) {
  if (columns < 2048 || rows >= 8192) return 32;
  return rows < 2048 ? 128 : 64;
}
// True if one vector is taken as floats, instead of in Q8_1, which takes another launch.
//
// Measured likewise, f16 activations; each pair: with the conversion to Q8_1, without. No launch
// took less than 4:
//                   Q4_0         Q8_0         Q4_K         Q6_K
//   1024 x 4096     7.6   4.9    7.7   6.1    8.1   5.6    9.9   5.6
//   4096 x 4096     9.9  10.3   11.3  11.7   10.0  13.0   13.2  12.4
//   14336 x 4096   16.9  24.9   22.8  29.7   19.6  33.5   31.1  36.4
constexpr bool prefers_floats(unsigned long long rows, unsigned long long columns) {
  return rows * columns <= 1u << 23;
}
// From this many tasks per expert, tasks are sorted by expert.
//
// Measured on an H200, Q4_K, 2048 x 4096 per expert, in us, all launches, f16 to f16, sorted tasks
// in Q8_1; half_products.hpp has the times as f16:
//   tasks                 32     64    128    256    512    2048    8192
//   8 experts, each       41     78           292
//     sorted              51     52            93            309    1057
//   64 experts, each             83    162    320    635
//     sorted                    181    233    285    292     416    1149
inline constexpr unsigned kSortedTasksOfExpert = 5;

// Up to this many vectors are taken eight at a time, by kernels that take up to eight. That holds
// if these kernels hold vectors, or if matrices have few rows and the format's blocks have no byte
// for each value. Otherwise vectors are taken by tiles.
//
// Measured on an H200, 16 vectors, in us; each pair: two launches, one launch:
//                      Q4_0         Q4_K         Q6_K         Q8_0
//    4096 x 4096    20.8  24.0   22.3  27.1   25.6  34.6   34.4  26.8
//   14336 x 4096    56.3  42.7   59.6  54.4   69.2  57.7    101  50.3
//    1024 x 1024     5.8   6.3    5.9   7.3    6.2   8.8    7.1   7.0
// With held vectors, two launches take twice the time given at goes_held().
constexpr unsigned few_vectors(unsigned long long rows, bool has_bytes, bool are_held) {
  return are_held || (rows < 8192 && !has_bytes) ? 16 : 8;
}

// How a product with many vectors is cut: the rows and vectors of a tile, and the threads of the
// block that makes it. Tiles are small if large ones would not fill the device. Blocks are large if
// there are no more than two for each multiprocessor.
//
// Measured on an H200, Q4_0, in us:
//   threads                  128    256    128    256    128    256
//   rows x vectors         64x64  64x64  32x64  32x64  32x32  32x32
//   4096 x 4096 by 16       35.6   32.4   24.8   23.3
//   4096 x 4096 by 64       56.1   49.0   38.6   34.8   31.3   28.6
//   4096 x 4096 by 128      55.4   48.7   45.2   40.6   44.1   53.8
//   4096 x 4096 by 512       107    118    124    145    156    199
//   14336 x 4096 by 64      72.0   62.9   71.6   76.2   86.6    100
//   4096 x 14336 by 64       190    166    126    111   97.3   88.6
struct Tile {
  unsigned rows, vectors, threads;
};
constexpr Tile tile_of(unsigned rows, unsigned long long tiles_of_vectors,
                       unsigned multiprocessors) {
  const unsigned long long tiles = (rows + 63) / 64 * tiles_of_vectors;
  return {tiles <= multiprocessors ? 32u : 64u, 2 * tiles <= multiprocessors ? 32u : 64u,
          tiles <= 2ull * multiprocessors ? 256u : 128u};
}

}  // namespace kiln::tuning
