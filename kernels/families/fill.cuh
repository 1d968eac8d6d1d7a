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
// where it is long.
template <class B>
KILN_DEVICE void fill_view(const Views<1>& view, u32 first, u64 numel, u64 self, u64 threads,
                           B* out, B value) {
  constexpr u32 kLogAbreast = 5, kSeveral = 4;
  const u32 size = view.size(first);
  const u64 stride = view.stride(0, first);
  const bool is_long = size >= kSeveral << kLogAbreast;
  const u32 several = is_long ? kSeveral : 1;
  const u32 groups = is_long ? ((size - 1) / (kSeveral << kLogAbreast) + 1) << kLogAbreast : size;
#pragma unroll 1
  for (u64 i = self; i < numel; i += threads) {
    // The group, then the digits of the other dims. There are no more groups than elements; beyond
    // the last of them something is left.
    u64 left = i, place = 0;
    u32 group = 0, dim = first, divisor = groups;
#pragma unroll 1
    for (u32 next = view.rank;;) {
      const u64 above = quotient(left, divisor);
      const u32 digit = static_cast<u32>(left - above * divisor);
      left = above;
      if (dim == first) {
        group = digit;
      } else {
        place += digit * view.stride(0, dim);
      }
      if (next != 0 && next - 1 == first) --next;
      if (next == 0) break;
      dim = next = unknown(next - 1);
      divisor = view.size(dim);
    }
    if (left != 0) return;
    if (is_long) group += (group >> kLogAbreast << kLogAbreast) * (kSeveral - 1);
#pragma unroll 1
    for (u32 k = 0; k < several && group < size; ++k, group += 1u << kLogAbreast) {
      out[place + group * stride] = value;
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
  const Spread spread(numel);
  if (spread.is_surplus()) return;
  u32 first = 0;
  if (!contiguous) {
    const FillOrder order = fill_order(view);
    contiguous = order.contiguous;
    first = order.first;
  }
  if (!contiguous) return fill_view(view, first, numel, spread.self, spread.threads, out, value);
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
