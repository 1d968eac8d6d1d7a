// dst[b] = the reduction of elements [b * per_row, (b + 1) * per_row) of a view, whose reduced dims
// come last. A block reduces one row after the other.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

// How the elements of a row lie: at one stride, or anyhow.
struct RowShape {
  bool is_even;
  u64 stride;
};

KILN_DEVICE RowShape shape_of_rows(const Views<1>& view, u64 per_row) {
  RowShape shape{true, 1};
  u64 count = 1;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0 && count < per_row;) {
    dim = unknown(dim - 1);
    const u64 size = view.size(dim);
    if (size == 1) continue;
    const u64 stride = view.stride(0, dim);
    if (count == 1) shape.stride = stride;
    shape.is_even = shape.is_even && stride == shape.stride * count;
    count *= size;
  }
  shape.is_even = shape.is_even && (count == per_row || per_row <= 1);
  return shape;
}

// Where element `i` of a view lies.
KILN_DEVICE u64 place_of(const Views<1>& view, u64 i) {
  u64 place = 0;
#pragma unroll 1
  for (u32 dim = view.rank; dim != 0;) {
    dim = unknown(dim - 1);
    const u64 size = view.size(dim);
    const u64 above = quotient(i, size);
    const u64 digit = i - above * size;
    i = above;
    place += digit * view.stride(0, dim);
  }
  return place;
}

template <class Reduction, class T>
KILN_DEVICE typename Reduction::State reduce_even_row(const T* row, u64 stride, u64 count) {
  using State = typename Reduction::State;
  constexpr u32 kCount = 16 / sizeof(T);
  State state = Reduction::identity();
  const u32 threads = block_threads();
  u32 head = 0;   // elements before the first whole chunk
  u64 whole = 0;  // elements in chunks
  if (stride == 1 && count >= 4 * kCount) {
    head = static_cast<u32>((0 - address_of(row)) / sizeof(T)) % kCount;
    const u64 chunks = (count - head) / kCount;
    const T* const first = row + head;
#pragma unroll 1
    for (u64 c = thread_rank(); c < chunks;) {
      constexpr u32 kAhead = 4;
      Chunk<T, kCount> chunk[kAhead];
      u32 loaded = 1;
      chunk[0].load(first + c * kCount);
      if (chunks - c > (kAhead - 1) * threads) {
        loaded = kAhead;
#pragma unroll
        for (u32 k = 1; k < kAhead; ++k) chunk[k].load(first + (c + k * threads) * kCount);
      }
#pragma unroll 1
      for (u32 left = loaded;;) {
#pragma unroll
        for (u32 j = 0; j < kCount; ++j) {
          state = Reduction::take(state, chunk[0].get(j), head + static_cast<u32>(c) * kCount + j);
        }
        c += threads;
        if (--left == 0) break;
#pragma unroll
        for (u32 k = 0; k + 1 < kAhead; ++k) chunk[k] = chunk[k + 1];
      }
    }
    whole = chunks * kCount;
  }
  // In parts, whose sums lose less than one long sum.
#pragma unroll 1
  for (u64 i = thread_rank(); i < count - whole;) {
    State part = Reduction::identity();
#pragma unroll 4
    for (u32 k = 0; k < 16 && i < count - whole; ++k, i += threads) {
      const u64 at = i < head ? i : i + whole;
      part = Reduction::take(part, row[at * stride], static_cast<u32>(at));
    }
    state = Reduction::join(state, part);
  }
  return state;
}

template <class Reduction, class T, class Out>
KILN_DEVICE void reduce(u64 numel, u64 per_row, u64 num_dims, const u64* info, const T* src,
                        Out* dst) {
  using State = typename Reduction::State;
  const Views<1> view{info, static_cast<u32>(num_dims)};
  const RowShape shape = shape_of_rows(view, per_row);
  const u32 last_dim = num_dims == 0 ? 1 : view.size(view.rank - 1);
#pragma unroll 1
  for (u64 row = block_index(); row * per_row < numel || per_row == 0; row += block_count()) {
    const u64 first = row * per_row;
    const u64 count = numel - first < per_row ? numel - first : per_row;
    State state = Reduction::identity();
    if (shape.is_even) {
      if (count != 0) {
        state = reduce_even_row<Reduction>(src + place_of(view, first), shape.stride, count);
      }
    } else {
#pragma unroll 1
      for (u64 i = thread_rank(); i < count; i += block_threads()) {
        state = Reduction::take(state, src[place_of(view, first + i)], static_cast<u32>(i));
      }
    }
    state = block_reduce<Reduction>(state);
    if (thread_rank() == 0) dst[row] = Reduction::result(state, last_dim);
    if (per_row == 0) return;
  }
}

}  // namespace kiln::families
