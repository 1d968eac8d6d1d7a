// Sums or writes elements at ids along one dim. `left` counts the positions in the dims before it,
// `right` those in the dims after it.
//   index_sum_any     out[l, ids[j], r] += inp[l, j, r], atomically, in any order
//   scatter_any       out[l, ids[l, j, r], r] += inp[l, j, r], atomically, in any order; or = in
//                     place of +=, so that one of the elements for a place stays
//   index_sum_sorted  like index_sum_any, but in the order of j and rounded once; `order` has the
//                     positions of the ids sorted by id, and keeps the order of equal ids
// An id outside the dim is skipped. So is the greatest value of the id's type.
#pragma once

#include "device/arithmetic.cuh"
#include "device/atomic_chunk.cuh"
#include "device/chunk.cuh"
#include "families/index_add.cuh"

namespace kiln::families {

using namespace device;

// How rows of `right` elements are moved: by chunks if both arrays allow it, otherwise one by one.
template <class T>
struct Neighbours {
  static constexpr u32 kCount = 16 / sizeof(T);
  bool in_chunks;
  u32 step;
  u64 per_row;

  KILN_DEVICE Neighbours(const T* inp, const T* out, u64 right) {
    in_chunks = (address_of(inp) | address_of(out) | right * sizeof(T)) % 16 == 0;
    step = in_chunks ? kCount : 1;
    per_row = in_chunks ? right / kCount : right;
  }
};

template <class Id, class T>
KILN_DEVICE void index_sum_any(const Id* ids, u64 count, const T* inp, T* out, u64 left,
                               u64 dst_dim, u64 right) {
  if (count == 1 && bring_few<Bring::kAdd, Ids::kShared>(ids, inp, out, left, 1, dst_dim, right)) {
    return;
  }
  if (leaves_at_once()) return;
  const Neighbours<T> units(inp, out, right);
  const Places<Id> places(dst_dim);
  const u64 all = left * count * units.per_row;
  const Spread spread(all);
  if (spread.is_surplus()) return;
#pragma unroll 1
  for (u64 i = spread.self; i < all; i += spread.threads) {
    const u64 row = quotient_of(i, units.per_row);
    const u64 l = quotient_of(row, count);
    const Id id = ids[row - l * count];
    if (!places.has(id)) continue;
    const u64 r = (i - row * units.per_row) * units.step;
    const T* const from = inp + row * right + r;
    T* const to = out + (l * dst_dim + static_cast<u64>(id)) * right + r;
    if (opaque(units.in_chunks) != 0) {
      Chunk<T, Neighbours<T>::kCount> chunk;
      chunk.load(from);
      atomic_sum(to, chunk);
    } else {
      atomic_sum(to, *from);
    }
  }
}

template <Bring kBring, class Id, class T>
KILN_DEVICE void scatter_any(const Id* ids, const T* inp, T* out, u64 left, u64 src_dim,
                             u64 dst_dim, u64 right) {
  constexpr bool kAdds = kBring == Bring::kAdd;
  // With one id for each place, plain sums are safe and faster than atomics of two bytes.
  if (kAdds && sizeof(T) == 2 && src_dim == 1 &&
      bring_few<Bring::kAdd, Ids::kOwn>(ids, inp, out, left, 1, dst_dim, right)) {
    return;
  }
  if (leaves_at_once()) return;
  const Places<Id> places(dst_dim);
  const u64 slab = src_dim * right, all = left * slab;
  const Spread spread(all);
  if (spread.is_surplus()) return;
#pragma unroll 1
  for (u64 i = spread.self; i < all; i += spread.threads) {
    const Id id = ids[i];
    const T x = inp[i];  // in flight together with the id
    const u64 l = quotient_of(i, slab);
    const u64 r = right == 1 ? 0 : i - quotient_of(i, right) * right;
    if (!places.has(id)) continue;
    T* const place = out + (l * dst_dim + static_cast<u64>(id)) * right + r;
    if constexpr (kAdds) {
      atomic_sum(place, x);
    } else {
      store_relaxed(place, bits_of(x));
    }
  }
}

template <class Id, class T>
KILN_DEVICE void index_sum_sorted(const Id* ids, const u32* order, u64 count, const T* inp, T* out,
                                  u64 left, u64 dst_dim, u64 right) {
  using M = Arithmetic<T>;
  if (count == 1 && bring_few<Bring::kAdd, Ids::kShared>(ids, inp, out, left, 1, dst_dim, right)) {
    return;
  }
  if (leaves_at_once()) return;
  constexpr u32 kCount = Neighbours<T>::kCount;
  const Neighbours<T> units(inp, out, right);
  const Places<Id> places(dst_dim);
  const u64 all = left * count * units.per_row;
  const Spread spread(all);
  if (spread.is_surplus()) return;
#pragma unroll 1
  for (u64 i = spread.self; i < all; i += spread.threads) {
    const u64 row = quotient_of(i, units.per_row);
    const u64 l = quotient_of(row, count);
    u64 at = row - l * count;
    u32 j = order[at];
    const Id id = ids[j];
    // The first position of each id sums all rows of that id.
    if (!places.has(id) || (at != 0 && ids[order[at - 1]] == id)) continue;
    const u64 r = (i - row * units.per_row) * units.step;
    const T* const from = inp + l * count * right + r;
    T* const to = out + (l * dst_dim + static_cast<u64>(id)) * right + r;
    typename M::Number sum[kCount];
    Chunk<T, kCount> chunk;
    if (units.in_chunks) {
      chunk.load(to);
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) sum[k] = widen(chunk.get(k));
    } else {
      sum[0] = widen(*to);
    }
#pragma unroll 1
    for (;;) {
      if (units.in_chunks) {
        chunk.load(from + j * right);
#pragma unroll
        for (u32 k = 0; k < kCount; ++k) sum[k] = M::add(sum[k], widen(chunk.get(k)));
      } else {
        sum[0] = M::add(sum[0], widen(from[j * right]));
      }
      if (++at == count) break;
      j = order[at];
      if (ids[j] != id) break;
    }
    if (units.in_chunks) {
      chunk.set([&](u32 k) { return sum[k]; });
      chunk.store(to);
    } else {
      *to = narrow<T>(sum[0]);
    }
  }
}

}  // namespace kiln::families
