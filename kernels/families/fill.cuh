// out[...] = value, over a contiguous array or a strided view, and the copy of a matrix whose rows
// are apart.
#pragma once

#include "device/lanes.cuh"
#include "device/layout.cuh"
#include "device/platform.cuh"
#include "device/schedule.cuh"

namespace kiln::families {

using namespace device;

// The order of writing is free, so dims are walked from the largest stride to the smallest, and one
// of stride 0 once: every permutation of a dense view is filled as what it is, a contiguous array.
// Returns how many elements are left to write.
KILN_DEVICE u64 set_for_fill(Layout& layout, u64 num_dims, const u64* info) {
  const u64* const dims = info;
  const u64* const strides = info + num_dims;
  u64 count = 1;
  layout.rank = 0;
  u64 above = ~u64{0};  // the stride taken last
  for (;;) {
    u64 next = 0;
    for (u64 d = 0; d < num_dims; ++d) {
      if (dims[d] != 1 && strides[d] < above && strides[d] > next) next = strides[d];
    }
    if (next == 0) break;
    for (u64 d = 0; d < num_dims; ++d) {
      if (dims[d] == 1 || strides[d] != next) continue;
      layout.push(dims[d], next);
      count *= dims[d];
    }
    above = next;
  }
  return count;
}

struct FillPlan {
  Layout layout;
  u64 count;  // elements to write
};

KILN_DEVICE FillPlan& fill_plan() {
  KILN_SHARED(plan, FillPlan);
  return plan;
}

// Prepares the plan; all threads of the block together.
KILN_DEVICE void plan_fill(u64 num_dims, const u64* info) {
  if (thread_index() == 0) fill_plan().count = set_for_fill(fill_plan().layout, num_dims, info);
  barrier();
}

// Sixteen bytes of equal elements to each of the elements [begin, begin + last) of the strided
// view.
template <class B>
KILN_DEVICE void write_strided(Words words, B* out, u64 begin, u32 last) {
  const Layout& layout = fill_plan().layout;
  for (u32 lane = 0; lane < last;) {
    const Place run = layout.place(begin + lane);
    const u32 stop = run.count < last - lane ? lane + static_cast<u32>(run.count) : last;
    B* const to = out + run.offset;
    if (stop - lane == kLanes<B> && layout.inner().stride == 1 && aligned_to_16(address_of(to))) {
      store_16_bytes(to, words);
    } else {
      write_run(words, to, layout.inner().stride, lane, stop);
    }
    lane = stop;
  }
}

// All that is not whole items of a contiguous, aligned array. `i` is the thread's next item.
template <class B>
KILN_ASIDE void fill_rest(u64 numel, u64 num_dims, const u64* info, B* out, B value, u64 i) {
  const Words words = splat(value);
  const Share share = info == nullptr ? share_of_contiguous<B>() : share_of_strided();
  bool contiguous = info == nullptr;
  if (!contiguous) {
    plan_fill(num_dims, info);
    contiguous = fill_plan().layout.is_contiguous();
    numel = fill_plan().count;
  }
  // Of a strided view, items are counted from its first element.
  const Split<B> split(contiguous ? out : nullptr, numel);
  for (; split.has(i); i += share.step) {
    const Item item = split[i];
    if (!contiguous) {
      write_strided(words, out, item.begin, item.last);
    } else if (item.is_whole<B>()) {
      store_16_bytes(out + item.begin, words);
    } else {
      write_run(words, out + item.begin + item.first, 1, item.first, item.last);
    }
  }
}

// `info` null means contiguous.
template <class T>
KILN_DEVICE void fill(u64 numel, u64 num_dims, const u64* info, T* out_elements, T value) {
  if (is_surplus()) return;
  using B = Bits<T>;
  B* const out = reinterpret_cast<B*>(out_elements);
  const Share share = info == nullptr ? share_of_contiguous<B>() : share_of_strided();
  if (share.is_empty()) return;
  u64 i = share.first;
  if (info == nullptr && aligned_to_16(address_of(out))) {
    const Words words = splat(value);
    for (; i < numel / kLanes<B>; i += share.step) store_16_bytes(out + i * kLanes<B>, words);
    if (i * kLanes<B> >= numel) return;  // a short last item is left to the rest
  }
  fill_rest(numel, num_dims, info, out, bits_of(value), i);
}

}  // namespace kiln::families
