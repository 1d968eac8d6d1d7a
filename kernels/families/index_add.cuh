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
  u32 parts;
  u32 part;

  KILN_DEVICE bool has(Id id) const {
    return places.has(id) && (static_cast<u32>(id) & (parts - 1)) == part;
  }
};

// The threads of a launch by place and part of a walk over so many ids: first all places of a part,
// in whole waves where the launch has them.
struct PlaceAndPart {
  u64 place;
  u64 threads;
  u32 parts = 1;  // a power of two
  u32 part = 0;

  // Parts cost their threads all ids, so that each is to have `fewest` of them on average.
  KILN_DEVICE PlaceAndPart(u64 places, u64 ids, u32 fewest) {
    threads = static_cast<u64>(block_count()) * block_threads();
    place = static_cast<u64>(block_index()) * block_threads() + thread_rank();
    if (places == 0 || places > threads / 2 || threads >> 32 != 0) return;
    constexpr u32 kMost = 1024;
    const u32 most = ids / fewest < kMost ? static_cast<u32>(ids) / fewest : kMost;
    const u32 each = static_cast<u32>(places);
#pragma unroll 1
    for (u32 half = static_cast<u32>(threads) / 2; half >= each && parts < most; half /= 2) {
      parts *= 2;
    }
    part = static_cast<u32>(place) / each;
    place -= part * each;
  }
  KILN_DEVICE bool is_surplus() const { return part >= parts; }
};

enum class Bring { kAssign, kAdd };

// Whose ids lead: one for all places of a j, or one for each.
enum class Ids { kShared, kOwn };

// A thread for each place, and few ids: no more instructions than that takes. Says whether it was so.
template <Bring kBring, Ids kIds, class Id, class T>
KILN_DEVICE bool bring_few(const Id* ids, const T* inp, T* out, u64 left, u64 src_dim, u64 dst_dim,
                           u64 right) {
  constexpr u32 kFew = kIds == Ids::kOwn ? 7 : 4;  // scatter() shares walks from eight on
  constexpr u32 kMostBlocks = 1u << 20;            // whose threads u32 can count
  const u64 places = left * right;
  const u32 i = thread_number(), threads = block_count() * block_size();
  if (src_dim == 1 && i >= places) return true;  // first, as most warps of a small launch do
  const bool has_thread_each = (block_count() <= kMostBlocks) & (threads >= places);
  const bool is_short = src_dim - 1 < kFew;
  // With an id for each place, and a place for more than half of the threads, these could share no
  // walk: this takes no longer.
  const bool is_unshared = (2 * places > threads) & (src_dim - 1 < ~0u);
  if (!likely((is_short | (kIds == Ids::kOwn && is_unshared)) & has_thread_each)) return false;
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
      *place = kBring == Bring::kAssign ? x : narrow<T>(sum_of(*place, x));
    }
    if (rest == 1) return true;
    id = next_id;
    x = next;
  }
}

template <Bring kBring, class Id, class T>
KILN_DEVICE void scatter(const Id* all_ids, const T* all_inp, T* all_out, u64 left, u64 src_dim,
                         u64 dst_dim, u64 right) {
  constexpr u32 kAhead = 4;  // ids that are read before the first is used
  if (bring_few<kBring, Ids::kOwn>(all_ids, all_inp, all_out, left, src_dim, dst_dim, right))
    return;
  const Id none = greatest<Id, Id>();
  PlaceAndPart self(left * right, src_dim, kAhead);
  if (self.is_surplus()) return;
  const Share<Id> share{Places<Id>(dst_dim), self.parts, self.part};
#pragma unroll 1
  for (; self.place < left * right; self.place += self.threads) {
    const u64 l = quotient(self.place, right);
    const u64 r = self.place - l * right;
    const Id* ids = all_ids + l * src_dim * right + r;
    const T* inp = all_inp + l * src_dim * right + r;
    T* const out = all_out + l * dst_dim * right + r;
#pragma unroll 1
    for (u64 rest = src_dim; rest != 0;) {
      const u32 ahead = rest < kAhead ? static_cast<u32>(rest) : kAhead;
      Id id[kAhead];
      T x[kAhead];
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        id[k] = none;
        if (k < ahead) {
          id[k] = *ids;
          x[k] = *inp;  // whether or not the thread takes it: no wait for the id
        }
        ids += right;
        inp += right;
      }
#pragma unroll
      for (u32 k = 0; k < kAhead; ++k) {
        if (!share.has(id[k])) id[k] = none;
      }
#pragma unroll 1
      for (u32 k = 0; k < ahead; ++k) {
        if (id[0] != none) {
          T* const to = out + static_cast<u64>(id[0]) * right;
          *to = kBring == Bring::kAssign ? x[0] : narrow<T>(sum_of(*to, x[0]));
        }
#pragma unroll
        for (u32 m = 0; m + 1 < kAhead; ++m) {
          id[m] = id[m + 1];
          x[m] = x[m + 1];
        }
      }
      rest -= ahead;
    }
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
  PlaceAndPart self(whole, count, 1);
  if (self.is_surplus()) return;
  const Share<Id> share{Places<Id>(dst_dim), self.parts, self.part};
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
      u64 votes = by_waves ? wave_ballot(mine, KILN_HERE) : mine;
#pragma unroll 1
      for (; votes != 0; votes &= votes - 1) {
        const u64 before = ~votes & (votes - 1);
        const u32 source =
            count_ones(static_cast<u32>(before)) + count_ones(static_cast<u32>(before >> 32));
        Word chosen = static_cast<Word>(id);
        if (by_waves) chosen = shuffle(chosen, source, width);
        if (self.place >= places) continue;
        const T* const from = inp + source * right;
        T* const to = out + chosen * right;
        if (unknown(in_chunks) != 0) {
          Chunk<T, kCount> more, old, sum;
          more.load(from);
          old.load(to);
          sum.set([&](u32 i) { return sum_of(old.get(i), more.get(i)); });
          sum.store(to);
        } else {
          *to = narrow<T>(sum_of(*to, *from));
        }
      }
      inp += width * right;
    }
  }
}

}  // namespace kiln::families
