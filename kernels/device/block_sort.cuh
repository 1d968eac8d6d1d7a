// A stable sort by the threads of a block. A record is a key and a number.
//
// The records stay in registers, eight to a thread. They are sorted digit by digit, lowest first.
// Each wave counts its records of each digit. The counts of all waves are added up in order. Then
// the records change places through shared memory.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "tuning/sort.hpp"

namespace kiln::device {

// Number of values of a digit, which has eight bits.
inline constexpr u32 kSortDigits = tuning::kDigits;
// Maximum number of records of a thread.
inline constexpr u32 kSortItems = tuning::kSortItems;
// Minimum number of records of a wave, except the last. The digit counts of a wave take as much
// memory as that many words.
inline constexpr u32 kWaveRecords = kSortDigits / 2;

struct SortScratch {
  u32 first[kSortDigits];  // by digit: the place of its first record
  u64 differing[32];       // by wave; a block has at most 32
  u32 sum[32];
};

// A wave holds rows of records that follow one another in memory, one record of a row for each
// lane. Item i of a lane is record `place(i)`. A partial wave holds no records.
//
// Conditions that concern whole waves are votes, so that the compiler knows that all lanes agree.
// Otherwise a shuffle or a vote takes a dozen instructions.
//
// `Key` is u32 or u64. Every thread of the block makes a BlockSort, with the same `count` and the
// same memory, and calls run(). The memory has at least `count` words, rounded up to a multiple of
// kWaveRecords.
template <class Key>
struct BlockSort {
  Key key[kSortItems];
  u32 value[kSortItems];

  u32* memory;
  SortScratch& scratch;
  u32 waves;  // number of waves that hold records; they come first
  u32 first;  // place of this thread's first record
  u32 held;   // number of records that the thread holds

  KILN_DEVICE BlockSort(u32* words, SortScratch& shared, u32 count)
      : memory(words), scratch(shared) {
    // As many waves as the memory has room for counts, so that each has few rows.
    const u32 width = wave_width(), threads = block_threads() & (0 - width);
    const u32 needed = (count + threads - 1) / threads, wanted = kWaveRecords / width;
    const u32 rows = needed < wanted ? wanted : needed;
    waves = (count + rows * width - 1) / (rows * width);
    first = wave_index() * rows * width + lane_index();
    held = first < count ? (count - first - 1) / width + 1 : 0;
    if (held > rows) held = rows;
      // All lanes vote, also those without records, so every item needs a value.
#pragma unroll
    for (u32 i = 0; i < kSortItems; ++i) {
      key[i] = 0;
      value[i] = 0;
    }
  }

  KILN_DEVICE static u32 capacity() {
    return block_threads() / wave_width() * wave_width() * kSortItems;
  }

  KILN_DEVICE u32 place(u32 i) const { return first + i * wave_width(); }
  KILN_DEVICE bool has(u32 i) const { return i < held; }

  // Drops the first items. The other items take their places.
  template <u32 kDropped>
  KILN_DEVICE void drop() {
#pragma unroll
    for (u32 i = kDropped; i < kSortItems; ++i) {
      key[i - kDropped] = key[i];
      value[i - kDropped] = value[i];
    }
  }

  // Sorts by bits 0 to `kBits` - 1 of the keys, ascending. Afterwards only the values are in order,
  // not the keys.
  template <u32 kBits>
  KILN_DEVICE void run() {
    const u64 differing = differing_bits();
#pragma unroll 1
    for (u32 bit = 0; bit < kBits; bit += 8) {
      if ((differing >> bit & 255u) == 0) continue;
      u32 to[kSortItems];
      rank(bit, to);
      const bool is_last = differing >> bit >> 8 == 0;
#pragma unroll 1
      for (u32 words = opaque(1 + sizeof(Key) / 4); words != 0; --words) {
        exchange(value, to);
        if (is_last) break;
        rotate_words();
      }
      if (is_last) break;
    }
  }

  // Sorts keys and values by the digit at `bit` alone. Afterwards scratch.first[d] is the number of
  // records with digits smaller than d.
  KILN_DEVICE void sort_by_digit(u32 bit) {
    u32 to[kSortItems];
    rank(bit, to);
#pragma unroll 1
    for (u32 words = opaque(1 + sizeof(Key) / 4); words != 0; --words) {
      exchange(value, to);
      rotate_words();
    }
  }

 private:
  // Moves each word of a record to the place of the word before it.
  KILN_DEVICE void rotate_words() {
#pragma unroll
    for (u32 i = 0; i < kSortItems; ++i) {
      const u32 first = value[i];
      value[i] = static_cast<u32>(key[i]);
      if constexpr (sizeof(Key) == 4) {
        key[i] = first;
      } else {
        key[i] = key[i] >> 32 | static_cast<u64>(first) << 32;
      }
    }
  }

  // Returns the bits in which any two keys differ. Digits without such bits need no pass.
  KILN_DEVICE u64 differing_bits() {
    u64 all = ~0ull, any = 0;
#pragma unroll
    for (u32 i = 0; i < kSortItems; ++i) {
      if (!has(i)) continue;
      all &= key[i];
      any |= key[i];
    }
    const u32 wave = wave_index();
    const u32 last = waves;
    const bool works = wave_any(wave < last);
    if (works) {
      const auto join = [](u64 a, u64 b) { return a & b; };
      all = wave_reduce(all, join);
      any = ~wave_reduce(~any, join);
      if (lane_index() == 0) scratch.differing[wave] = all;
    }
    barrier();
    all = ~0ull;
#pragma unroll 1
    for (u32 w = 0; w < last; ++w) all &= scratch.differing[w];
    barrier();
    if (works && lane_index() == 0) scratch.differing[wave] = any;
    barrier();
    any = 0;
#pragma unroll 1
    for (u32 w = 0; w < last; ++w) any |= scratch.differing[w];
    return any & ~all;
  }

  KILN_DEVICE static u32 digit_of(Key key, u32 bit) { return static_cast<u32>(key >> bit) & 255u; }

  // Computes the new place of each record.
  KILN_DEVICE void rank(u32 bit, u32 (&to)[kSortItems]) {
    const u32 width = wave_width(), lane = lane_index(), wave = wave_index();
    const bool works = wave_any(wave < waves);
    u16* const counts = reinterpret_cast<u16*>(memory) + wave * kSortDigits;
    const Lanes below = lanes_below();
    barrier();  // the memory has been read
    if (works) {
#pragma unroll 1
      for (u32 d = lane; d < kSortDigits / 2; d += width) reinterpret_cast<u32*>(counts)[d] = 0;
      wave_barrier();
#pragma unroll
      for (u32 i = 0; i < kSortItems; ++i) {
        if (!wave_any(has(i))) break;
        const bool mine = has(i);
        const u32 digit = digit_of(key[i], bit);
        const Lanes peers = wave_match<8>(digit, mine);
        const u32 before = counts[digit];
        wave_barrier();
        to[i] = before + count_ones(peers & below);
        if (mine && (peers & below) == 0) {
          counts[digit] = static_cast<u16>(before + count_ones(peers));
        }
        wave_barrier();
      }
    }
    barrier();
    add_up();
    if (works) {
#pragma unroll
      for (u32 i = 0; i < kSortItems; ++i) {
        const u32 digit = digit_of(key[i], bit);
        to[i] += scratch.first[digit] + counts[digit];
      }
    }
    barrier();
  }

  // Replaces the count of each wave and digit by the number of records with that digit in earlier
  // waves, and sets scratch.first[d] to the number of records with digits smaller than d.
  KILN_DEVICE void add_up() {
    const u32 width = wave_width(), self = thread_rank(), last = waves;
    u16* const counts = reinterpret_cast<u16*>(memory);
    u32 owners = kSortDigits;
#pragma unroll 1
    while (owners > last * width) owners /= 2;
    const u32 each = kSortDigits / owners;
    u32 sum = 0, upto = 0;
    const bool owns = wave_any(self < owners);
    if (owns) {
#pragma unroll 1
      for (u32 d = self * each; d < (self + 1) * each; ++d) {
        scratch.first[d] = sum;
        u32 before = 0;
#pragma unroll 4
        for (u32 w = 0; w < last; ++w) {
          u16& place = counts[w * kSortDigits + d];
          const u32 here = place;
          place = static_cast<u16>(before);
          before += here;
        }
        sum += before;
      }
      upto = wave_inclusive_sum(sum);
      if (lane_index() == width - 1) scratch.sum[wave_index()] = upto;
    }
    barrier();
    if (owns) {
      u32 before = upto - sum;
#pragma unroll 1
      for (u32 w = 0; w < wave_index(); ++w) before += scratch.sum[w];
#pragma unroll 1
      for (u32 d = self * each; d < (self + 1) * each; ++d) scratch.first[d] += before;
    }
    barrier();
  }

  KILN_DEVICE void exchange(u32 (&word)[kSortItems], const u32 (&to)[kSortItems]) {
#pragma unroll
    for (u32 i = 0; i < kSortItems; ++i) {
      if (has(i)) memory[to[i]] = word[i];
    }
    barrier();
#pragma unroll
    for (u32 i = 0; i < kSortItems; ++i) {
      if (has(i)) word[i] = memory[place(i)];
    }
    barrier();
  }
};

}  // namespace kiln::device
