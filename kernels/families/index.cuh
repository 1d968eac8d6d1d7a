// Reads elements at ids along one dim. l counts the positions in the dims before it, r and `right`
// those in the dims after it.
//   select  out[l, j, r] = inp[l, ids[j], r]
//   gather  out[l, j, r] = inp[l, ids[l, j, r], r]
// An id outside the dim gives zero. So does the greatest value of the id's type.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/limits.cuh"
#include "families/reduce.cuh"
#include "families/spread.cuh"
#include "tuning/gather.hpp"

namespace kiln::families {

using namespace device;

// Same as quotient(). Its 64-bit division is not inlined for sm_80, which is also shipped as PTX:
// each kernel would have several copies.
KILN_NOINLINE u64 quotient_outlined(u64 a, u64 b) { return quotient(a, b); }
KILN_DEVICE u64 quotient_of(u64 a, u64 b) {
  if (kArchitecture == tuning::Architecture::kSm80 && (a | b) >> 32 != 0) {
    return quotient_outlined(a, b);
  }
  return quotient(a, b);
}

// The valid ids of a dim.
template <class Id>
struct Places {
  using Unsigned = BitsOf<Id>;
  Unsigned end;

  // The greatest value of the type is never valid. A negative id becomes a great unsigned one, not
  // valid either.
  KILN_DEVICE explicit Places(u64 size) {
    const auto most = static_cast<Unsigned>(greatest<Id, Id>());
    end = size < most ? static_cast<Unsigned>(size) : most;
  }
  KILN_DEVICE bool has(Id id) const { return static_cast<Unsigned>(id) < end; }
};

// Number of one-byte elements from which select moves chunks, even with a thread for each element.
// Measured on an H200, in us, one by one -> by chunks: 2^17 elements 3.09 -> 3.17; 2^18
// 3.98 -> 3.41.
inline constexpr u32 kFewBytes = 1u << 18;

template <class Id, class T>
KILN_DEVICE void index_select(u64 numel, u64 num_dims, const u64* info, const Id* ids,
                              const T* source, T* target, u64 src_dim, u64 ids_dim, u64 right) {
  using B = BitsOf<T>;
  constexpr u32 kCount = 16 / sizeof(B);
  const B* const inp = reinterpret_cast<const B*>(source);
  B* const out = reinterpret_cast<B*>(target);
  if (leaves_to_few()) return;
  const Spread spread(numel, false, few_or_all_blocks());
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

template <class Id, class B>
inline constexpr u32 kGathered = tuning::gathered_together(sizeof(B), sizeof(Id),
                                                           static_cast<Id>(-1) < 0);

template <class Id, class T>
KILN_DEVICE void gather(u64 numel, const Id* ids, const T* source, T* target, u64 src_dim,
                        u64 ids_dim, u64 right) {
  using B = BitsOf<T>;
  constexpr u32 kCount = kGathered<Id, B>;
  const B* const inp = reinterpret_cast<const B*>(source);
  B* const out = reinterpret_cast<B*>(target);
  const u32 most = max_blocks();  // before block_index(), which is slow to read otherwise
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
    Chunk<Id, kCount> chosen;  // in flight during the divisions
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
      const u32 apart = opaque(right == 1) != 0 ? 0 : 1;
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
