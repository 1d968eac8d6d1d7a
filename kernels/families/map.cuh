// out[i] = f(inp[place of i]): one input, any layout; the output is contiguous.
//
// The ways through memory, chosen per block from the layout alone:
//   contiguous   sixteen-byte items, aligned in the output
//   strided      the same items; each reads its elements run by run, or in one access where the
//   rows
//                of the input are long and aligned
//   transposed   the input is contiguous along another dim than the output. Copies go through a
//   tile in
//                shared memory, so that both sides move whole lines; for other functions, whose
//                kernels it would double, neighbouring threads take the items that are neighbours
//                in the input
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

enum class Transposed { kByItem, kByTile };

// What one thread of a block works out for all.
template <class B>
struct MapPlan {
  Layout layout;
  bool contiguous;
  bool aligned;  // a whole item is sixteen aligned bytes of the input too

  // The order of visiting a transposed view: rows (the input's contiguous dim) change fastest, then
  // the pieces of a row of the output, then the dims between the two, then those outside.
  bool by_row;
  Dim rows;
  Dim pieces;
  Dim between;
  u64 visits;

  KILN_DEVICE void set(u64 num_dims, const u64* info, const B* inp, const B* out) {
    layout.set(num_dims, info);
    contiguous = layout.is_contiguous();
    by_row = false;
    u64 bits = address_of(inp) - address_of(out);
    if (!contiguous) {
      const Dim& inner = layout.inner();
      bits = address_of(inp) | address_of(out) | inner.size * sizeof(B);
      if (inner.stride != 1) bits = 1;
      u64 span = 1;
      u64 count = 1;
#pragma unroll 1
      for (u32 d = layout.rank - 1; d > 0; --d) {
        const Dim& dim = layout.dims[d - 1];
        bits |= dim.stride * sizeof(B);
        count *= dim.size;
        if (dim.stride == 1 && dim.size >= 32 && inner.stride > 1 && inner.size >= kLanes<B>) {
          by_row = true;
          rows.set(dim.size);
          between.set(span);
        }
        span *= dim.size;
      }
      pieces.set((inner.size + kLanes<B> - 1) / kLanes<B>);
      visits = count * pieces.size;
    }
    aligned = aligned_to_16(bits);
  }

  // The item of visit `i`, for by_row.
  KILN_DEVICE Item item(u64 i) const {
    const u64 row = rows.take(i);
    const u64 column = pieces.take(i) * kLanes<B>;
    const u64 middle = between.take(i);
    const u64 width = layout.inner().size;
    const u64 left = width - column;
    return {((i * rows.size + row) * between.size + middle) * width + column, 0,
            left < kLanes<B> ? static_cast<u32>(left) : kLanes<B>};
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
KILN_DEVICE void map_tiles(const Layout& layout, const Tiling<B>& tiling, const B* inp, B* out,
                           u32 blocks, F f) {
  using Tile = TransposeTile<B>;
  KILN_SHARED(tile, Tile);
  for (u32 t = block_index(); t < tiling.tiles; t += blocks) {
    const TilePlace place = tiling.place(layout, t);
    tile.fill(inp + place.inp, place, layout.inner().stride, tiling.by_words);
    barrier();
    for (u32 k = thread_index(); k < Tile::kItems; k += block_size()) {
      const Item item = item_of_tile<B>(place, k, tiling.row_pitch);
      Words words = tile.item(k);
      transform<M, T, Unroll>(words, f);
      write_item(words, out, item);
    }
    barrier();
  }
}

// Whole items of contiguous, aligned arrays; the next one is under way while one is computed.
// Returns the index that the thread has come to.
template <class M, u32 Unroll, class T, class B, class F>
KILN_DEVICE u64 map_whole_items(u64 items, const B* inp, B* out, const Share& share, F f) {
  u64 i = share.first;
  if (i >= items) return i;
  Words next = load_16_bytes(inp + i * kLanes<B>);
  for (;;) {
    Words words = next;
    const u64 here = i;
    i += share.step;
    if (i < items) next = load_16_bytes(inp + i * kLanes<B>);
    transform<M, T, Unroll>(words, f);
    store_16_bytes(out + here * kLanes<B>, words);
    if (i >= items) return i;
  }
}

// All that is not whole items of contiguous, aligned arrays. `i` is the thread's next item.
template <class M, u32 Unroll, Transposed Way, class T, class B, class F>
KILN_ASIDE void map_rest(u64 numel, u64 num_dims, const u64* info, const B* inp, B* out, u64 i,
                         F f) {
  const Share share = info == nullptr ? share_of_contiguous<B>() : share_of_strided();
  bool contiguous = true;
  bool aligned = aligned_to_16(address_of(inp) - address_of(out));
  bool by_row = false;
  if (info != nullptr) {
    prepare_map(num_dims, info, inp, out);
    const MapPlan<B>& plan = map_plan<B>();
    contiguous = plan.contiguous;
    aligned = plan.aligned;
    by_row = plan.by_row;
    if constexpr (Way == Transposed::kByTile) {
      KILN_SHARED(tiling, Tiling<B>);
      if (thread_index() == 0) tiling.set(plan.layout, inp);
      barrier();
      if (tiling.tiles != 0) {
        return map_tiles<M, Unroll, T>(plan.layout, tiling, inp, out, share.blocks, f);
      }
    }
  }
  const Split<B> split(out, numel);
  for (; by_row ? i < map_plan<B>().visits : split.has(i); i += share.step) {
    const Item item = by_row ? map_plan<B>().item(i) : split[i];
    Words words = read_item(inp, item, contiguous, aligned);
    transform<M, T, Unroll>(words, f);
    write_item(words, out, item);
  }
}

// `info` null means contiguous, `inp` null means in place. `Unroll` is how many of the steps of an
// item are unrolled (device/lanes.cuh).
template <class M, u32 Unroll, Transposed Way = Transposed::kByItem, class T, class F>
KILN_DEVICE void map(u64 numel, u64 num_dims, const u64* info, const T* source, T* target, F f) {
  if (is_surplus()) return;
  using B = Bits<T>;
  B* const out = reinterpret_cast<B*>(target);
  const B* const inp = source == nullptr ? out : reinterpret_cast<const B*>(source);

  const Share share = info == nullptr ? share_of_contiguous<B>() : share_of_strided();
  if (share.is_empty()) return;
  u64 i = share.first;
  if (info == nullptr && aligned_to_16(address_of(inp) | address_of(out))) {
    i = map_whole_items<M, Unroll, T>(numel / kLanes<B>, inp, out, share, f);
    if (i * kLanes<B> >= numel) return;  // a short last item is left to the rest
  }
  constexpr u32 kRestUnroll = Way == Transposed::kByTile ? Unroll : 1;
  map_rest<M, kRestUnroll, Way, T>(numel, num_dims, info, inp, out, i, f);
}

}  // namespace kiln::families
