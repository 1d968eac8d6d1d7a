// Rotary position embedding: pairs (p, q) of neighbours, or of the halves of a head, become
// (p * cos - q * sin, p * sin + q * cos). All arrays are contiguous.
//
// Pairs are numbered in the order of the source. They come in groups of less than 2^31, so that 32
// bits suffice to find a pair: a head, or the heads of a token. Where all are more than 2^31, the
// groups are done one after the other.
#pragma once

#include "device/arithmetic.cuh"
#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

enum class Pairing { kNeighbours, kHalves, kHalvesTokensFirst };

template <Pairing kPairing, class T>
struct Rope {
  static constexpr bool kHalved = kPairing != Pairing::kNeighbours;
  // Pairs that are done together.
  static constexpr bool kLong = sizeof(T) == 8;
  static constexpr u32 kCount = kPairing == Pairing::kHalves && kLong ? 2
                                : kLong                               ? 1
                                : kHalved                             ? 4
                                                                      : 8 / sizeof(T);
  using M = Arithmetic<typename Arithmetic<T>::Number>;
  using Number = typename M::Number;

  const T* src;
  const T* cos;
  const T* sin;
  T* dst;
  u32 groups;
  u32 per_group;  // pairs
  u32 half;       // of a head; what is not halved has no need of it
  u32 tokens;     // where they come first; else the elements of a batch
  bool by_batch;  // each batch has tables of its own

  // The entry of the tables that belongs to pair `within` of a group, the `j`th of its head. A batch has
  // so many groups.
  KILN_DEVICE u64 entry_of(u32 group, u32 within, u32 j, u32 of_batch) const {
    if constexpr (kPairing == Pairing::kHalvesTokensFirst) {
      const u32 token = unknown(by_batch || groups == tokens) != 0 ? group : group % tokens;
      return static_cast<u64>(token) * half + j;
    } else {
      return within + (by_batch ? static_cast<u64>(group / of_batch) * per_group : 0);
    }
  }

  KILN_DEVICE static Number first_of(T p, T q, T c, T s) {
    return M::fma(widen(p), widen(c), -(widen(q) * widen(s)));
  }
  KILN_DEVICE static Number second_of(T p, T q, T c, T s) {
    return M::fma(widen(p), widen(s), widen(q) * widen(c));
  }

  // `at`: of the first pair's first element.
  KILN_DEVICE void turn_pair(u64 at, u64 entry) const {
    const T* const from = src + at;
    T* const to = dst + at;
    const u32 apart = kHalved ? half : 1;
    const T p = from[0], q = from[apart], c = cos[entry], s = sin[entry];
    to[0] = narrow<T>(first_of(p, q, c, s));
    to[apart] = narrow<T>(second_of(p, q, c, s));
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

  // Whether pairs can be done together.
  KILN_DEVICE bool has_chunks(bool many) const {
    // Two of eight bytes, where all threads have as many. H200, the reference's geometry, us by one and by
    // two: 2^22 20.9, 20.1; 2^28 1584, 1532.
    if (kHalved && kLong && (kCount == 1 || !many)) return false;
    const u64 arrays = address_of(src) | address_of(dst);
    const u64 tables = address_of(cos) | address_of(sin);
    const u32 sizes = kHalved ? half : per_group;
    if constexpr (kHalved) return (arrays | tables | sizes * sizeof(T)) % (kCount * sizeof(T)) == 0;
    return (arrays | tables * 2 | sizes * 2 * sizeof(T)) % 16 == 0;
  }

  // Pair `i`, or those from it on, of the groups behind the first ones.
  KILN_DEVICE void turn(u32 first_group, u64 start, u32 i, bool in_chunks, u32 of_batch) const {
    const u32 j = kHalved ? i % half : 0;  // groups are whole heads
    u32 group = 0, within = j;
    // Of one token's heads that share the tables, nothing else is asked for.
    if (kPairing != Pairing::kHalves || by_batch || per_group != half) {
      group = i / per_group;
      within = i - group * per_group;
    }
    const u64 at = 2 * (start + i) - j;
    const u64 entry = entry_of(first_group + group, within, j, of_batch);
    if (in_chunks) {
      turn_pairs(at, entry);
    } else {
      turn_pair(at, entry);
    }
  }

  // Pair `i` of a small launch, which takes as long as its instructions.
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

  KILN_DEVICE void run() const {
    const u64 pairs = static_cast<u64>(groups) * per_group;
    const u32 self = thread_number();
    if (takes_one_element(pairs)) {
      if (self < static_cast<u32>(pairs)) turn_one(self);
      return;
    }
    if (leaves_at_once()) return;
    const Spread spread(pairs);
    if (spread.is_surplus()) return;
    const bool in_chunks = has_chunks(pairs > resident_threads());
    const u32 count = in_chunks ? kCount : 1;
    const u32 of_batch = by_batch ? tokens / (2 * per_group) : 1;
    // Groups that are done before the next.
    const u32 part = pairs >> 31 == 0 ? groups : 1;
    u64 start = 0;
#pragma unroll 1
    for (u32 left = groups; left != 0; left -= part) {
      const u32 end = part * per_group;
#pragma unroll 1
      for (u32 i = spread.self * count; i < end; i += spread.threads * count) {
        turn(groups - left, start, i, in_chunks, of_batch);
      }
      start += end;
    }
  }
};

// `td`: elements of a head or of a row of neighbours; `stride_b`: those of a batch, 0 where all
// batches share the tables.
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
