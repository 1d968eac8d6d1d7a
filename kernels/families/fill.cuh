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
  u32 first;  // that dim, or the last
  bool contiguous;
};
KILN_DEVICE FillOrder fill_order(const Views<1>& view) {
  FillOrder order{view.rank - 1, true};
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

// A view of many elements: neighbouring threads take neighbours of the first dim, and several each
// where it is long. A group's number has two parts, as a walk's (device/index.cuh).
template <class B>
KILN_DEVICE void fill_view(const Views<1>& view, u32 first, u32 self, u32 threads, B* out,
                           B value) {
  const u32 size = view.size(first);
  const u64 stride = view.stride(0, first);
  const u32 log_several = size >= 4 * kLine ? 2 : size >= 2 * kLine ? 1 : 0;
  const u32 groups =
      log_several == 0 ? size : (((size - 1) >> (kLogLine + log_several)) + 1) << kLogLine;
  u32 inner = groups, outer = 1, split = 0;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = unknown(dim - 1);
    if (dim == first) continue;
    const u32 each = view.size(dim);
    const u64 product = static_cast<u64>(inner) * each;
    if (split == 0 && product >> 31 == 0) {
      inner = static_cast<u32>(product);
    } else {
      if (split == 0) split = dim + 1;
      outer *= each;
    }
  }
  u32 i = self;
#pragma unroll 1
  while (outer != 0) {
    if (i >= inner) {
      i -= inner;
      --outer;
      continue;
    }
    u32 rest = i / groups, element = i - rest * groups;
    u64 place = 0;
#pragma unroll 1
    for (u32 dim = view.rank; dim != 0;) {
      dim = unknown(dim - 1);
      if (dim + 1 == split) rest = outer - 1;
      if (dim == first) continue;
      const u32 each = view.size(dim), above = rest / each;
      place += (rest - above * each) * view.stride(0, dim);
      rest = above;
    }
    i += threads;
    const u32 line = element >> kLogLine << kLogLine;
    element += (line << log_several) - line;
#pragma unroll 1
    for (u32 k = 0; k >> log_several == 0 && element < size; ++k, element += kLine) {
      out[place + element * stride] = value;
    }
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
  bool contiguous = info == nullptr;
  // The reference's geometry. Stores alone are as fast one by one as by chunks from fewer threads,
  // unless they are of bytes.
  if (sizeof(B) != 1 && likely(contiguous & (block_size() == 1024))) {
    const u64 threads = launched_threads();
    for (u64 i = static_cast<u64>(block_index()) * 1024 + thread_index(); i < numel; i += threads) {
      out[i] = value;
    }
    return;
  }
  const bool one_each = takes_one_element(numel, sizeof(B) == 1 && contiguous);
  if (likely(contiguous & one_each)) {
    const u32 mine = thread_number();
    if (mine < static_cast<u32>(numel)) near(out, mine) = value;
    return;
  }
  if (leaves_at_once()) return;
  if (one_each) {
    const u32 mine = thread_number();
    if (mine < static_cast<u32>(numel)) out[find_element(view, mine).at[0]] = value;
    return;
  }
  // What else is a view has dims, so that loops over them need not ask first.
  contiguous = contiguous || view.rank == 0;
  const Spread spread(numel);
  if (spread.is_surplus()) return;
  if (!contiguous) {
    const FillOrder order = fill_order(view);
    if (!order.contiguous) {
      return fill_view(view, order.first, spread.self, spread.threads, out, value);
    }
  }
  u64 i = spread.self;
  if (address_of(out) % 16 == 0) {
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
  for (; i < numel; i += spread.threads) out[i] = value;
}

// Without a view.
template <class T>
KILN_DEVICE void fill(u64 numel, T* elements, T element) {
  fill(numel, 0, nullptr, elements, element);
}

}  // namespace kiln::families
