// Writes or adds elements at ids along one dim. `left` counts the positions in the dims before it,
// `right` those in the dims after it.
//   scatter      out[l, ids[l, j, r], r] = inp[l, j, r]
//   scatter_add  out[l, ids[l, j, r], r] += inp[l, j, r]
//   index_add    out[l, ids[j], r] += inp[l, j, r]
// Elements are taken in the order of j, and each sum is rounded to T. An id outside the dim is
// skipped. So is the greatest value of the id's type.
//
// A thread walks all j of one (l, r), or of a chunk of neighbours along r. If there are threads to
// spare, several share a long walk by destination: each takes the ids with one remainder by a power
// of two, so every destination keeps its order.
#pragma once

#include "device/chunk.cuh"
#include "device/platform_atomics.cuh"
#include "device/platform_lanes.cuh"
#include "device/wave.cuh"
#include "families/elements.cuh"
#include "families/index.cuh"

namespace kiln::families {

using namespace device;

template <class T>
KILN_DEVICE auto sum_of(T a, T b) {
  return Arithmetic<T>::add(widen(a), widen(b));
}

// The ids that a thread takes: valid ids whose remainder by `parts`, a power of two, is `part`.
template <class Id>
struct Share {
  Places<Id> places;
  u32 parts, part;

  KILN_DEVICE bool has(Id id) const {
    return places.has(id) && (static_cast<u32>(id) & (parts - 1)) == part;
  }
};

// Gives each thread of a launch a place, and a part of the walk over its ids.
struct PlaceAndPart {
  u64 place;
  u64 threads;
  u32 log_parts = 0;
  u32 part = 0;

  // Every part reads all ids, so each should take at least `fewest` of them on average. There are
  // at most `most` parts.
  KILN_DEVICE PlaceAndPart(u64 places, u64 ids, u32 fewest, u32 most) {
    threads = static_cast<u64>(block_count()) * block_threads();
    place = static_cast<u64>(block_index()) * block_threads() + thread_rank();
    if (places == 0 || places > threads / 2 || threads >> 32 != 0) return;
    if (ids / fewest < most) most = static_cast<u32>(ids) / fewest;
    const u32 each = static_cast<u32>(places);
#pragma unroll 1
    for (u32 half = static_cast<u32>(threads) / 2; half >= each && 1u << log_parts < most;
         half /= 2) {
      ++log_parts;
    }
  }
  KILN_DEVICE u32 parts() const { return 1u << log_parts; }

  // Numbers threads so that the places of a part are together. Threads behind the last part are
  // idle.
  KILN_DEVICE void go_part_by_part(u32 places) {
    if (log_parts == 0) return;
    part = static_cast<u32>(place) / places;
    place -= part * places;
  }
  KILN_DEVICE bool is_surplus() const { return part >= parts(); }

  // Numbers threads so that all parts of a group of 2^`together` places are together.
  KILN_DEVICE void go_group_by_group(u32 together) {
    part = static_cast<u32>(place >> together) & (parts() - 1);
    const u64 group = place >> together >> log_parts;
    place = (group << together) + (place & ((1u << together) - 1));
  }
};

enum class Bring { kAssign, kAdd };

// True if an element is loaded before it is written.
template <Bring kBring, class T>
inline constexpr bool kNeedsOld = kBring == Bring::kAdd && !kAddsInMemory<T>;

template <Bring kBring, class T>
KILN_DEVICE void bring(T* place, T x) {
  if constexpr (kBring == Bring::kAssign) {
    *place = x;
  } else if constexpr (kAddsInMemory<T>) {
    add_in_memory(place, x);
  } else {
    *place = narrow_briefly<T>(sum_of(*place, x));
  }
}

// Brings `count` elements, at least one, to the places of their ids.
template <Bring kBring, class Id, class T>
KILN_DEVICE void bring_in_turn(const Id* ids, const T* inp, T* out, u64 count, u64 right,
                               const Places<Id>& targets) {
  Id id = *ids;
  T x = *inp;
#pragma unroll 1
  for (u32 rest = static_cast<u32>(count);; --rest) {
    Id next_id = id;
    T next = x;
    if (rest != 1) {  // in flight while this element is stored
      inp += right;
      ids += right;
      next_id = *ids;
      next = *inp;
    }
    if (targets.has(id)) bring<kBring>(out + static_cast<u64>(id) * right, x);
    if (rest == 1) return;
    id = next_id;
    x = next;
  }
}

// Adds kCount elements to the places of their ids, in their order.
template <u32 kCount, class Id, class T>
KILN_DEVICE void add_all(T* out, u64 right, const Places<Id>& targets, const Id (&id)[kCount],
                         const T (&x)[kCount]) {
  T old[kCount] = {};
  if constexpr (kNeedsOld<Bring::kAdd, T>) {
#pragma unroll
    for (u32 k = 0; k < kCount; ++k) {
      if (targets.has(id[k])) old[k] = out[static_cast<u64>(id[k]) * right];
    }
  }
#pragma unroll
  for (u32 k = 0; k < kCount; ++k) {
    if (!targets.has(id[k])) continue;
    T* const place = out + static_cast<u64>(id[k]) * right;
    if constexpr (kNeedsOld<Bring::kAdd, T>) {
      const T sum = narrow_briefly<T>(sum_of(old[k], x[k]));
      *place = sum;
#pragma unroll
      for (u32 m = k + 1; m < kCount; ++m) {
        if (id[m] == id[k]) old[m] = sum;
      }
    } else {
      bring<Bring::kAdd>(place, x[k]);
    }
  }
}
// Adds `count` elements, at least one, to the places of their ids, which lie side by side. The
// loads of kAtOnce elements are in flight at once.
//
// Measured on an H200, reference geometry, in us, in turn -> this: index_add of f16 333x777
// 150 -> 83. scatter, by three: s_u32_f32 of one id 1.21 -> 1.30, of 2^22 elements 1095 -> 1133.
template <class Id, class T>
KILN_DEVICE void add_at_once(const Id* ids, const T* inp, T* out, u64 count, u64 right,
                             const Places<Id>& targets) {
  if (count == 1) {
    const Id id = *ids;
    const T x = *inp;
    if (targets.has(id)) bring<Bring::kAdd>(out + static_cast<u64>(id) * right, x);
    return;
  }
  constexpr u32 kAtOnce = 4;
#pragma unroll 1
  for (u32 rest = static_cast<u32>(count);; rest -= kAtOnce) {
    Id id[kAtOnce];
    T x[kAtOnce] = {};
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) {
      id[k] = greatest<Id, Id>();
      if (k < rest) {
        id[k] = *ids;
        x[k] = *inp;
      }
      ++ids;
      inp += right;
    }
    add_all(out, right, targets, id, x);
    if (rest <= kAtOnce) return;
  }
}

// How ids are given: one for each j, shared by all places, or one for each element.
enum class Ids { kShared, kOwn };

// Handles two cases with a thread for each place and few instructions: few ids, or too few threads
// to share walks. In the latter, own ids take no longer than in scatter(), and shared ids take less
// time than in index_add() unless that moves chunks. Returns false otherwise.
//
// Measured on an H200, index_add of f32, reference geometry, in us, with votes -> here: 17x1023
// 7.7 -> 4.5.
template <Bring kBring, Ids kIds, class Id, class T>
KILN_DEVICE bool bring_few(const Id* ids, const T* inp, T* out, u64 left, u64 src_dim, u64 dst_dim,
                           u64 right) {
  // With own ids, scatter() shares walks from eight ids on. Measured on an H200, shared ids,
  // reference geometry, in us, with votes -> here: f32 11x64, 11x333, 24x333 2.85 -> 2.32,
  // 4.05 -> 2.50, 6.2 -> 3.8, but f16 24x5000 6.1 -> 8.4.
  constexpr u32 kFew = kIds == Ids::kOwn ? 7 : 15, kFewOfMany = 4, kManyBlocks = 16;
  constexpr u32 kMaxBlocks = 1u << 20;  // u32 can count their threads
  const u64 places = left * right;
  const u32 i = thread_number(), threads = block_count() * block_size();
  if (src_dim == 1 && i >= places) return true;  // first: most waves of small launches exit here
  const bool has_thread_each = (block_count() <= kMaxBlocks) & (threads >= places);
  const u32 few = kIds == Ids::kShared && block_count() >= kManyBlocks ? kFewOfMany : kFew;
  const bool is_short = src_dim - 1 < few;
  const bool is_unshared = (2 * places > threads) & (src_dim - 1 < ~0u);
  if constexpr (kIds == Ids::kOwn) {
    if (!likely((is_short | is_unshared) & has_thread_each)) return false;
  } else if (!likely(is_short & has_thread_each)) {
    const bool is_single = right * sizeof(T) % 16 != 0;
    if (!(is_single & is_unshared & has_thread_each)) return false;
  }
  if (i >= static_cast<u32>(places) || thread_y() != 0) return true;
  u64 from = i, to = i;
  if (left != 1) {
    const u64 slab = i / static_cast<u32>(right) * right;
    from += slab * (src_dim - 1);
    to += slab * (dst_dim - 1);
  }
  inp += from;
  out += to;
  if (kIds == Ids::kOwn) ids += from;
  const Places<Id> targets(dst_dim);
  if constexpr (kIds == Ids::kOwn) {
    bring_in_turn<kBring>(ids, inp, out, src_dim, right, targets);
  } else {
    static_assert(kBring == Bring::kAdd);
    add_at_once(ids, inp, out, src_dim, right, targets);
  }
  return true;
}

template <Bring kBring, class Id, class T>
KILN_DEVICE void scatter(const Id* all_ids, const T* all_inp, T* all_out, u64 left, u64 src_dim,
                         u64 dst_dim, u64 right) {
  // Number of ids in flight. Measured on an H200, own geometry, in us, 2 -> 3: sa_u32_f32 77x768
  // 13.9 -> 19.3; sa_i64_f64 77x768 26.9 -> 21.8.
  constexpr u32 kAhead = kBring == Bring::kAdd && sizeof(T) == 8 ? 3 : 2;
  // Neighbouring threads read along rows. In very short rows they are parts of one place, which
  // read the same elements. Measured in us, by places -> by parts: sa_u32_f32 64x1024 along the
  // last dim 1150 -> 180.
  constexpr u32 kShortRow = 8, kLogTogether = 5;
  constexpr u32 kMin = 4, kMaxParts = 8;
  if (bring_few<kBring, Ids::kOwn>(all_ids, all_inp, all_out, left, src_dim, dst_dim, right))
    return;
  const Id none = greatest<Id, Id>();
  const u32 together = right < kShortRow ? 0 : kLogTogether;
  const u64 others = (1u << together) - 1, places = left * right;
  PlaceAndPart self((places + others) & ~others, src_dim, kMin, kMaxParts);
  self.go_group_by_group(together);
  const Share<Id> share{Places<Id>(dst_dim), self.parts(), self.part};
#pragma unroll 1
  for (; self.place < places; self.place += self.threads) {
    const u64 l = quotient(self.place, right);
    const u64 r = self.place - l * right;
    const Id* ids = all_ids + l * src_dim * right + r;
    const T* inp = all_inp + l * src_dim * right + r;
    T* const out = all_out + l * dst_dim * right + r;
    Id next_id[kAhead];
    T next[kAhead] = {};
#pragma unroll
    for (u32 k = 0; k < kAhead; ++k) next_id[k] = none;
    // Each round loads some elements and stores those that the round before has loaded.
    u64 rest = src_dim;
    bool is_last;
#pragma unroll 1
    do {
      Id id[kAhead];
      T x[kAhead], old[kAhead];
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        id[k] = share.has(next_id[k]) ? next_id[k] : none;
        x[k] = next[k];
        if (kNeedsOld<kBring, T> && id[k] != none) old[k] = out[static_cast<u64>(id[k]) * right];
      }
      is_last = rest == 0;
      const u32 ahead = rest < kAhead ? static_cast<u32>(rest) : kAhead;
      rest -= ahead;
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        next_id[k] = none;
        if (k < ahead) {
          next_id[k] = *ids;
          next[k] = *inp;  // loaded even if the thread skips it: no wait for the id
        }
        ids += right;
        inp += right;
      }
#pragma unroll 1
      for (u32 k = 0; k < kAhead; ++k) {
        if (id[0] != none) {
          T* const place = out + static_cast<u64>(id[0]) * right;
          if constexpr (kNeedsOld<kBring, T>) {
            const T sum = narrow_briefly<T>(sum_of(old[0], x[0]));
            *place = sum;
#pragma unroll
            for (u32 m = 1; m < kAhead; ++m) {
              if (id[m] == id[0]) old[m] = sum;
            }
          } else {
            bring<kBring>(place, x[0]);
          }
        }
#pragma unroll
        for (u32 m = 0; m + 1 < kAhead; ++m) {
          id[m] = id[m + 1];
          x[m] = x[m + 1];
          if (kNeedsOld<kBring, T>) old[m] = old[m + 1];
        }
      }
    } while (!is_last);
  }
}

// All places share the ids, so each lane of a wave reads an id and votes whether the wave takes it.
template <class Id, class T>
KILN_DEVICE void index_add(const Id* ids, u64 count, const T* all_inp, T* all_out, u64 left,
                           u64 dst_dim, u64 right) {
  if (bring_few<Bring::kAdd, Ids::kShared>(ids, all_inp, all_out, left, count, dst_dim, right))
    return;
  constexpr u32 kCount = sizeof(T) == 1 ? 8 : 16 / sizeof(T);
  using Word = Bits<(sizeof(Id) == 8 ? 8 : 4)>;
  const bool in_chunks =
      (address_of(all_inp) | address_of(all_out) | right * sizeof(T)) % (kCount * sizeof(T)) == 0;
  const u32 step = in_chunks ? kCount : 1;
  const u64 per_row = in_chunks ? right / kCount : right;
  const u64 places = left * per_row;
  const bool by_waves = (block_threads() & (wave_width() - 1)) == 0;
  const u32 width = by_waves ? wave_width() : 1;
  const u32 lane = by_waves ? lane_index() : 0;
  const u64 whole = (places + (width - 1)) & ~static_cast<u64>(width - 1);
  constexpr u32 kMaxParts = 1024;
  PlaceAndPart self(whole, count, 1, kMaxParts);
  self.go_part_by_part(static_cast<u32>(whole));
  if (self.is_surplus()) return;
  const Share<Id> share{Places<Id>(dst_dim), self.parts(), self.part};
#pragma unroll 1
  for (; self.place < whole; self.place += self.threads) {
    Id next = greatest<Id, Id>();  // in flight during the division
    if (lane < count) next = ids[lane];
    const u64 l = quotient_of(self.place, per_row);
    const u64 r = (self.place - l * per_row) * step;
    const T* inp = all_inp + l * count * right + r;
    T* const out = all_out + l * dst_dim * right + r;
#pragma unroll 1
    for (u64 j = lane; j - lane < count; j += width) {
      const Id id = next;
      next = greatest<Id, Id>();
      if (j + width < count) next = ids[j + width];
      const bool mine = share.has(id);
      Lanes votes = by_waves ? wave_ballot(mine, KILN_HERE) : mine;
#pragma unroll 1
      for (; votes != 0; votes &= votes - 1) {
        const u32 source = count_ones(~votes & (votes - 1));
        Word chosen = static_cast<Word>(id);
        if (by_waves) chosen = shuffle(chosen, source, width);
        if (self.place >= places) continue;
        const T* const from = inp + source * right;
        T* const to = out + chosen * right;
        if (opaque(in_chunks) != 0) {
          Chunk<T, kCount> more, old, sum;
          more.load(from);
          old.load(to);
          const auto sums = [&](u32 i) { return sum_of(old.get(i), more.get(i)); };
          if constexpr (kIsF8<T> && !kConvertsF8) {  // conversions in software are long
#pragma unroll 1
            for (u32 i = 0; i < kCount; i += 2) {
              Chunk<T, 2> pair;
              set_chunk(pair, sums);
              sum.append(pair);
              old.template drop<2>();
              more.template drop<2>();
            }
          } else {
            sum.set(sums);
          }
          sum.store(to);
        } else {
          bring<Bring::kAdd>(to, *from);
        }
      }
      inp += width * right;
    }
  }
}

}  // namespace kiln::families
