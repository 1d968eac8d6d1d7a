// dst[r, :] = the columns of row r in the order of their elements, or these elements: ascending or
// descending, equal ones in the order of their columns, NaN behind all else. A block sorts a row.
//
//   by counting   up to 64 columns, or where the block has no whole wave: each column counts those
//                 before it
//   in registers  as many columns as the block's threads and its shared memory hold
//   in slices     more: slices of that many columns, cut by value, one after the other
//
// The block has 4 * ncols_pad bytes of dynamic shared memory.
#pragma once

#include "device/block_sort.cuh"
#include "device/convert.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

// ---- keys -------------------------------------------------------------------------------------

template <class T>
using SortKey = Bits<(sizeof(T) == 8 ? 8 : 4)>;

// A number of 8 * sizeof(T) bits; they are in order where the elements are.
template <bool kDescending, class T>
KILN_DEVICE SortKey<T> sort_key(T x) {
  using Key = SortKey<T>;
  constexpr u32 kBits = 8 * sizeof(T);
  constexpr Key kAll = static_cast<Key>(~0ull >> (64 - kBits));
  constexpr Key kSign = Key{1} << (kBits - 1);
  Key key = static_cast<Key>(bits_of(x));
  if constexpr (kIsFloat<T>) {
    const auto number = widen(x);
    if (number != number) return kAll;
    if (number == 0) key = 0;  // of either sign
    key = (key & kSign) != 0 ? kAll - key : key | kSign;
  } else if constexpr (static_cast<T>(-1) < 0) {
    key ^= kSign;
  }
  return kDescending ? kAll - key : key;
}

// ---- rows -------------------------------------------------------------------------------------

// What a row becomes.
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
  static constexpr u32 kMostCounted = 64;

  const T* x;
  Out* dst;
  u32 columns;
  u32 most;  // columns that are sorted at once
  u32* memory;
  SortScratch& scratch;

  KILN_DEVICE Key key_of(u32 column) const { return sort_key<kDescending>(x[column]); }

  KILN_DEVICE void write(u32 at, u32 column) const {
    if constexpr (kSorted == Sorted::kColumns) {
      dst[at] = column;
    } else {
      dst[at] = x[column];
    }
  }

  KILN_DEVICE void by_counting() const {
    KILN_SHARED(keys, Keys);
    const u32 threads = block_threads();
    const bool kept = columns <= kMostCounted;
    if (kept) {
#pragma unroll 1
      for (u32 i = thread_rank(); i < columns; i += threads) keys.of[i] = key_of(i);
      barrier();
    }
#pragma unroll 1
    for (u32 i = thread_rank(); i < columns; i += threads) {
      const Key key = kept ? keys.of[i] : key_of(i);
      u32 before = 0;
#pragma unroll 1
      for (u32 j = 0; j < columns; ++j) {
        const Key other = kept ? keys.of[j] : key_of(j);
        before += other < key || (other == key && j < i) ? 1 : 0;
      }
      write(before, i);
    }
  }

  // Columns whose keys lie between two numbers, both included: all from `low` on that fit.
  struct Slice {
    Key low, high;
    u32 columns;
    bool is_even;  // all keys are the same, and there may be more of them than fit
  };

  KILN_DEVICE Slice slice_from(Key low) const {
    const u32 threads = block_threads(), self = thread_rank();
    Key above = 0;  // the digits that all keys of the slice share
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
      const Key end = ((above << 8) + d) << shift;  // may be zero: one past the last key
      if (sum != 0) return {low, static_cast<Key>(end - 1), sum, false};
      above = above << 8 | d;
      if (shift == 0) return {end, end, scratch.first[d], true};
    }
  }

  // Calls put(i, column) for each of a slice's columns, in order.
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
    if (columns <= kMostCounted || most == 0) return by_counting();
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
      // Keys of eight bytes by pairs: all their addresses at once would not fit into registers.
      constexpr u32 kTogether = sizeof(Key) == 8 ? 2 : 8;
#pragma unroll 1
      for (u32 loaded = 0; loaded < kSortItems; loaded += kTogether) {
        sort.template drop<kTogether>();
#pragma unroll
        for (u32 k = 0; k < kTogether; ++k) {
          if (!sort.has(loaded + k)) continue;
          const u32 place = sort.place(loaded + k);
          const u32 column = in_slices ? memory[place] : place;
          sort.value[kSortItems - kTogether + k] = column;
          sort.key[kSortItems - kTogether + k] = key_of(column);
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
  struct Keys {
    Key of[kMostCounted];
  };
};

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
  sort.run();
}

}  // namespace kiln::families
