// How rows are sorted. Plain C++17, for device code and host programs.
#pragma once

#include "workspace.hpp"

namespace kiln::tuning {

// Maximum number of columns of a row that a block sorts by counting, with a thread for each. The
// smaller number holds if the block could also merge the row.
inline constexpr unsigned kMaxCounted = 256, kFewCounted = 64;

// Maximum number of columns, a power of two, for which a block of kiln's own geometry has a thread
// each.
// Measured on an H200, in us, merging and in registers: 8 rows of 512, f32 7.2, 11.1, f64 7.9,
// 18.5; 8 rows of 1024, f32 11.8, 10.6, f64 13.7, 18.0; 4096 rows of 512, f32 140, 63, f64 163,
// 113.
constexpr unsigned max_merged(unsigned multiprocessors, unsigned long long rows,
                              unsigned element_bytes) {
  if (rows > multiprocessors || element_bytes < 4) return kMaxCounted;
  return element_bytes == 8 ? 1024 : 512;
}

// Maximum number of columns that a thread of a block holds.
inline constexpr unsigned kSortItems = 8;

// A sort of long rows. A row is cut into parts, and a block takes one part.
struct LongSort {
  unsigned parts;
  unsigned rows;     // sorted at once
  unsigned threads;  // of a block
};

// A digit has eight bits, and sorting by it takes two steps.
inline constexpr unsigned kDigits = 256;
inline constexpr unsigned kStepsOfDigit = 2;
// Bits of a sort's options: descending order; elements as the result, not their columns.
inline constexpr unsigned kSortDescending = 1;
inline constexpr unsigned kSortElements = 2;

// After its counters, the workspace of a sort by steps has, for the rows that are sorted at once:
// kSortStates words for each row, which say where its records are; kDigits counts for each part of
// each row; twice as many sums for each group of parts of each row; copies of all keys; copies of
// all columns.
inline constexpr unsigned kSortStates = 16;
inline constexpr unsigned kPartsOfGroup = 12;

// Sorts as many rows at once as the workspace should hold. Parts have at least a thousand columns,
// and there are few of them, because each block reads the counts of all parts.
constexpr LongSort sort_long(unsigned multiprocessors, unsigned long long rows,
                             unsigned long long columns) {
  constexpr unsigned long long kMin = 1024, kRecords = 1ull << 24;
  const unsigned long long fit = columns < kRecords ? kRecords / columns : 1;
  const unsigned long long together = rows < fit ? rows : fit;
  const unsigned long long most = columns / kMin, wanted = multiprocessors / together;
  const unsigned long long parts = wanted < most ? wanted : most;
  return {static_cast<unsigned>(parts < 1 ? 1 : parts), static_cast<unsigned>(together), 1024};
}

// Number of copies of all records in the workspace, for keys of `digits` digits.
constexpr unsigned copies_of(unsigned digits) { return digits < 3 ? digits - 1 : 2; }

}  // namespace kiln::tuning
