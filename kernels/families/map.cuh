// out[i] = f(inp[place of i]): one input, any layout; the output is contiguous.
//
// Three ways through memory, chosen per block from the layout alone:
//   contiguous   sixteen-byte items, aligned in the output
//   strided      the same items; each reads its elements run by run, or in one access where the rows
//                of the input are long and aligned
//   tiled        where the input is contiguous along another dim than the output (a transpose):
//                through a tile in shared memory, so that both sides move whole lines
// An item is read before it is written and nothing is read through a read-only cache, so `inp` may be
// `out`.
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
      bits = address_of(inp) | address_of(out) | layout.inner().size * sizeof(B);
      if (layout.inner().stride != 1) bits = 1;
#pragma unroll 1
      for (u32 d = layout.rank - 1; d > 0; --d) bits |= layout.dims[d - 1].stride * sizeof(B);
    }
    aligned = aligned_to_16(bits);
  }
};

// `info` null means contiguous, `inp` null means in place. `Unroll` is how many of the steps of an item
// are unrolled (device/lanes.cuh).
template <class M, u32 Unroll, class T, class F>
KILN_DEVICE void map(u64 numel, u64 num_dims, const u64* info, const T* source, T* target, F f) {
  using B = Bits<T>;
  using Tile = TransposeTile<B>;
  B* const out = reinterpret_cast<B*>(target);
  const B* const inp = source == nullptr ? out : reinterpret_cast<const B*>(source);

  const Split<B> split(out, numel);
  const u32 working = working_blocks(split.items);
  if (block_index() >= working) return;

  KILN_SHARED MapPlan<B> plan;
  KILN_SHARED Tile tile;
  bool contiguous = true;
  bool aligned = aligned_to_16(address_of(inp) - address_of(out));
  u64 tiles = 0;
  if (info != nullptr) {
    if (thread_index() == 0) plan.set(num_dims, info, inp, out);
    barrier();
    contiguous = plan.contiguous;
    aligned = plan.aligned;
    tiles = plan.tiling.tiles;
  }

  // One turn: a tile, or an item for each thread of the block.
  for (u64 turn = block_index();; turn += working) {
    u64 index = turn * block_size() + thread_index();
    TilePlace place;
    if (tiles == 0) {
      if (index >= split.items) break;
    } else {
      if (turn >= tiles) break;
      index = thread_index();
      place = plan.tiling.place(plan.layout, turn);
      const u64 pitch = plan.layout.inner().stride;
      if (Tile::kSquare == 1 || plan.tiling.by_words) {
        tile.fill_by_words(inp + place.inp, place, pitch);
      } else {
        tile.fill_by_elements(inp + place.inp, place, pitch);
      }
      barrier();
    }
    do {
      Words words{};
      B* to;
      u32 first = 0;
      u32 last;
      if (tiles == 0) {
        const Item item = split[index];
        first = item.first;
        last = item.last;
        to = out + item.begin;
        for (u32 lane = first; lane < last;) {
          const u64 at = item.begin + lane;
          const Place run = contiguous ? Place{at, numel - at} : plan.layout.place(at);
          if (aligned && first == 0 && last == kLanes<B>) {
            words = load_16_bytes(inp + run.offset);
            break;
          }
          const u64 stride = contiguous ? 1 : plan.layout.inner().stride;
          const u32 stop = run.count < last - lane ? lane + static_cast<u32>(run.count) : last;
          read_run(words, inp + run.offset, stride, lane, stop);
          lane = stop;
        }
      } else {
        if (index >= Tile::kItems) break;
        const u32 k = static_cast<u32>(index);
        const u32 row = Tile::row_of(k);
        const u32 column = Tile::column_of(k);
        last = row < place.rows && column < place.columns ? place.columns - column : 0;
        to = out + (place.out + row * plan.tiling.row_pitch + column);
        words = tile.item(k);
      }
      transform<M, T, Unroll>(words, f);
      if (first == 0 && last >= kLanes<B> && aligned_to_16(address_of(to))) {
        store_16_bytes(to, words);
      } else {
        write_run(words, to + first, 1, first, last);
      }
      index += block_size();
    } while (tiles != 0);
    if (tiles != 0) barrier();
  }
}

}  // namespace kiln::families
