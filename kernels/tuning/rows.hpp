// How kernels that work on rows are spread over a GPU. Plain C++17, for device code and host
// programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// Rows of up to so many pieces for each lane, a piece being what one access moves, go to a wave or
// less; longer ones to a whole block.
inline constexpr unsigned kPiecesOfLane = 8;
// The same of reductions where every wave has a row.
inline constexpr unsigned kAnyPiecesOfLane = 1u << 25;

// Pieces that a thread of a reduction has on their way at once; a lane takes as many of its row where there
// is a piece for every fourth thread of the device. H200, us by one and by four: fast_sum_f64 7092x64 5.4,
// 3.8; fast_sum_f32 131072x33 20.1, 10.8; fast_max_f16 20000x100 7.7, 4.3; fast_argmax_f32 8192x128 6.5, 4.2.
inline constexpr unsigned kPiecesAhead = 4, kManyPieces = 4;

// Elements from where on neighbouring rows are read together, so many at least; and of a row, up to
// which blocks that share none are faster.
inline constexpr unsigned kAcross = 1u << 17, kFewestAcross = 2, kAcrossAlone = 4096;

// Pieces of a softmax's row, of 16 bytes, that a thread keeps; and how many it has at most of one of
// many rows that a wave takes. H200, 131072x333 f64: 249 us by a wave, 305 by two.
inline constexpr unsigned kSoftmaxPieces = 4;
constexpr unsigned softmax_walked(unsigned element_bytes) {
  return (element_bytes == 8 ? 2 : 1) * kSoftmaxPieces;
}

// Whether a row of so many whole pieces, which a wave takes, has a block of its own, as in the reference's
// launch: blocks that go on over rows wait for each row's first bytes. Of waves of 32 lanes, of which such a
// row has more than two pieces a lane. H200, us so and by blocks of four waves: f16 65536x1024 66, 75; f32
// 65536x512 66, 76; f64 131072x333 254, 281; but f16 131072x333 81, 50.
constexpr bool softmax_alone(Architecture architecture, unsigned long long pieces) {
  const bool waves_of_64 =
      architecture == Architecture::kCdna2 || architecture == Architecture::kCdna3;
  return !waves_of_64 && architecture != Architecture::kHost && pieces > 2 * 32;
}

// Elements of a short row that a thread keeps; and how many bytes it has at most, for each lane of a
// wave, where there are many. H200, f16 of 131072 rows by elements and by chunks, us: 17 columns 11,
// 38; 33 columns 21, 38; 100 columns 44, 38. f64 of 33 columns: 51, 23.
constexpr unsigned softmax_elements(unsigned element_bytes) { return element_bytes == 8 ? 2 : 4; }
inline constexpr unsigned kSoftmaxShort = 4;

// The same of norms. H200, layernorm_f16, us by elements and by chunks: 12x5 1.3, 2.0; 4096x12 1.5,
// 2.5; 33000x15 3.3, 4.4.
inline constexpr unsigned kNormElements = 2;

// What softmax and norms take as `n_cols`: the columns; or a number below zero: the complement of the
// columns in the lower bits, and of the rows that are missing from the last block.
inline constexpr unsigned kColumnBits = 20, kMissingBits = 10;
constexpr int columns_and_missing(unsigned columns, unsigned missing) {
  return static_cast<int>(missing == 0 ? columns : ~(columns | missing << kColumnBits));
}

// Rows of softmax that a block stages, each of which one thread takes; 0 where rows go to several
// threads: long ones, few, those of whole pieces, which would meet in the banks of shared memory, and
// those of eight bytes. H200, us by several and by one: f16 8192x17 4.2, 3.1; 8192x33 5.6, 3.9;
// 131072x77 38, 18; f32 131072x33 20.6, 11.6; but f16 2048x33 2.7, 3.7; 8192x50 3.9, 4.7;
// 8192x77 4.2, 6.1; f32 8192x50 3.8, 5.0; 131072x150 50, 54.
constexpr unsigned staged_rows(const Spread& device, unsigned long long rows, unsigned columns,
                               unsigned element_bytes) {
  const unsigned long long bytes = 1ull * columns * element_bytes;
  if (element_bytes == 8 || bytes % 16 == 0 || bytes > (element_bytes == 2 ? 320 : 256)) return 0;
  if (rows < 100 * bytes) return 0;
  unsigned block = bytes <= 192 ? 128 : 64;
  while (block > 32 && rows < 2ull * block * device.multiprocessors) block /= 2;
  return block;
}

// Whether norms walk rows that are no whole pieces of 16 bytes by chunks of four elements, and not
// element by element. Of eight bytes that is no faster, and layernorm_f32 would spill on sm_80.
// H200, us by elements and by chunks: rmsnorm_f16 131072x333 84, 60; rmsnorm_f32 131072x33 16, 12;
// layernorm_f16 3x100003 39, 29.
constexpr bool norms_loosely(unsigned element_bytes, bool centered) {
  return element_bytes == 2 || (element_bytes == 4 && !centered);
}

// Our own geometry for `rows` rows of so many pieces: a wave takes a row of up to `most` a lane. A
// block that takes long rows has a thread for every `each` pieces, so that all of a row is on its
// way at once. Derived; the numbers of H200 runs are in docs/PERFORMANCE.md.
constexpr Launch over_rows(const Spread& device, unsigned long long rows, unsigned long long pieces,
                           unsigned each, unsigned most) {
  constexpr unsigned kWave = 32;
  unsigned long long lanes = 1;
  while (lanes < kWave && lanes < pieces) lanes *= 2;
  // Of more rows than threads the blocks of a launch are many, and of small ones half would work
  // (families/team.cuh). H200, softmax_f64 of 1048576x64: 376 us by blocks of 128, 281 by 512.
  if (pieces <= most * lanes) {
    return device.over(rows * lanes, rows > 2 * device.resident() ? 512 : 128);
  }
  unsigned block = 64;
  while (block < 1024 && block * each < pieces) block *= 2;
  return device.over(rows * block, block);
}

// The same where neighbouring rows are neighbours in memory, of few elements each: a block for each
// row, or for as many rows as a kernel then gives it (families/team.cuh).
constexpr Launch across_rows(const Spread& device, unsigned long long rows,
                             unsigned long long elements) {
  unsigned long long count = rows <= device.multiprocessors ? 1 : 32;
  while (count > kFewestAcross && 2 * rows <= count * device.multiprocessors) count /= 2;
  unsigned block = 64;
  while (block < 1024 && block < elements * count) block *= 2;
  return device.over((rows + count - 1) / count * block, block);
}

}  // namespace kiln::tuning
