// The orders of sort.cuh, for rows that several blocks share. The kernel is launched twice for each
// digit of the keys, the lowest digit first:
//
//   count   each block counts the digits of its part of the row, and adds them to its group's sums
//   move    each block finds where its records go: behind the row's smaller digits, and behind
//           equal digits of the parts before its own. It moves them there, a block sort at a time.
//
// A digit that all keys of a row share is skipped, except the last digit. If not all rows fit into
// the workspace, they are sorted in several rounds.
#pragma once

#include "device/block_sort.cuh"
#include "device/platform.cuh"
#include "families/sort_key.cuh"
#include "tuning/sort.hpp"

namespace kiln::families {

using namespace device;

struct LongSortScratch {
  SortScratch sort;
  u32 at[kSortDigits];     // where the next record of a digit goes
  u32 whole[kSortDigits];  // records of a digit in the row
  u32 is_shared;           // all keys of the row have the same digit
};

// Blocks have whole waves and 32 bytes of dynamic shared memory per thread. There is a block for
// each part of the rows that are sorted at once.
template <class T>
struct LongSort {
  using Key = SortKey<T>;
  static constexpr u32 kDigitsOfKey = sizeof(T);
  // Records that a thread loads at once. Measured on an H200, in us, 4 -> 8: one row of 2^24 f32
  // 1204 -> 1095.
  static constexpr u32 kAhead = sizeof(Key) == 8 ? 4 : 8;
  static constexpr u32 kCopies = tuning::copies_of(kDigitsOfKey);

  const T* x;  // the row
  void* dst;   // results of all rows
  u64 row;
  u32 columns, parts, part, digit, order;
  u32* states;  // of the row: where its records lie before each digit
  u32* counts;  // of each digit's value in each part of the row
  u32* sums;    // of each digit's value in each group of parts, twice
  Key* keys;    // of the row, in the first copy
  u32* values;
  u64 copy;  // records from one copy to the next

  // Returns where the row's records lie: 0 for the input itself, otherwise the number of a copy.
  KILN_DEVICE u32 source() const { return digit == 0 ? 0 : states[digit]; }
  KILN_DEVICE Key key_of(u32 from, u32 i) const {
    return from == 0 ? sort_key(x[i], (order & tuning::kSortDescending) != 0)
                     : keys[(from - 1) * copy + i];
  }
  KILN_DEVICE u32 digit_of(Key key) const { return static_cast<u32>(key >> 8 * digit) & 255u; }

  KILN_DEVICE void count(LongSortScratch& scratch, u32 first, u32 end) const {
    const u32 threads = block_threads(), self = thread_rank(), from = source();
#pragma unroll 1
    for (u32 d = self; d < kSortDigits; d += threads) scratch.at[d] = 0;
    barrier();
#pragma unroll 1
    for (u32 start = first + self; start < end; start += kAhead * threads) {
      Key key[kAhead];
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        if (start + k * threads < end) key[k] = key_of(from, start + k * threads);
      }
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        if (start + k * threads < end) atomic_add(&scratch.at[digit_of(key[k])], 1);
      }
    }
    barrier();
#pragma unroll 1
    for (u32 d = self; d < kSortDigits; d += threads) {
      counts[part * kSortDigits + d] = scratch.at[d];
      if (digit != 0) atomic_add(&sums_for(digit)[group() * kSortDigits + d], scratch.at[d]);
    }
  }

  // Returns the groups' sums for a digit. Even and odd digits have separate memory. The first digit
  // has no sums, since no step before it could set them to zero.
  KILN_DEVICE u32* sums_for(u32 which) const { return sums + which % 2 * groups() * kSortDigits; }
  KILN_DEVICE u32 groups() const { return (parts - 1) / tuning::kPartsOfGroup + 1; }
  KILN_DEVICE u32 group() const { return part / tuning::kPartsOfGroup; }

  // Finds where this part's records of each digit go.
  KILN_DEVICE void find_places(LongSortScratch& scratch) const {
    const u32 threads = block_threads(), self = thread_rank();
    constexpr u32 kAbreast = 4;  // threads that add up one digit
    if (self == 0) scratch.is_shared = 0;
#pragma unroll 1
    for (u32 d = self; d < kSortDigits; d += threads) {
      scratch.at[d] = scratch.whole[d] = 0;
      if (part % tuning::kPartsOfGroup == 0) sums_for(digit + 1)[group() * kSortDigits + d] = 0;
    }
    barrier();
#pragma unroll 1
    for (u32 i = self; i < kAbreast * kSortDigits; i += threads) {
      const u32 d = i % kSortDigits;
      // For the first digit, adds up all parts. For other digits, adds up all groups, and then the
      // parts of this part's group.
      const u32* table = digit == 0 ? counts : sums_for(digit);
      u32 first = 0, end = digit == 0 ? parts : groups(), own = digit == 0 ? part : group();
#pragma unroll 1
      for (;;) {
        u32 before = 0, whole = 0;
#pragma unroll 4
        for (u32 p = first + i / kSortDigits; p < end; p += kAbreast) {
          const u32 here = table[p * kSortDigits + d];
          whole += here;
          if (p < own) before += here;
        }
        atomic_add(&scratch.at[d], before);
        if (end > own) atomic_add(&scratch.whole[d], whole);
        if (table == counts) break;
        table = counts;
        first = group() * tuning::kPartsOfGroup;
        end = own = part;
      }
    }
    barrier();
    if (wave_index() == 0) {
      constexpr u32 kMax = 8;  // most digits of a lane
      const u32 each = kSortDigits / wave_width(), own = lane_index() * each;
      u32 whole[kMax], sum = 0;
#pragma unroll
      for (u32 k = 0; k < kMax; ++k) {
        whole[k] = k < each ? scratch.whole[own + k] : 0;
        if (whole[k] == columns) scratch.is_shared = 1;
        sum += whole[k];
      }
      u32 before = wave_inclusive_sum(sum) - sum;
#pragma unroll
      for (u32 k = 0; k < kMax; ++k) {
        if (k < each) scratch.at[own + k] += before;
        before += whole[k];
      }
    }
    barrier();
  }

  KILN_DEVICE void write(u32 at, u32 column) const {
    if ((order & tuning::kSortElements) != 0) {
      static_cast<T*>(dst)[row * columns + at] = x[column];
    } else {
      static_cast<u32*>(dst)[row * columns + at] = column;
    }
  }

  KILN_DEVICE void move(LongSortScratch& scratch, u32 first, u32 end) const {
    const u32 threads = block_threads(), self = thread_rank(), from = source();
    const bool is_last = digit == kDigitsOfKey - 1;
    const u32 to = from == 1 ? 2 : 1;
    u32* const memory = static_cast<u32*>(dynamic_shared());
    const u32 most = BlockSort<Key>::capacity();
#pragma unroll 1
    for (u32 start = first;; start += most) {
      const u32 count = end - start < most ? end - start : most;
      BlockSort<Key> sort(memory, scratch.sort, count);
#pragma unroll 1
      for (u32 loaded = 0; loaded < kSortItems; loaded += kAhead) {
        sort.template drop<kAhead>();
#pragma unroll
        for (u32 k = 0; k < kAhead; ++k) {
          if (!sort.has(loaded + k)) continue;
          const u32 i = start + sort.place(loaded + k);
          sort.key[kSortItems - kAhead + k] = key_of(from, i);
          sort.value[kSortItems - kAhead + k] = from == 0 ? i : values[(from - 1) * copy + i];
        }
      }
      if (start == first) {  // while the first records are loading
        find_places(scratch);
        const bool passes = !is_last && wave_any(scratch.is_shared != 0);
        if (part == 0 && self == 0) states[digit + 1] = passes ? from : to;
        if (passes || count == 0) return;
      }
      sort.sort_by_digit(8 * digit);
#pragma unroll 1
      for (u32 k = 0; sort.has(k); ++k) {
        const u32 d = digit_of(sort.key[0]);
        const u32 at = scratch.at[d] + sort.place(k) - scratch.sort.first[d];
        if (is_last) {
          write(at, sort.value[0]);
        } else {
          keys[(to - 1) * copy + at] = sort.key[0];
          values[(to - 1) * copy + at] = sort.value[0];
        }
        sort.template drop<1>();
      }
      barrier();
#pragma unroll 1
      for (u32 d = self; d < kSortDigits; d += threads) {
        const u32 next = d + 1 < kSortDigits ? scratch.sort.first[d + 1] : count;
        scratch.at[d] += next - scratch.sort.first[d];
      }
      if (count == end - start) return;
    }
  }
};

template <class T>
KILN_DEVICE void sort_long(const T* x, void* dst, u8* workspace, u64 rows, u32 columns, u32 parts,
                           u32 order, u32 step) {
  KILN_SHARED(scratch, LongSortScratch);
  using Sort = LongSort<T>;
  using Key = SortKey<T>;
  constexpr u32 kSteps = tuning::kStepsOfDigit * Sort::kDigitsOfKey;
  const u32 together = block_count() / parts;
  const u32 slot = block_index() / parts, part = block_index() - slot * parts;
  const u64 row = static_cast<u64>(step / kSteps) * together + slot;
  if (row >= rows) return;
  const u64 copy = static_cast<u64>(together) * columns;
  const u64 first_of_row = static_cast<u64>(slot) * columns;
  u32* const states = reinterpret_cast<u32*>(workspace + tuning::kWorkspaceCounters);
  u32* const counts = states + static_cast<u64>(together) * tuning::kSortStates;
  const u32 sums_of_row = 2 * ((parts - 1) / tuning::kPartsOfGroup + 1) * kSortDigits;
  u32* const sums = counts + static_cast<u64>(together) * parts * kSortDigits;
  Key* const keys = reinterpret_cast<Key*>(sums + static_cast<u64>(together) * sums_of_row);
  u32* const values = reinterpret_cast<u32*>(keys + Sort::kCopies * copy);
  const Sort sort{x + row * columns,
                  dst,
                  row,
                  columns,
                  parts,
                  part,
                  step % kSteps / tuning::kStepsOfDigit,
                  order,
                  states + slot * tuning::kSortStates,
                  counts + static_cast<u64>(slot) * parts * kSortDigits,
                  sums + static_cast<u64>(slot) * sums_of_row,
                  keys + first_of_row,
                  values + first_of_row,
                  copy};
  const u32 each = (columns - 1) / parts + 1;
  const u32 first = part * each < columns ? part * each : columns;
  const u32 end = columns - first < each ? columns : first + each;
  if (step % tuning::kStepsOfDigit == 0) {
    sort.count(scratch, first, end);
  } else {
    sort.move(scratch, first, end);
  }
}

}  // namespace kiln::families
