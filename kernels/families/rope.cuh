// Rotary position embedding: pairs (p, q) become (p * cos - q * sin, p * sin + q * cos). A pair is
// two neighbours, or the same place in both halves of a head. All arrays are contiguous.
//
// Pairs come in groups of less than 2^31, which 32 bits can number: a head, or the heads of a
// token. In a launch that is not small, each thread rotates one chunk of pairs, in the order of the
// source. Blocks that loop would read and write in many places at once; only two-byte types loop
// (kGoesOn). Measured on an H100, in us, looping -> this (the original): rope f64 1x32x4096x128 105
// -> 97 (95).
#pragma once

#include "device/arithmetic.cuh"
#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"
#include "tuning/rope.hpp"

namespace kiln::families {

using namespace device;

enum class Pairing { kNeighbours, kHalves, kHalvesTokensFirst };

template <Pairing kPairing, class T>
struct Rope {
  static constexpr bool kHalved = kPairing != Pairing::kNeighbours;
  static constexpr u32 kCount = tuning::rope_pairs(sizeof(T), kHalved);  // rotated together
  // True if a thread rotates one pair. Quotients in f32 then find it in larger launches, too.
  // Measured on an H100, reference geometry, in us, by chunks -> this: rope_f64 1x32x256x128 7.81
  // -> 7.45; rope_thd_f64 1x32x1024x128 25.8 -> 24.5.
  static constexpr bool kThreadEach = kHalved && kCount == 1;
  static constexpr bool kGoesOn = sizeof(T) == 2;  // few blocks loop over all pairs
  using M = Arithmetic<typename Arithmetic<T>::Number>;
  using Number = typename M::Number;

  const T* src;
  const T* cos;
  const T* sin;
  T* dst;
  u32 groups;
  u32 per_group;  // pairs
  u32 half;       // of a head; used only if kHalved
  u32 tokens;     // of a batch; unless they come first, its elements
  bool by_batch;  // each batch has tables of its own

  // Returns the entry of the tables for pair `within` of a group, which is pair `j` of its head.
  // Unless tokens come first, a batch has tokens / (2 * per_group) groups.
  KILN_DEVICE u64 entry_of(u32 group, u32 within, u32 j) const {
    if constexpr (kPairing == Pairing::kHalvesTokensFirst) {
      const u32 token = opaque(by_batch || groups == tokens) != 0 ? group : group % tokens;
      return static_cast<u64>(token) * half + j;
    } else {
      if (!by_batch) return within;
      return within + static_cast<u64>(group / (tokens / (2 * per_group))) * per_group;
    }
  }

  KILN_DEVICE static Number first_of(T p, T q, T c, T s) {
    return M::fma(widen(p), widen(c), -(widen(q) * widen(s)));
  }
  KILN_DEVICE static Number second_of(T p, T q, T c, T s) {
    return M::fma(widen(p), widen(s), widen(q) * widen(c));
  }

  // `at` is the index of the first pair's first element.
  KILN_DEVICE void turn_pair(u64 at, u64 entry) const {
    const T* const from = src + at;
    T* const to = dst + at;
    const u32 distance = kHalved ? half : 1;
    const T p = from[0], q = from[distance], c = cos[entry], s = sin[entry];
    to[0] = narrow<T>(first_of(p, q, c, s));
    to[distance] = narrow<T>(second_of(p, q, c, s));
  }
  KILN_DEVICE void turn_pairs(u64 at, u64 entry) const {
    const T* const from = src + at;
    T* const to = dst + at;
    Chunk<T, kCount> c, s;
    c.load(cos + entry);
    s.load(sin + entry);
    if constexpr (kHalved) {
      Chunk<T, kCount> p, q, first, second;
      p.load(from);
      q.load(from + half);
      first.set([&](u32 k) { return first_of(p.get(k), q.get(k), c.get(k), s.get(k)); });
      second.set([&](u32 k) { return second_of(p.get(k), q.get(k), c.get(k), s.get(k)); });
      first.store(to);
      second.store(to + half);
    } else {
      Chunk<T, 2 * kCount> pairs, turned;
      pairs.load(from);
      turned.set([&](u32 i) {
        const u32 k = i / 2;
        const T p = pairs.get(2 * k), q = pairs.get(2 * k + 1);
        return i % 2 == 0 ? first_of(p, q, c.get(k), s.get(k))
                          : second_of(p, q, c.get(k), s.get(k));
      });
      turned.store(to);
    }
  }

  // Returns true if kCount pairs can be rotated together, by aligned chunks.
  KILN_DEVICE bool has_chunks() const {
    if (kHalved && kCount == 1) return false;
    const u64 arrays = address_of(src) | address_of(dst);
    const u64 tables = address_of(cos) | address_of(sin);
    const u32 sizes = kHalved ? half : per_group;
    if constexpr (kHalved) return (arrays | tables | sizes * sizeof(T)) % (kCount * sizeof(T)) == 0;
    return (arrays | tables * 2 | sizes * 2 * sizeof(T)) % 16 == 0;
  }

  // Rotates the pair, or the chunk of pairs, that begins at number `within` of a group.
  KILN_DEVICE void turn(u32 group, u32 within, bool in_chunks) const {
    const u32 j = kHalved ? within % half : 0;  // groups are whole heads
    const u64 at = 2 * (static_cast<u64>(group) * per_group + within) - j;
    const u64 entry = entry_of(group, within, j);
    if (in_chunks) {
      turn_pairs(at, entry);
    } else {
      turn_pair(at, entry);
    }
  }

  // Returns true if the tables of a group would not stay in the cache. Measured on an H100, in us,
  // 1x32xTx128, neighbouring blocks in one group -> in all groups: f64, T 4096 97 -> 98, T 16384
  // 529 -> 382; f16, T 65536 524 -> 383.
  KILN_DEVICE bool has_large_tables() const {
    return kPairing != Pairing::kHalvesTokensFirst && per_group * sizeof(T) > tuning::kRopeCached;
  }

  // Rotates pair `i` of a small launch, which takes as long as its instructions.
  KILN_DEVICE void turn_one(u32 i) const {
    const u32 group = small_quotient(i, per_group), within = i - group * per_group;
    const u32 j = kHalved ? i - small_quotient(i, half) * half : 0;
    u64 entry = within;
    if constexpr (kPairing == Pairing::kHalvesTokensFirst) {
      u32 token = group;
      if (!by_batch) token -= small_quotient(group, tokens) * tokens;
      entry = static_cast<u64>(token) * half + j;
    } else if (by_batch) {
      entry += static_cast<u64>(small_quotient(i, tokens / 2)) * per_group;
    }
    turn_pair(2 * static_cast<u64>(i) - j, entry);
  }

  // Maximum number of blocks for one pair per thread. Measured on an H200, reference geometry, 2^20
  // elements, in us, by chunks, operands in the cache; in memory: rope_f32 4.40; 4.98, the original
  // 3.34; 4.99. rope_f16 3.37; 3.83, the original 3.24; 4.39.
  static constexpr u32 kSingleBlocks = kThreadEach ? 8192 : kGoesOn ? kFitBlocks : kTwiceBlocks;

  KILN_DEVICE void run() const {
    const u64 pairs = static_cast<u64>(groups) * per_group;
    const u32 self = thread_number();
    if (takes_one_element(pairs, kSingleBlocks) && (!kThreadEach || pairs <= kSmallIndex)) {
      if (self < static_cast<u32>(pairs)) turn_one(self);
      return;
    }
    // Maximum number of working blocks. 32 bits number their threads, including those of the next
    // round, which looks for more pairs. Most blocks of a large launch exit here.
    const u32 most = kGoesOn && block_size() == 1024 ? kMaxBlocks / 8 : 1u << 21;
    u32 block = block_index();
    if (block >= most) return;
    u32 blocks = blocks_up_to(most);
    const bool has_thread_each = launched_threads() >= pairs;
    // If there is a thread for each pair, as in the reference geometry, only some blocks work: for
    // two-byte types those that the device holds at once, for four-byte types every kCount-th.
    // Measured on an H100, in us, 1x32xTx128, the other way -> this: f16, T 256 4.2 -> 3.7; f32, T
    // 256 5.1 -> 5.2, T 4096 53 -> 48.
    if (kGoesOn && has_thread_each && blocks > resident_blocks()) blocks = resident_blocks();
    if (block >= blocks || pairs == 0) return;
    const bool in_chunks = has_chunks();
    const u32 count = in_chunks ? kCount : 1;
    if (!kGoesOn && kCount > 1 && in_chunks && has_thread_each) {
      if (block % kCount != 0) return;
      block /= kCount;
      blocks = (blocks + kCount - 1) / kCount;
    }
    // Neighbouring blocks take chunks of one group, or of all groups if the tables would not stay
    // in the cache or 32 bits cannot number the pairs.
    const u32 chunks = per_group / count;  // of a group
    const bool goes_across = pairs >> 31 != 0 || has_large_tables();
#pragma unroll 1
    for (;; block += blocks) {
      const u32 place = goes_across ? block / groups : block;
      u32 chunk = place * block_size() + thread_index();
      u32 group = block - place * groups;
      if (!goes_across) {
        group = chunk / chunks;
        chunk -= group * chunks;
      }
      if (group >= groups || chunk >= chunks) break;
      turn(group, chunk * count, in_chunks);
    }
  }
};

// `td` is the number of elements of a head, over all tokens. `stride_b` is the number of elements
// of a batch, or 0 if all batches share the tables.
template <Pairing kPairing, class T>
KILN_DEVICE void rope(const T* src, const T* cos, const T* sin, T* dst, u32 bh, u32 td, u32 d,
                      u32 stride_b) {
  Rope<kPairing, T>{src, cos, sin, dst, bh, td / 2, d / 2, stride_b, stride_b != 0}.run();
}

template <class T>
KILN_DEVICE void rope_tokens_first(const T* src, const T* cos, const T* sin, T* dst, u32 b, u32 t,
                                   u32 h, u32 d, u32 stride_b) {
  Rope<Pairing::kHalvesTokensFirst, T>{src,         cos,   sin, dst,          b * t,
                                       h * (d / 2), d / 2, t,   stride_b != 0}
      .run();
}

}  // namespace kiln::families
