// How rows are cut into parts, to give the whole device work. Plain C++17, for host programs.
#pragma once

#include "elementwise.hpp"

namespace kiln::tuning {

// Rows in parts of `each` elements. If there is one part, a block takes a row, as many rows as a
// wave has lanes, or as many as it has threads for `lanes` each.
struct Split {
  unsigned parts;
  unsigned each;
  Launch launch;
  unsigned lanes = 0;  // of one wave
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

// Number of lanes for a row of a reduction: a lane has up to eight pieces, more of long rows. With
// few rows, there are more lanes, but no more than pieces or two. Measured on an H200,
// fast_sum_f32, in us, by 2, 4, 8, 16, 32 lanes: operands in the cache, 20000x33 2.69, 2.38, 2.84,
// -, -; 16384x128 3.39, 2.92, 2.94, 3.76, -; 3072x333 -, -, 2.86, 2.74, 2.63; in memory, 131072x333
// -, 48.0, 44.8, 47.6, -.
constexpr unsigned lanes_of_row(const Spread& device, unsigned long long rows,
                                unsigned long long pieces) {
  constexpr unsigned kMaxPieces[] = {4, 8, 20, 96, 192};  // for 1, 2, 4, 8, 16 lanes
  unsigned lanes = 1;
  for (const unsigned most : kMaxPieces) lanes *= pieces > most ? 2 : 1;
  const unsigned long long room = device.resident() * 2ull / 5;
  while (lanes < 32 && (lanes < 2 || 2 * lanes <= pieces) && 2 * lanes * rows <= room) lanes *= 2;
  return lanes;
}

// Reductions of rows whose elements are neighbours: long rows in parts, medium ones by a block
// each, with a thread for every four pieces, and short ones or very many by a few lanes each. There
// are no parts if the kernel that reads a layout is faster: for few short rows. Measured on an
// H200, operands in the cache, in us, by the kernel that reads a layout -> this: fast_sum_f16
// 1x4096 2.39 -> 1.77; fast_sum_f32 300x5120 4.95 -> 3.22; 20000x8 13.6 -> 1.7; 4096x768 5.20 ->
// 3.48; fast_argmax_f32 64x8192 4.48 -> 3.01; in memory: fast_sum_f32 2048x16384 41 -> 33;
// fast_argmax_f32 131072x333 81 -> 49; but fast_argmax_f32 7x77 1.72 -> 1.86.
constexpr Split reduction_parts(const Spread& device, unsigned long long rows,
                                unsigned long long elements, unsigned element_bytes,
                                bool gives_index) {
  constexpr unsigned kMaxWhole = 3072, kMaxElements = 24576;  // of a row that stays whole
  constexpr unsigned kMaxOfLanes = 256, kMaxOfFew = 128;      // pieces
  constexpr unsigned kManyRows = 16;                          // for each multiprocessor
  const unsigned long long pieces = (elements * element_bytes + 15) / 16;
  const unsigned long long multiprocessors = device.multiprocessors;
  if (pieces > kMaxWhole || elements > kMaxElements) {
    const unsigned long long wanted = (multiprocessors * kSplitBlocks + rows / 2) / rows;
    const unsigned long long most = pieces / kSplitThreads;
    const unsigned long long parts = wanted < most ? wanted : most;
    // One large block for each multiprocessor is faster than three parts. It counts in 32 bits.
    if (4 * rows > 3 * multiprocessors && rows <= multiprocessors && elements >> 31 == 0) {
      return {0, 0, {}};
    }
    if (parts > 1) return split_into(parts, rows, elements);
  }
  const bool aligned = elements * element_bytes % 16 == 0;
  if ((elements < 16 && rows <= multiprocessors) ||
      (elements < 128 && !aligned && 4 * rows <= multiprocessors)) {
    return {0, 0, {}};
  }
  Split split = split_into(1, rows, elements);
  if (split.parts > 1) return split;  // more elements than a part may have
  const bool few = 2 * 32 * rows <= device.resident() * 2ull / 5;
  const bool many = rows > kManyRows * multiprocessors;
  if (pieces <= (few ? kMaxOfFew : kMaxOfLanes) || (gives_index && many)) {
    split.lanes = lanes_of_row(device, rows, pieces);
    unsigned threads = split.lanes <= 2 ? 256 : 128;
    while (threads > 32 && rows * split.lanes < threads * multiprocessors) threads /= 2;
    const unsigned each = threads / split.lanes;
    split.launch = {static_cast<unsigned>((rows - 1) / each + 1), threads};
    return split;
  }
  unsigned threads = 64;
  while (threads < kSplitThreads && 4 * threads < pieces) threads *= 2;
  if (threads > 64 && 4 * threads >= pieces && rows * threads > device.resident()) threads /= 2;
  split.launch.threads = threads;
  return split;
}

// Splits long rows of softmax, or makes `parts` parts if that is not 0. A block takes four pieces a
// thread, or fewer, until there are three blocks for each multiprocessor, or more, once there are
// as many as a multiprocessor holds. A row stays whole if its block keeps it in registers, or if
// the whole rows that are worked on fit in the cache, and there are enough of them. Measured on an
// H200, in us, a block for each row -> parts: f32 1x16384 5.8 -> 4.7; 1x128256 35 -> 6.9; 64x50257
// 21 -> 16; 64x128256 44 -> 31; 512x262144 669 -> 422; f16 1x128256 21 -> 6.7; 24x50257 12 -> 7.7;
// 64x128256 23 -> 18; but f16 64x32000 7.5 -> 9.1; f32 256x32000 30 -> 31.
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
