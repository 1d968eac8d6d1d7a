// Elements found by ids along a dim: `left` counts what lies before it, `right` what lies behind.
//   select  out[l, j, r] = inp[l, ids[j], r]
//   gather  out[l, j, r] = inp[l, ids[l, j, r], r]
// An id that is the greatest of its type, or none of the dim's, gives zero.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/limits.cuh"
#include "families/reduce.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// quotient(). Kernels for sm_80, of which PTX is made, call what 32 bits do not suffice for; inline, each
// would have it several times.
KILN_ASIDE u64 quotient_aside(u64 a, u64 b) { return quotient(a, b); }
KILN_DEVICE u64 quotient_of(u64 a, u64 b) {
  if (kArchitecture == tuning::Architecture::kSm80 && (a | b) >> 32 != 0) {
    return quotient_aside(a, b);
  }
  return quotient(a, b);
}

// The ids that are places of a dim.
template <class Id>
struct Places {
  using Unsigned = BitsOf<Id>;
  Unsigned end;

  // The greatest id is none, whatever the dim's size; a negative one counts as a great one.
  KILN_DEVICE explicit Places(u64 size) {
    const auto most = static_cast<Unsigned>(greatest<Id, Id>());
    end = size < most ? static_cast<Unsigned>(size) : most;
  }
  KILN_DEVICE bool has(Id id) const { return static_cast<Unsigned>(id) < end; }
};

// So many elements of one byte are moved by chunks, though there is a thread for each. NVIDIA H200, us
// for 2^17 and 2^18 of them, singly and by chunks: 3.09, 3.17; 3.98, 3.41.
inline constexpr u32 kFewBytes = 1u << 18;

template <class Id, class T>
KILN_DEVICE void index_select(u64 numel, u64 num_dims, const u64* info, const Id* ids,
                              const T* source, T* target, u64 src_dim, u64 ids_dim, u64 right) {
  using B = BitsOf<T>;
  constexpr u32 kCount = 16 / sizeof(B);
  const B* const inp = reinterpret_cast<const B*>(source);
  B* const out = reinterpret_cast<B*>(target);
  if (leaves_at_once()) return;
  const Spread spread = Spread::in_rows(numel);
  if (spread.is_surplus()) return;
  const bool singly = takes_one_element(numel) & (sizeof(B) != 1 || numel < kFewBytes);
  const bool in_chunks =
      !singly && (address_of(inp) | address_of(out) | right * sizeof(B)) % 16 == 0;
  const Views<1> view{info, static_cast<u32>(num_dims)};
  const Places<Id> places(src_dim);
  const u64 per_row = in_chunks ? right / kCount : right;
  const u64 units = in_chunks ? numel / kCount : numel;
#pragma unroll 1
  for (u64 i = spread.self; i < units; i += spread.threads) {
    const u64 row = quotient_of(i, per_row);
    const u64 l = row < ids_dim ? 0 : quotient_of(row, ids_dim);
    const u64 j = row - l * ids_dim;
    u64 place = j;
    if (info != nullptr) {
      place = view.rank == 1 ? j * view.stride(0, 0) : place_of(view, view.rank, j);
    }
    const Id id = ids[place];
    const bool found = places.has(id);
    const u64 k = i - row * per_row + (l * src_dim + static_cast<u64>(id)) * per_row;
    if (in_chunks) {
      Chunk<B, kCount> chunk;
      chunk.clear();
      if (found) chunk.load(inp + k * kCount);
      chunk.store(out + i * kCount);
    } else {
      out[i] = found ? inp[k] : B{0};
    }
  }
}

template <class Id, class T>
KILN_DEVICE void gather(u64 numel, const Id* ids, const T* source, T* target, u64 src_dim,
                        u64 ids_dim, u64 right) {
  using B = BitsOf<T>;
  // Neighbours that are found together, as many as registers hold: by ids of i32 eight of f8 spill
  // on sm_80. NVIDIA H200, us for 16384x4096 by ids of u32, of 4 and 8: f8 123, 108; f16 149, 144;
  // f32 203, 264.
  constexpr u32 kMost = sizeof(Id) <= 4 && static_cast<Id>(-1) > 0 ? 8 : 4;
  constexpr u32 kCount = 16 / sizeof(B) < kMost ? 16 / sizeof(B) : kMost;
  const B* const inp = reinterpret_cast<const B*>(source);
  B* const out = reinterpret_cast<B*>(target);
  const u32 most = most_blocks();  // before the block's number, which is else read slowly
  if (block_index() >= most) return;
  const Spread spread(numel);
  if (spread.is_surplus()) return;
  const u64 slab = ids_dim * right;
  const bool together = !takes_one_element(numel) && (right == 1 || right % kCount == 0) &&
                        slab % kCount == 0 && address_of(out) % (kCount * sizeof(B)) == 0 &&
                        address_of(ids) % (kCount * sizeof(Id)) == 0;
  const u32 step = together ? kCount : 1;
  const Places<Id> places(src_dim);
#pragma unroll 1
  for (u64 i = static_cast<u64>(spread.self) * step; i < numel;
       i += static_cast<u64>(spread.threads) * step) {
    Chunk<Id, kCount> chosen;  // on its way while the divisions are done
    if (together) {
      chosen.load(ids + i);
    } else {
      chosen.clear();
      chosen.put(0, ids[i]);
    }
    const u64 l = quotient_of(i, slab);
    const u64 r = right == 1 ? 0 : i - quotient_of(i, right) * right;
    const B* const from = inp + l * src_dim * right + r;
    if (together) {
      Chunk<B, kCount> found;
      found.clear();
      const u32 apart = unknown(right == 1) != 0 ? 0 : 1;
#pragma unroll
      for (u32 k = 0; k < kCount; ++k) {
        const Id id = chosen.get(k);
        if (places.has(id)) found.put(k, from[static_cast<u64>(id) * right + k * apart]);
      }
      found.store(out + i);
    } else {
      const Id id = chosen.get(0);
      out[i] = places.has(id) ? from[static_cast<u64>(id) * right] : B{0};
    }
  }
}

}  // namespace kiln::families
