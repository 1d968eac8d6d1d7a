// How rows are sorted. Plain C++17, for device code and host programs.
#pragma once

#include "workspace.hpp"

namespace kiln::tuning {

// Columns of a row that a block sorts by counting, a thread each; and where it could merge them, too.
inline constexpr unsigned kMostCounted = 256, kFewCounted = 64;

// Columns, a power of two, for each of which a block of our own has a thread. H200, us by merging and
// in registers: 8 rows of 512 f32 7.2, 11.1, f64 7.9, 18.5; of 1024 f32 11.8, 10.6, f64 13.7, 18.0;
// 4096 rows of 512 f32 140, 63, f64 163, 113.
constexpr unsigned most_merged(unsigned multiprocessors, unsigned long long rows,
                               unsigned element_bytes) {
  if (rows > multiprocessors || element_bytes < 4) return kMostCounted;
  return element_bytes == 8 ? 1024 : 512;
}

// Columns that each thread of a block holds at most.
inline constexpr unsigned kSortItems = 8;

// Sorts of long rows: a row is cut into parts, of which a block takes one.
struct LongSort {
  unsigned parts;
  unsigned rows;     // that are sorted at once
  unsigned threads;  // of a block
};

// A digit has eight bits, and each takes two steps.
inline constexpr unsigned kDigits = 256;
inline constexpr unsigned kStepsOfDigit = 2;
// Bits of what they give: in descending order; elements, and not their columns.
inline constexpr unsigned kSortDescending = 1;
inline constexpr unsigned kSortElements = 2;

// The workspace of a sort by steps has, behind the counters, for each row that is sorted at once so
// many words that say where its records lie, then kDigits counts for each part of each row, then
// twice as many sums for each group of parts of each row, then the copies of all keys, then those
// of all columns.
inline constexpr unsigned kSortStates = 16;
inline constexpr unsigned kPartsOfGroup = 12;

// As many rows as the workspace should hold; parts of a thousand columns and more, and few of them:
// each block reads the counts of all parts.
constexpr LongSort sort_long(unsigned multiprocessors, unsigned long long rows,
                             unsigned long long columns) {
  constexpr unsigned long long kFewest = 1024, kRecords = 1ull << 24;
  const unsigned long long fit = columns < kRecords ? kRecords / columns : 1;
  const unsigned long long together = rows < fit ? rows : fit;
  const unsigned long long most = columns / kFewest, wanted = multiprocessors / together;
  const unsigned long long parts = wanted < most ? wanted : most;
  return {static_cast<unsigned>(parts < 1 ? 1 : parts), static_cast<unsigned>(together), 1024};
}

// Of all records of keys of so many digits, the workspace has so many copies.
constexpr unsigned copies_of(unsigned digits) { return digits < 3 ? digits - 1 : 2; }

}  // namespace kiln::tuning
