// dst[r, :] = the column numbers of row r in the order of their elements, or the sorted elements:
// ascending or descending, equal ones in the order of their columns, NaN last. A block sorts a row.
//
//   by counting   up to 64 columns, up to 256 if merging is impossible, any number if the block
//                 has no whole wave: each column counts those before it
//   by merging    up to one column per thread: waves sort theirs, then pairs of runs are merged
//   in registers  up to as many columns as the block's threads and its shared memory hold
//   in slices     more: slices of up to that many columns, cut by value, one after the other
//
// The block has 4 * ncols_pad bytes of dynamic shared memory.
#pragma once

#include "device/block_sort.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "families/sort_key.cuh"
#include "tuning/sort.hpp"

namespace kiln::families {

using namespace device;

// ---- rows -------------------------------------------------------------------------------------

// The kind of output.
enum class Sorted { kColumns, kElements };
template <Sorted kSorted, class T>
struct OutputOf {
  using Type = T;
};
template <class T>
struct OutputOf<Sorted::kColumns, T> {
  using Type = u32;
};

template <bool kDescending, Sorted kSorted, class T>
struct SortRow {
  using Out = typename OutputOf<kSorted, T>::Type;
  using Key = SortKey<T>;
  using Sort = BlockSort<Key>;
  static constexpr u32 kBits = 8 * sizeof(T);
  static constexpr u32 kMaxCounted = tuning::kMaxCounted;
  // Number of bits of the column in a number that orders keys first and then columns. An 8-byte key
  // leaves no room for the column.
  static constexpr u32 kColumnBits = sizeof(Key) == 4 ? 32 : 0;
  static constexpr u32 kTogether = 4;  // numbers compared per iteration

  const T* x;
  Out* dst;
  u32 columns;
  u32 most;  // columns that are sorted at once
  u32* memory;
  SortScratch& scratch;

  KILN_DEVICE Key key_of(u32 column) const { return sort_key(x[column], kDescending); }

  KILN_DEVICE void write(u32 at, u32 column) const {
    if constexpr (kSorted == Sorted::kColumns) {
      dst[at] = column;
    } else {
      dst[at] = x[column];
    }
  }

  KILN_DEVICE u64 number_of(u32 column) const {
    const u64 key = key_of(column);
    return kColumnBits == 0 ? key : key << kColumnBits | column;
  }
  // Returns 1 if column j's number comes before column i's, otherwise 0.
  KILN_DEVICE static u32 is_before(u64 other, u32 j, u64 number, u32 i) {
    if constexpr (kColumnBits != 0) return other < number ? 1 : 0;
    return other < number || (other == number && j < i) ? 1 : 0;
  }

  KILN_DEVICE void by_counting() const {
    KILN_SHARED(numbers, Numbers);
    const u32 threads = block_threads();
    const bool kept = columns <= kMaxCounted;
    if (kept) {
#pragma unroll 1
      for (u32 i = thread_rank(); i < columns + kTogether; i += threads) {
        numbers.of[i] = i < columns ? number_of(i) : ~0ull;
      }
      barrier();
    }
#pragma unroll 1
    for (u32 i = thread_rank(); i < columns; i += threads) {
      const u64 number = number_of(i);
      u32 before = 0;
#pragma unroll 1
      for (u32 j = 0; j < columns; j += kTogether) {
        if (!kept) {
          before += is_before(number_of(j), j, number, i);
          j -= kTogether - 1;
          continue;
        }
#pragma unroll
        for (u32 k = 0; k < kTogether; ++k) {
          before += is_before(numbers.of[j + k], j + k, number, i);
        }
      }
      write(before, i);
    }
  }

  // Returns true if record (a, i) comes before record (b, j).
  KILN_DEVICE static bool precedes(Key a, u32 i, Key b, u32 j) {
    return a < b || (a == b && i < j);
  }

  // The columns whose keys lie in [low, high], as many as can be sorted at once.
  struct Slice {
    Key low, high;
    u32 columns;
    bool is_even;  // all keys are equal, and there may be more than fit
  };

  KILN_DEVICE Slice slice_from(Key low) const {
    const u32 threads = block_threads(), self = thread_rank();
    Key above = 0;  // the leading digits, which all keys of the slice share
#pragma unroll 1
    for (u32 shift = kBits - 8;; shift -= 8) {
      barrier();
#pragma unroll 1
      for (u32 d = self; d < kSortDigits; d += threads) scratch.first[d] = 0;
      barrier();
#pragma unroll 1
      for (u32 i = self; i < columns; i += threads) {
        const Key key = key_of(i);
        if (key >= low && key >> shift >> 8 == above) {
          atomic_add(&scratch.first[static_cast<u32>(key >> shift) & 255u], 1);
        }
      }
      barrier();
      u32 sum = 0, d = 0;
#pragma unroll 1
      for (; d < kSortDigits; ++d) {
        const u32 here = scratch.first[d];
        if (sum + here > most) break;
        sum += here;
      }
      const Key end = ((above << 8) + d) << shift;  // wraps to 0 after the greatest key
      if (sum != 0) return {low, static_cast<Key>(end - 1), sum, false};
      above = above << 8 | d;
      if (shift == 0) return {end, end, scratch.first[d], true};
    }
  }

  // Calls put(i, column) for each column of a slice, in order.
  template <class Put>
  KILN_DEVICE void collect(const Slice& slice, Put put) const {
    const u32 width = wave_width(), wave = wave_index(), lane = lane_index();
    const u32 waves = block_threads() / width;
    const bool works = wave_any(wave < waves);
    const u32 each = ((columns - 1) / (waves * width) + 1) * width;
    const u32 first = works ? wave * each : columns;
    const u32 end = columns - first < each || first >= columns ? columns : first + each;
    const auto is_in = [&](u32 i) {
      const Key key = key_of(i);
      return key >= slice.low && key <= slice.high;
    };
    if (works) {
      u32 count = 0;
#pragma unroll 1
      for (u32 i = first + lane; i < end; i += width) count += is_in(i) ? 1 : 0;
      count = wave_sum(count);
      if (lane == 0) scratch.sum[wave] = count;
    }
    barrier();
    if (works) {
      u32 at = 0;
#pragma unroll 1
      for (u32 w = 0; w < wave; ++w) at += scratch.sum[w];
#pragma unroll 1
      for (u32 row = first; row < end; row += width) {
        const u32 i = row + lane;
        const bool mine = i < end && is_in(i);
        const Lanes all = wave_ballot(mine, KILN_HERE);
        if (mine) put(at + count_ones(all & lanes_below()), i);
        at += count_ones(all);
      }
    }
    barrier();
  }

  KILN_DEVICE void run() const {
    if (columns <= kMaxCounted || most == 0) return by_counting();
    const bool in_slices = columns > most;
    Key low = 0;
#pragma unroll 1
    for (u32 done = 0; done < columns;) {
      u32 count = columns;
      if (in_slices) {
        const Slice slice = slice_from(low);
        low = slice.high + 1;
        collect(slice, [&](u32 i, u32 column) {
          if (slice.is_even) {
            write(done + i, column);
          } else {
            memory[i] = column;
          }
        });
        if (slice.is_even) {
          done += slice.columns;
          continue;
        }
        count = slice.columns;
      }
      Sort sort(memory, scratch, count);
      // 8-byte keys are loaded in pairs: the addresses of all would not fit into registers.
      constexpr u32 kLoaded = sizeof(Key) == 8 ? 2 : 8;
#pragma unroll 1
      for (u32 loaded = 0; loaded < kSortItems; loaded += kLoaded) {
        sort.template drop<kLoaded>();
#pragma unroll
        for (u32 k = 0; k < kLoaded; ++k) {
          if (!sort.has(loaded + k)) continue;
          const u32 place = sort.place(loaded + k);
          const u32 column = in_slices ? memory[place] : place;
          sort.value[kSortItems - kLoaded + k] = column;
          sort.key[kSortItems - kLoaded + k] = key_of(column);
        }
      }
      sort.template run<kBits>();
#pragma unroll
      for (u32 i = 0; i < kSortItems; ++i) {
        if (sort.has(i)) write(done + sort.place(i), sort.value[i]);
      }
      done += count;
    }
  }

 private:
  struct alignas(16) Numbers {
    u64 of[kMaxCounted + kTogether];
  };
};

// Sorts a row of up to one record per thread. Places behind the row's end come last. The block has
// a power of two of whole waves, and memory for a word of each thread.
template <class Row>
KILN_NOINLINE void sort_by_merging(Row row) {
  using Key = typename Row::Key;
  const u32 self = thread_rank(), lane = lane_index(), width = wave_width();
  if (row.columns == 1) {
    if (self == 0) row.write(0, 0);
    return;
  }
  const auto record = [&](u32 column) {
    return column < row.columns ? row.key_of(column) : static_cast<Key>(~0ull);
  };
  u32 column = self;
  Key key = record(column);
#pragma unroll 1
  for (u32 size = 2; size <= width; size *= 2) {
#pragma unroll 1
    for (u32 mask = size / 2; mask != 0; mask /= 2) {
      const Key other = exchange(key, mask, width);
      const u32 j = exchange(column, mask, width);
      const bool first = ((lane & size) == 0) == ((lane & mask) == 0);
      if (Row::precedes(other, j, key, column) == first) {
        key = other;
        column = j;
      }
    }
  }
  // Each record finds how many records of its pair's other run come before it.
#pragma unroll 1
  for (u32 run = width; run < row.columns; run *= 2) {
    row.memory[self] = column;
    barrier();
    const u32* const other = row.memory + ((self & ~(run - 1)) ^ run);
    u32 before = 0;
#pragma unroll 1
    for (u32 step = run; step != 0; step /= 2) {
      const u32 at = before + step - 1;
      if (at >= run) continue;
      const u32 j = other[at];
      if (Row::precedes(record(j), j, key, column)) before += step;
    }
    barrier();
    row.memory[(self & ~(2 * run - 1)) + (self & (run - 1)) + before] = column;
    barrier();
    column = row.memory[self];
    key = record(column);
  }
  if (self < row.columns) row.write(self, column);
}

template <bool kDescending, Sorted kSorted, class T>
KILN_DEVICE void sort_rows(const T* x, typename OutputOf<kSorted, T>::Type* dst, i32 ncols,
                           i32 ncols_pad) {
  KILN_SHARED(scratch, SortScratch);
  const u32 columns = static_cast<u32>(ncols);
  const u32 words = static_cast<u32>(ncols_pad) & (0 - kWaveRecords);
  const u64 first = static_cast<u64>(block_index()) * columns;
  const u32 most = BlockSort<SortKey<T>>::capacity();
  const SortRow<kDescending, kSorted, T> sort{x + first,
                                              dst + first,
                                              columns,
                                              words < most ? words : most,
                                              static_cast<u32*>(dynamic_shared()),
                                              scratch};
  const u32 threads = block_threads();
  const bool has_waves = threads >= wave_width() && (threads & (threads - 1)) == 0;
  const bool has_records =
      columns > tuning::kFewCounted && columns <= threads && threads <= static_cast<u32>(ncols_pad);
  if (columns == 1 || (has_waves && has_records)) {
    return sort_by_merging(sort);
  }
  sort.run();
}

}  // namespace kiln::families
