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
      const u32 size = view.size(dim);
      const u64 above = quotient(i, size);
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

// `info` null means contiguous.
template <class T>
KILN_DEVICE void fill(u64 numel, u64 num_dims, const u64* info, T* elements, T element) {
  using B = BitsOf<T>;
  constexpr u32 kCount = 16 / sizeof(B);
  B* const out = reinterpret_cast<B*>(elements);
  const B value = bits_of(element);
  const Views<1> view{info, static_cast<u32>(num_dims)};
  FillOrder order{view.rank, info == nullptr};
  // The reference's geometry. Stores alone are as fast one by one as by chunks from fewer threads,
  // unless they are of bytes.
  if (sizeof(B) != 1 && likely(order.contiguous & (block_size() == 1024))) {
    const u64 threads = launched_threads();
    for (u64 i = static_cast<u64>(block_index()) * 1024 + thread_index(); i < numel; i += threads) {
      out[i] = value;
    }
    return;
  }
  const bool one_each = takes_one_element(numel);
  if (likely(order.contiguous & one_each)) {
    const u32 mine = thread_number();
    if (mine < static_cast<u32>(numel)) near(out, mine) = value;
    return;
  }
  if (leaves_at_once()) return;
  const Spread spread(numel);
  if (spread.is_surplus()) return;
  if (!order.contiguous && !one_each) order = fill_order(view);
  u64 i = spread.self;
  if (order.contiguous && address_of(out) % 16 == 0) {
    const u64 chunks = numel / kCount;
    const u32 threads = spread.threads_for(chunks);
    if (i >= threads) return;
    Chunk<B, kCount> chunk;
    chunk.fill(value);
#pragma unroll 1
    for (; i < chunks; i += threads) chunk.store(out + i * kCount);
    i = chunks * kCount + spread.self;
  }
#pragma unroll 1
  for (; i < numel; i += spread.threads) {
    out[order.contiguous ? i : find_in_order(view, order.first, i)] = value;
  }
}

// Without a view.
template <class T>
KILN_DEVICE void fill(u64 numel, T* elements, T element) {
  fill(numel, 0, nullptr, elements, element);
}

}  // namespace kiln::families
