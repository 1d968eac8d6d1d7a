// out[...] = value, over a contiguous array or a strided view.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// How a view is filled. The order is free, so the dim whose neighbours lie side by side is walked
// first: threads then write whole lines.
struct FillOrder {
  u32 first;  // that dim; none where it equals the rank
  bool contiguous;
};
KILN_DEVICE FillOrder fill_order(const Views<1>& view) {
  FillOrder order{view.rank, true};
  u64 expected = 1;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = unknown(dim - 1);
    const u64 size = view.size(dim);
    if (size == 1) continue;
    const u64 stride = view.stride(0, dim);
    order.contiguous = order.contiguous && stride == expected;
    if (stride == 1) order.first = dim;
    expected *= size;
  }
  return order;
}

// Where the element `i` of that order lies.
KILN_DEVICE u64 find_in_order(const Views<1>& view, u32 first, u64 i) {
  u64 place = 0;
  u32 dim = first;
#pragma unroll 1
  for (u32 next = view.rank;;) {
    if (dim != view.rank) {
      const u64 size = view.size(dim);
      const u64 above = i / size;
      place += (i - above * size) * view.stride(0, dim);
      i = above;
    }
    do {
      if (next == 0) return place;
      next = unknown(next - 1);
    } while (next == first);
    dim = next;
  }
}

// Every element of a contiguous array, in any launch. Where there is a thread for every element,
// the first ones write a chunk each: stores need no more than that, and no latency to hide.
template <class B>
KILN_DEVICE void fill_contiguous(u64 numel, B* out, B value) {
  constexpr u32 kCount = 16 / sizeof(B);
  u64 i = static_cast<u64>(block_index()) * block_size() + thread_index();
  const u64 threads = launched_threads();
  if (!takes_one_element(numel) && address_of(out) % 16 == 0) {
    const u64 chunks = numel / kCount;
    if (i >= chunks + kCount && threads >= numel) return;
    Chunk<B, kCount> chunk;
    chunk.fill(value);
#pragma unroll 1
    for (; i < chunks; i += threads) chunk.store(out + i * kCount);
    // The thread whose next chunk would be the first behind the end, and those after it, write the
    // rest by elements.
    i += chunks * (kCount - 1);
  }
#pragma unroll 1
  for (; i < numel; i += threads) out[i] = value;
}

// `info` null means contiguous.
template <class T>
KILN_DEVICE void fill(u64 numel, u64 num_dims, const u64* info, T* elements, T element) {
  using B = BitsOf<T>;
  B* const out = reinterpret_cast<B*>(elements);
  const B value = bits_of(element);

  const Views<1> view{info, static_cast<u32>(num_dims)};
  FillOrder order{view.rank, info == nullptr};
  if (!order.contiguous && !takes_one_element(numel)) order = fill_order(view);
  if (order.contiguous) return fill_contiguous(numel, out, value);
  const u64 threads = launched_threads();
#pragma unroll 1
  for (u64 i = static_cast<u64>(block_index()) * block_size() + thread_index(); i < numel;
       i += threads) {
    out[find_in_order(view, order.first, i)] = value;
  }
}

// Without a view.
template <class T>
KILN_DEVICE void fill(u64 numel, T* elements, T element) {
  fill_contiguous(numel, reinterpret_cast<BitsOf<T>*>(elements), bits_of(element));
}

}  // namespace kiln::families
