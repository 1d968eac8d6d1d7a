// How kernels that work on rows are spread over a GPU. Plain C++17, for device code and host
// programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// Rows of up to this many pieces per lane go to a wave or less, longer rows to a whole block. A
// piece is what one access moves.
inline constexpr unsigned kPiecesOfLane = 8;
// The same for reductions in which every wave has a row.
inline constexpr unsigned kAnyPiecesOfLane = 1u << 25;

// Number of pieces that a thread of a reduction has in flight at once. A lane takes as many pieces
// of its row if there are more pieces than a fourth of the device's threads.
// Measured on an H200, in us, one piece -> four: fast_sum_f64 7092x64 5.4 -> 3.8; fast_sum_f32
// 131072x33 20.1 -> 10.8; fast_max_f16 20000x100 7.7 -> 4.3; fast_argmax_f32 8192x128 6.5 -> 4.2.
inline constexpr unsigned kPiecesAhead = 4, kManyPieces = 4;

// kAcross: number of elements from which rows that are neighbours in memory are read together.
// kMinAcross: minimum number of rows read together. kAcrossAlone: row length up to which it is
// faster not to split the rows.
inline constexpr unsigned kAcross = 1u << 17, kMinAcross = 2, kAcrossAlone = 4096;

// Number of 16-byte pieces of a softmax row that a thread keeps. softmax_walked() is the maximum
// number of pieces per thread of a row that a wave takes, if there are many rows.
// Measured on an H200, 131072x333 f64, in us: 249 by one wave, 305 by two.
inline constexpr unsigned kSoftmaxPieces = 4;
constexpr unsigned softmax_walked(unsigned element_bytes) {
  return (element_bytes == 8 ? 2 : 1) * kSoftmaxPieces;
}

// Maximum number of threads of a block that exits after its rows. Such blocks read memory in order.
// Larger ones stay, since their waves then load a row while others still write the last one.
// Measured on an H200, in us, staying -> exiting: f16 32768x4096, blocks of 128 threads, 147 ->
// 135; f32 700x3072, of 256 threads, 8.2 -> 9.0; f16 4096x32000, of 1024 threads, 176 -> 194.
inline constexpr unsigned kSoftmaxExits = 128;

// True if a row of `pieces` whole pieces, which a wave takes, has a block of its own, as in the
// reference geometry. Blocks that take several rows would wait for the first bytes of each. Applies
// to waves of 32 lanes with more than two pieces per lane.
// Measured on an H200, in us, a block for each row and blocks of four waves: f16 65536x1024 66, 75;
// f32 65536x512 66, 76; f64 131072x333 254, 281; but f16 131072x333 81, 50.
constexpr bool softmax_alone(Architecture architecture, unsigned long long pieces) {
  const bool waves_of_64 =
      architecture == Architecture::kCdna2 || architecture == Architecture::kCdna3;
  return !waves_of_64 && architecture != Architecture::kHost && pieces > 2 * 32;
}

// Number of elements of a short row that a thread keeps. kSoftmaxShort is the maximum size of a
// short row in bytes per lane of a wave, if there are many rows.
// Measured on an H200, f16, 131072 rows, in us, by elements and by chunks: 17 columns 11, 38; 33
// columns 21, 38; 100 columns 44, 38. f64, 33 columns: 51, 23.
constexpr unsigned softmax_elements(unsigned element_bytes) { return element_bytes == 8 ? 2 : 4; }
inline constexpr unsigned kSoftmaxShort = 4;

// The same for norms.
// Measured on an H200, layernorm_f16, in us, by elements and by chunks: 12x5 1.3, 2.0; 4096x12 1.5,
// 2.5; 33000x15 3.3, 4.4.
inline constexpr unsigned kNormElements = 2;

// The value of the parameter `n_cols` of softmax and norms. It is the number of columns, if no rows
// are missing from the last block. Otherwise it is the complement, which is negative, of the
// columns in the lower bits and the missing rows above them.
inline constexpr unsigned kColumnBits = 20, kMissingBits = 10;
constexpr int columns_and_missing(unsigned columns, unsigned missing) {
  return static_cast<int>(missing == 0 ? columns : ~(columns | missing << kColumnBits));
}

// Number of softmax rows that a block stages, each of which one thread takes. It is 0 if several
// threads share a row: for long rows, few rows, eight-byte elements, and rows of whole pieces,
// which would cause bank conflicts.
// Measured on an H200, in us, several threads and one: f16 8192x17 4.2, 3.1; 8192x33 5.6, 3.9;
// 131072x77 38, 18; f32 131072x33 20.6, 11.6; but f16 2048x33 2.7, 3.7; 8192x50 3.9, 4.7; 8192x77
// 4.2, 6.1; f32 8192x50 3.8, 5.0; 131072x150 50, 54.
constexpr unsigned staged_rows(const Spread& device, unsigned long long rows, unsigned columns,
                               unsigned element_bytes) {
  const unsigned long long bytes = 1ull * columns * element_bytes;
  if (element_bytes == 8 || bytes % 16 == 0 || bytes > (element_bytes == 2 ? 320 : 256)) return 0;
  if (rows < 100 * bytes) return 0;
  unsigned block = bytes <= 192 ? 128 : 64;
  while (block > 32 && rows < 2ull * block * device.multiprocessors) block /= 2;
  return block;
}

// True if norms walk rows that are not whole 16-byte pieces in chunks of four elements, instead of
// element by element. For eight-byte elements that is no faster, and layernorm_f32 would spill on
// sm_80.
// Measured on an H200, in us, elements -> chunks: rmsnorm_f16 131072x333 84 -> 60; rmsnorm_f32
// 131072x33 16 -> 12; layernorm_f16 3x100003 39 -> 29.
constexpr bool norms_loosely(unsigned element_bytes, bool centered) {
  return element_bytes == 2 || (element_bytes == 4 && !centered);
}

// kiln's own geometry for `rows` rows of `pieces` pieces. A wave takes a row of up to `most` pieces
// per lane. The block of a longer row has a thread for every `each` pieces, so that the whole row
// is in flight at once. Derived, not measured here; docs/PERFORMANCE.md has results on an H200.
constexpr Launch over_rows(const Spread& device, unsigned long long rows, unsigned long long pieces,
                           unsigned each, unsigned most) {
  constexpr unsigned kWave = 32;
  unsigned long long lanes = 1;
  while (lanes < kWave && lanes < pieces) lanes *= 2;
  // With more rows than threads a launch has many blocks, and only half of them would work if
  // blocks were small (families/team.cuh).
  // Measured on an H200, softmax_f64 of 1048576x64, in us, blocks of 128 -> 512: 376 -> 281.
  if (pieces <= most * lanes) {
    return device.over(rows * lanes, rows > 2 * device.resident() ? 512 : 128);
  }
  unsigned block = 64;
  while (block < 1024 && block * each < pieces) block *= 2;
  return device.over(rows * block, block);
}

// The same for rows that are neighbours in memory, of few elements each: a block for each row, or
// for as many rows as a kernel then gives it (families/team.cuh).
constexpr Launch across_rows(const Spread& device, unsigned long long rows,
                             unsigned long long elements) {
  unsigned long long count = rows <= device.multiprocessors ? 1 : 32;
  while (count > kMinAcross && 2 * rows <= count * device.multiprocessors) count /= 2;
  unsigned block = 64;
  while (block < 1024 && block < elements * count) block *= 2;
  return device.over((rows + count - 1) / count * block, block);
}

}  // namespace kiln::tuning
