// How rows are cut into parts, to give the whole device work. Plain C++17, for host programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// Rows in parts of `each` elements. If there is one part, a block takes a row, or as many rows as a
// wave has lanes.
struct Split {
  unsigned parts;
  unsigned each;
  Launch launch;
};
inline constexpr unsigned kSplitThreads = 256;
inline constexpr unsigned kSplitBlocks = 3;  // of these threads, on a multiprocessor
// The same for rows whose elements are not neighbours: as many blocks as have registers for what
// they read ahead.
// Measured on an H200, columns of 8192x8192, in us, three blocks -> this many: f32 86 -> 70; f16
// 68 -> 61; f64 133 -> 124.
constexpr unsigned split_apart_blocks(unsigned element_bytes) {
  return element_bytes == 8 ? 4 : element_bytes == 2 ? 5 : 6;
}

// Makes parts of whole memory lines, of at most 2^30 elements each.
constexpr Split split_into(unsigned long long parts, unsigned long long groups,
                           unsigned long long elements) {
  constexpr unsigned long long kWhole = 128, kMaxPart = 1u << 30;
  const unsigned long long fewest = (elements + kMaxPart - 1) / kMaxPart;
  if (parts < fewest) parts = fewest;
  const unsigned long long each = ((elements + parts - 1) / parts + kWhole - 1) / kWhole * kWhole;
  parts = (elements + each - 1) / each;
  constexpr unsigned long long kMaxBlocks = 1u << 24;  // kernels loop over the rest
  const unsigned long long blocks = groups * parts;
  return {static_cast<unsigned>(parts),
          static_cast<unsigned>(each),
          {static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks), kSplitThreads}};
}

// A block takes a part of a row of `pieces` pieces, at least one piece for each thread. A piece is
// what one access moves. A row stays whole if it would have fewer than four parts.
constexpr Split split_rows(const Spread& device, unsigned long long rows,
                           unsigned long long elements, unsigned long long pieces) {
  const unsigned long long wanted = device.multiprocessors * kSplitBlocks / rows;
  const unsigned long long most = pieces / kSplitThreads;
  const unsigned long long parts = wanted < most ? wanted : most;
  return split_into(parts < 4 ? 1 : parts, rows, elements);
}

// Reductions of rows whose elements are neighbours: long ones in parts, others whole, by blocks with
// a thread for every four pieces, or for every eight if there are more threads than the device
// holds. There are no parts if the kernel that reads a layout is faster: for rows of few elements,
// and for many rows that are short or, if the result is an index, long.
// Measured on an H200, operands in the cache, in us, by the kernel that reads a layout -> this:
// fast_sum_f16 1x4096 2.39 -> 1.77; fast_sum_f32 300x5120 4.95 -> 3.22; 2112x256 2.85 -> 2.86;
// 4224x256 3.30 -> 4.22; fast_argmax_f32 64x8192 4.48 -> 3.01; fast_argmax_u8 7x77 1.77 -> 1.99; in
// memory: fast_sum_f32 2048x16384 41 -> 33; fast_argmax_f32 32768x4096 123 -> 130; fast_argmax_i64
// 50257x768 75 -> 88.
constexpr Split reduction_parts(const Spread& device, unsigned long long rows,
                                unsigned long long elements, unsigned element_bytes,
                                bool gives_index) {
  constexpr unsigned kMaxWhole = 3072, kMaxElements = 24576;  // of a row that stays whole
  constexpr unsigned kManyRows = 16, kShort = 80;  // rows for each multiprocessor; pieces
  constexpr unsigned kWave = 32, kWaves = 32;      // waves of a multiprocessor
  const unsigned long long pieces = (elements * element_bytes + 15) / 16;
  if (pieces > kMaxWhole || elements > kMaxElements) {
    const unsigned long long wanted = (device.multiprocessors * kSplitBlocks + rows / 2) / rows;
    const unsigned long long most = pieces / kSplitThreads;
    const unsigned long long parts = wanted < most ? wanted : most;
    if (parts > 1) return split_into(parts, rows, elements);
  }
  const bool many = rows > 1ull * kManyRows * device.multiprocessors;
  const unsigned long_index = element_bytes == 8 ? 256 : 512;
  const unsigned fewest = elements * element_bytes % 16 == 0 ? 64 : 128;
  if (elements < fewest || (many && (pieces <= kShort || (gives_index && pieces > long_index)))) {
    return {0, 0, {}};
  }
  unsigned threads = kWave;
  while (threads < kSplitThreads && 4 * threads < pieces) threads *= 2;
  if (threads > kWave && 4 * threads >= pieces && rows * threads > device.resident()) threads /= 2;
  Split split = split_into(1, rows, elements);
  split.launch.threads = threads;
  // Blocks of one wave do not start as fast as they end, so they loop over the rows.
  const unsigned at_once = kWaves * device.multiprocessors;
  if (threads == kWave && split.launch.blocks > at_once) split.launch.blocks = at_once;
  return split;
}

// Splits long rows of softmax, or makes `parts` parts if that is not 0. A block takes four pieces a
// thread, or fewer, until there are three blocks for each multiprocessor, or more, once there are as
// many as a multiprocessor holds. A row stays whole if its block keeps it in registers, or if the
// whole rows that are worked on fit in the cache, and there are enough of them.
// Measured on an H200, in us, a block for each row -> parts: f32 1x16384 5.8 -> 4.7; 1x128256
// 35 -> 6.9; 64x50257 21 -> 16; 64x128256 44 -> 31; 512x262144 669 -> 410; f16 1x128256 21 -> 6.7;
// 24x50257 12 -> 7.7; 64x128256 23 -> 18; but f16 64x32000 7.5 -> 9.1; f32 256x32000 30 -> 31.
constexpr Split softmax_parts(const Spread& device, unsigned long long rows,
                              unsigned long long columns, unsigned element_bytes, unsigned parts) {
  constexpr unsigned kMaxWhole = 3072, kMaxKept = 4096, kMaxCached = 12288, kMaxRows = 1u << 16;
  constexpr unsigned kFewBlocks = 3, kMaxBlocks = 8;  // for each multiprocessor
  const unsigned long long pieces = (columns * element_bytes + 15) / 16;
  if (parts != 0) return split_into(parts, rows, columns);
  const unsigned long long most = pieces <= kMaxWhole    ? 0
                                  : pieces <= kMaxKept   ? device.multiprocessors / 5
                                  : pieces <= kMaxCached ? device.multiprocessors / 2
                                                         : kMaxRows;
  if (rows > most) return {1, 0, {}};
  const unsigned long long fewest = device.multiprocessors * kFewBlocks;
  const unsigned long long limit = device.multiprocessors * kMaxBlocks;
  unsigned long long blocks = rows * pieces / (4 * kSplitThreads);
  blocks = blocks < fewest ? fewest : blocks < limit ? blocks : limit;
  const unsigned long long of_row = (pieces + kSplitThreads - 1) / kSplitThreads;
  const unsigned long long wanted = blocks / rows < of_row ? blocks / rows : of_row;
  return split_into(wanted < 2 ? 2 : wanted, rows, columns);
}

// The same for norms, in which a thread has at least one element. The more rows there are, the
// longer they must be.
// Measured on an H200, in us, a block for each row -> parts: layernorm_f32 1x32000 8.7 -> 5.6;
// 1x151936 32 -> 7.8; 4x50257 32 -> 7.4; 16x50257 31 -> 13; rmsnorm_f16 1x50257 9.0 -> 4.4; but
// 4x16384 3.6 -> 4.5; layernorm_f32 16x16384 6.1 -> 8.4.
constexpr Split norm_parts(const Spread& device, unsigned long long rows,
                           unsigned long long columns, unsigned element_bytes, unsigned parts) {
  constexpr unsigned kMaxBytes = 1u << 16, kMinBytesOfRow = 1u << 13;
  const unsigned long long bytes = columns * element_bytes;
  if (parts != 0) return split_into(parts, rows, columns);
  if (bytes <= kMaxBytes || bytes < kMinBytesOfRow * rows || 8 * rows > device.multiprocessors) {
    return {1, 0, {}};
  }
  return split_rows(device, rows, columns, columns);
}

// The same for rows that are neighbours in memory. Each wave reads at least 32 elements of its
// part.
constexpr Split split_across(const Spread& device, unsigned long long rows,
                             unsigned long long elements, unsigned element_bytes) {
  constexpr unsigned kWave = 32;
  const unsigned long long groups = (rows + kWave - 1) / kWave;
  const unsigned long long wanted =
      device.multiprocessors * split_apart_blocks(element_bytes) / groups;
  const unsigned long long most = elements / (kSplitThreads / kWave * 32);
  const unsigned long long parts = wanted < most ? wanted : most;
  return split_into(parts < 1 ? 1 : parts, groups, elements);
}

}  // namespace kiln::tuning
