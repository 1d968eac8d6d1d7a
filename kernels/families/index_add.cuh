// Elements brought to the places that ids name along a dim: `left` counts what lies before it,
// `right` what lies behind.
//   scatter      out[l, ids[l, j, r], r] = inp[l, j, r]
//   scatter_add  out[l, ids[l, j, r], r] += inp[l, j, r]
//   index_add    out[l, ids[j], r] += inp[l, j, r]
// In the order of j, each sum rounded to T. An id that is the greatest of its type, or none of the
// dim's, is passed over.
//
// A thread walks all j of one (l, r), or of a chunk of neighbours along r. Where there are threads
// to spare they share a long walk by destination: each takes the ids that leave its own remainder,
// so that every place keeps its order.
#pragma once

#include "device/chunk.cuh"
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

// The ids that a thread takes: places of the dim, of one remainder by a power of two.
template <class Id>
struct Share {
  Places<Id> places;
  u32 parts, part;

  KILN_DEVICE bool has(Id id) const {
    return places.has(id) && (static_cast<u32>(id) & (parts - 1)) == part;
  }
};

// The threads of a launch by place and part of a walk over so many ids.
struct PlaceAndPart {
  u64 place;
  u64 threads;
  u32 log_parts = 0;
  u32 part = 0;

  // Parts cost their threads all ids, so that each is to have `fewest` of them on average; there
  // are at most `most`.
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

  // First all places of a part. Threads behind the last part have none.
  KILN_DEVICE void go_part_by_part(u32 places) {
    if (log_parts == 0) return;
    part = static_cast<u32>(place) / places;
    place -= part * places;
  }
  KILN_DEVICE bool is_surplus() const { return part >= parts(); }

  // First all parts of 2^`together` places, of which there are whole groups.
  KILN_DEVICE void go_group_by_group(u32 together) {
    part = static_cast<u32>(place >> together) & (parts() - 1);
    const u64 group = place >> together >> log_parts;
    place = (group << together) + (place & ((1u << together) - 1));
  }
};

enum class Bring { kAssign, kAdd };

// Whose ids lead: one for all places of a j, or one for each.
enum class Ids { kShared, kOwn };

// A thread for each place, and few ids: no more instructions than that takes. Or threads that could
// share no walk: with an id for each place they take no longer so, and with one for all less long,
// unless they move chunks. Says whether it was so.
//
// H200, microseconds of index_add of f32 in the reference's geometry, so and with votes:
//   17 x 1023 5.3, 7.7; 77 x 769 17.8, 25.0; 3000 x 3001 1362, 1560.
template <Bring kBring, Ids kIds, class Id, class T>
KILN_DEVICE bool bring_few(const Id* ids, const T* inp, T* out, u64 left, u64 src_dim, u64 dst_dim,
                           u64 right) {
  // Of ids that each place has, scatter() shares walks from eight on. H200, us of shared ones of f32 in the
  // reference's geometry, so and with votes: 5x333 2.26, 2.93; 7x333 2.63, 3.27.
  constexpr u32 kFew = 7, kFewOfMany = 4, kManyBlocks = 16;
  constexpr u32 kMostBlocks = 1u << 20;  // whose threads u32 can count
  const u64 places = left * right;
  const u32 i = thread_number(), threads = block_count() * block_size();
  if (src_dim == 1 && i >= places) return true;  // first, as most warps of a small launch do
  const bool has_thread_each = (block_count() <= kMostBlocks) & (threads >= places);
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
  Id id = *ids;
  T x = *inp;
#pragma unroll 1
  for (u32 rest = static_cast<u32>(src_dim);; --rest) {
    Id next_id = id;
    T next = x;
    if (rest != 1) {  // on their way while this one is brought
      inp += right;
      ids += kIds == Ids::kOwn ? right : 1;
      next_id = *ids;
      next = *inp;
    }
    if (targets.has(id)) {
      T* const place = out + static_cast<u64>(id) * right;
      *place = kBring == Bring::kAssign ? x : narrow_briefly<T>(sum_of(*place, x));
    }
    if (rest == 1) return true;
    id = next_id;
    x = next;
  }
}

template <Bring kBring, class Id, class T>
KILN_DEVICE void scatter(const Id* all_ids, const T* all_inp, T* all_out, u64 left, u64 src_dim,
                         u64 dst_dim, u64 right) {
  // Ids that are on their way together. H200, microseconds in our own geometry by 2 and 3:
  // sa_u32_f32 77 x 768 13.9, 19.3, 1000 x 100 147, 127; sa_i64_f64 77 x 768 26.9, 21.8.
  constexpr u32 kAhead = kBring == Bring::kAdd && sizeof(T) == 8 ? 3 : 2;
  // Neighbouring threads read along rows; those of very short rows are parts, which read the same.
  // Of 64 x 1024 along the last dim sa_u32_f32 takes 1150 microseconds by places, 180 by parts.
  constexpr u32 kShortRow = 8, kLogTogether = 5;
  constexpr u32 kFewest = 4, kMostParts = 8;
  if (bring_few<kBring, Ids::kOwn>(all_ids, all_inp, all_out, left, src_dim, dst_dim, right))
    return;
  const Id none = greatest<Id, Id>();
  const u32 together = right < kShortRow ? 0 : kLogTogether;
  const u64 others = (1u << together) - 1, places = left * right;
  PlaceAndPart self((places + others) & ~others, src_dim, kFewest, kMostParts);
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
    // Each round reads some and brings those that the round before has read.
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
        if (kBring == Bring::kAdd && id[k] != none) old[k] = out[static_cast<u64>(id[k]) * right];
      }
      is_last = rest == 0;
      const u32 ahead = rest < kAhead ? static_cast<u32>(rest) : kAhead;
      rest -= ahead;
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        next_id[k] = none;
        if (k < ahead) {
          next_id[k] = *ids;
          next[k] = *inp;  // whether or not the thread takes it: no wait for the id
        }
        ids += right;
        inp += right;
      }
#pragma unroll 1
      for (u32 k = 0; k < kAhead; ++k) {
        if (id[0] != none) {
          const T result =
              kBring == Bring::kAssign ? x[0] : narrow_briefly<T>(sum_of(old[0], x[0]));
          out[static_cast<u64>(id[0]) * right] = result;
#pragma unroll
          for (u32 m = 1; kBring == Bring::kAdd && m < kAhead; ++m) {
            if (id[m] == id[0]) old[m] = result;
          }
        }
#pragma unroll
        for (u32 m = 0; m + 1 < kAhead; ++m) {
          id[m] = id[m + 1];
          x[m] = x[m + 1];
          if (kBring == Bring::kAdd) old[m] = old[m + 1];
        }
      }
    } while (!is_last);
  }
}

// The ids are the same for all places, so that the lanes of a wave read one each and vote.
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
  constexpr u32 kMostParts = 1024;
  PlaceAndPart self(whole, count, 1, kMostParts);
  self.go_part_by_part(static_cast<u32>(whole));
  if (self.is_surplus()) return;
  const Share<Id> share{Places<Id>(dst_dim), self.parts(), self.part};
#pragma unroll 1
  for (; self.place < whole; self.place += self.threads) {
    Id next = greatest<Id, Id>();  // on its way while the division is done
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
        if (unknown(in_chunks) != 0) {
          Chunk<T, kCount> more, old, sum;
          more.load(from);
          old.load(to);
          const auto sums = [&](u32 i) { return sum_of(old.get(i), more.get(i)); };
          if constexpr (kIsF8<T> && !kConvertsF8) {  // whose conversions are long
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
          *to = narrow_briefly<T>(sum_of(*to, *from));
        }
      }
      inp += width * right;
    }
  }
}

}  // namespace kiln::families
