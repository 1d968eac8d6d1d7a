// How rows are sorted. Plain C++17, for device code and host programs.
#pragma once

#include "workspace.hpp"

namespace kiln::tuning {

// Columns of a row that a block sorts by counting, a thread each.
inline constexpr unsigned kMostCounted = 256;

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
