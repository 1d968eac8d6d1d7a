// A stable sort of records, a key and a number each, by the threads of a block.
//
// The records stay in registers, eight to a thread. They are sorted digit by digit, the lowest
// first: a wave counts its records of each digit, the counts of all waves are added up in order,
// and the records change places through shared memory.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "device/wave.cuh"
#include "tuning/sort.hpp"

namespace kiln::device {

// A key's digit has eight bits.
inline constexpr u32 kSortDigits = tuning::kDigits;
// Records that a thread holds at most.
inline constexpr u32 kSortItems = tuning::kSortItems;
// Records that a wave has at least, but the last: its counts of digits take as much memory.
inline constexpr u32 kWaveRecords = kSortDigits / 2;

struct SortScratch {
  u32 first[kSortDigits];  // of each digit: where its records go
  u64 differing[32];       // of each wave; a block has no more
  u32 sum[32];
};

// Of a wave some rows of as many records as it has lanes stand one after the other: record
// `place(i)` is a lane's item i. Waves that are not whole hold nothing.
//
// Conditions for whole waves are votes: of those the compiler knows that all lanes agree, without
// which a shuffle or a vote takes a dozen instructions.
//
// `Key` is u32 or u64. Every thread of the block makes one, with the same `count` and the same
// memory, of at least `count` words, rounded up to a multiple of kWaveRecords, and calls run().
template <class Key>
struct BlockSort {
  Key key[kSortItems];
  u32 value[kSortItems];

  u32* memory;
  SortScratch& scratch;
  u32 waves;  // that hold records: the first ones
  u32 first;  // place of this thread's first record
  u32 held;   // records that it holds

  KILN_DEVICE BlockSort(u32* words, SortScratch& shared, u32 count)
      : memory(words), scratch(shared) {
    // As many waves as the memory has counts for; each then has less to do one after the other.
    const u32 width = wave_width(), threads = block_threads() & (0 - width);
    const u32 needed = (count + threads - 1) / threads, wanted = kWaveRecords / width;
    const u32 rows = needed < wanted ? wanted : needed;
    waves = (count + rows * width - 1) / (rows * width);
    first = wave_index() * rows * width + lane_index();
    held = first < count ? (count - first - 1) / width + 1 : 0;
    if (held > rows) held = rows;
    // Votes are of all lanes, with records or without.
#pragma unroll
    for (u32 i = 0; i < kSortItems; ++i) {
      key[i] = 0;
      value[i] = 0;
    }
  }

  // How many records the block can hold.
  KILN_DEVICE static u32 capacity() {
    return block_threads() / wave_width() * wave_width() * kSortItems;
  }

  KILN_DEVICE u32 place(u32 i) const { return first + i * wave_width(); }
  KILN_DEVICE bool has(u32 i) const { return i < held; }

  // Drops the first items; the others take their places.
  template <u32 kDropped>
  KILN_DEVICE void drop() {
#pragma unroll
    for (u32 i = kDropped; i < kSortItems; ++i) {
      key[i - kDropped] = key[i];
      value[i - kDropped] = value[i];
    }
  }

  // Sorts by bits 0 to `kBits` - 1 of the keys, ascending. Only values are in order afterwards.
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
      for (u32 words = unknown(1 + sizeof(Key) / 4); words != 0; --words) {
        exchange(value, to);
        if (is_last) break;
        rotate_words();
      }
      if (is_last) break;
    }
  }

  // Sorts by the digit at `bit` alone: keys and values. Afterwards scratch.first[d] counts the
  // records of smaller digits than d.
  KILN_DEVICE void sort_by_digit(u32 bit) {
    u32 to[kSortItems];
    rank(bit, to);
#pragma unroll 1
    for (u32 words = unknown(1 + sizeof(Key) / 4); words != 0; --words) {
      exchange(value, to);
      rotate_words();
    }
  }

 private:
  // Each word of a record in the place of the one before it.
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

  // The bits in which any two keys differ: of the others no digit needs a turn.
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

  // Where each record goes.
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

  // From the counts of each wave and digit, to the records of the digit in the waves before, and of
  // all smaller digits.
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
