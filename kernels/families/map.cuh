// out[i] = f(inp[place of i]): one input, any layout; the output is contiguous.
//
// The ways through memory, chosen per block from the layout alone:
//   contiguous   sixteen-byte items, aligned in the output
//   strided      the same items; each reads its elements run by run, or in one access where the
//                rows of the input are long and aligned
//   transposed   the input is contiguous along another dim than the output: tiles go through shared
//                memory, so that both sides move whole lines
// An item is read before it is written and nothing is read through a read-only cache, so `inp` may
// be `out`.
#pragma once

#include "device/lanes.cuh"
#include "device/layout.cuh"
#include "device/platform.cuh"
#include "device/schedule.cuh"
#include "families/transpose_tile.cuh"

namespace kiln::families {

using namespace device;

// What one thread of a block works out for all.
template <class B>
struct MapPlan {
  Layout layout;
  Tiling<B> tiling;
  bool contiguous;
  bool aligned;  // a whole item is sixteen aligned bytes of the input too

  KILN_DEVICE void set(u64 num_dims, const u64* info, const B* inp, const B* out) {
    layout.set(num_dims, info);
    tiling.set(layout, inp);
    contiguous = layout.is_contiguous();
    u64 bits = address_of(inp) - address_of(out);
    if (!contiguous) {
      const Dim& inner = layout.inner();
      bits = address_of(inp) | address_of(out) | inner.size * sizeof(B);
      if (inner.stride != 1) bits = 1;
#pragma unroll 1
      for (u32 d = 1; d < layout.rank; ++d) bits |= layout.dims[d - 1].stride * sizeof(B);
    }
    aligned = aligned_to_16(bits);
  }
};

template <class B>
KILN_DEVICE MapPlan<B>& map_plan() {
  KILN_SHARED(plan, MapPlan<B>);
  return plan;
}

// All threads of the block together.
template <class B>
KILN_ASIDE void prepare_map(u64 num_dims, const u64* info, const B* inp, const B* out) {
  if (thread_index() == 0) map_plan<B>().set(num_dims, info, inp, out);
  barrier();
}

template <class B>
KILN_DEVICE Words read_item(const B* inp, const Item& item, bool contiguous, bool aligned) {
  Words words{};
  for (u32 lane = item.first; lane < item.last;) {
    const u64 at = item.begin + lane;
    const Place run = contiguous ? Place{at, kLanes<B>} : map_plan<B>().layout.place(at);
    if (aligned && item.is_whole<B>()) return load_16_bytes(inp + run.offset);
    const u64 stride = contiguous ? 1 : map_plan<B>().layout.inner().stride;
    const u32 left = item.last - lane;
    const u32 stop = run.count < left ? lane + static_cast<u32>(run.count) : item.last;
    read_run(words, inp + run.offset, stride, lane, stop);
    lane = stop;
  }
  return words;
}

template <class B>
KILN_DEVICE void write_item(const Words& words, B* out, const Item& item) {
  if (item.is_whole<B>() && aligned_to_16(address_of(out + item.begin))) {
    store_16_bytes(out + item.begin, words);
  } else {
    write_run(words, out + item.begin + item.first, 1, item.first, item.last);
  }
}

// One tile after the other; all threads of the block together.
template <class M, u32 Unroll, class T, class B, class F>
KILN_DEVICE void map_tiles(const MapPlan<B>& plan, const B* inp, B* out, u32 blocks, F f) {
  using Tile = TransposeTile<B>;
  KILN_SHARED(tile, Tile);
  for (u32 t = block_index(); t < plan.tiling.tiles; t += blocks) {
    const TilePlace place = plan.tiling.place(plan.layout, t);
    tile.fill(inp + place.inp, place, plan.layout.inner().stride, plan.tiling.by_words);
    barrier();
    for (u32 k = thread_index(); k < Tile::kItems; k += block_size()) {
      const Item item = item_of_tile<B>(place, k, plan.tiling.row_pitch);
      Words words = tile.item(k);
      transform<M, T, Unroll>(words, f);
      write_item(words, out, item);
    }
    barrier();
  }
}

// Whole items of contiguous, aligned arrays. Returns whether the item after the last of them is this
// thread's.
//
// In launches with surplus blocks, where few threads do all the work, short functions of small
// elements take several items at a time: that covers memory's latency.
template <class M, u32 Unroll, class T, class B, class F>
KILN_DEVICE bool map_whole_items(u64 items, const B* inp, B* out, const Share& share, F f) {
  const u64 step = share.step * kLanes<B>;
  const B* from = inp + share.first * kLanes<B>;
  B* to = out + share.first * kLanes<B>;
  const B* const end = inp + items * kLanes<B>;
  if constexpr (Unroll > 1 && (sizeof(B) == 2 || sizeof(B) == 4)) {
    constexpr u32 kTogether = 4;
    const bool few_threads = may_have_surplus();
    while (few_threads && from + (kTogether - 1) * step < end) {
      Words words[kTogether];
#pragma unroll
      for (u32 k = 0; k < kTogether; ++k, from += step) words[k] = load_16_bytes(from);
#pragma unroll
      for (u32 k = 0; k < kTogether; ++k, to += step) {
        transform<M, T, Unroll>(words[k], f);
        store_16_bytes(to, words[k]);
      }
    }
  }
  for (; from < end; from += step, to += step) {
    Words words = load_16_bytes(from);
    transform<M, T, Unroll>(words, f);
    store_16_bytes(to, words);
  }
  return from == end;
}

// All that is not whole items of contiguous, aligned arrays. `i` is the thread's next item.
template <class M, u32 Unroll, class T, class B, class F>
KILN_ASIDE void map_rest(u64 numel, u64 num_dims, const u64* info, const B* inp, B* out, u64 i,
                         F f) {
  const Share share = info == nullptr ? share_of_contiguous<B>() : share_of_strided();
  bool contiguous = true;
  bool aligned = aligned_to_16(address_of(inp) - address_of(out));
  if (info != nullptr) {
    prepare_map(num_dims, info, inp, out);
    const MapPlan<B>& plan = map_plan<B>();
    if (plan.tiling.tiles != 0) {
      return map_tiles<M, Unroll, T>(plan, inp, out, share.blocks, f);
    }
    contiguous = plan.contiguous;
    aligned = plan.aligned;
  }
  const Split<B> split(out, numel);
  for (; split.has(i); i += share.step) {
    const Item item = split[i];
    Words words = read_item(inp, item, contiguous, aligned);
    transform<M, T, Unroll>(words, f);
    write_item(words, out, item);
  }
}

// `info` null means contiguous, `inp` null means in place. `Unroll` is how many of the steps of an
// item are unrolled (device/lanes.cuh).
template <class M, u32 Unroll, class T, class F>
KILN_DEVICE void map(u64 numel, u64 num_dims, const u64* info, const T* source, T* target, F f) {
  if (is_surplus()) return;
  using B = Bits<T>;
  B* const out = reinterpret_cast<B*>(target);
  const B* const inp = reinterpret_cast<const B*>(source);

  const Share share = info == nullptr ? share_of_contiguous<B>() : share_of_strided();
  if (share.is_empty()) return;
  u64 i = share.first;
  if (info == nullptr && source != nullptr && aligned_to_16(address_of(inp) | address_of(out))) {
    const u64 items = numel / kLanes<B>;
    const bool is_next = map_whole_items<M, Unroll, T>(items, inp, out, share, f);
    if (!is_next || numel % kLanes<B> == 0) return;
    i = items;  // short, so it is left to the rest
  }
  map_rest<M, Unroll, T>(numel, num_dims, info, source == nullptr ? out : inp, out, i, f);
}

}  // namespace kiln::families
