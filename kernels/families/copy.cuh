// Copies a view bit by bit. The output is contiguous.
//
// Large views go the first of these ways that applies:
//   by units       if they come with a table (device/index.cuh)
//   tile by tile   if they are transposed (families/transpose_tile.cuh)
//   by rows        if rows consist of whole aligned 16-byte chunks
// Other copies go like functions of one input (families/map.cuh).
#pragma once

#include "families/map.cuh"
#include "families/transpose_tile.cuh"

namespace kiln::families {

using namespace device;

template <class B>
struct Copy {
  using Family = Map<tuning::Cost::kBrief, 2, true, false, B, Same<B>>;
  static constexpr u32 kCount = 16 / sizeof(B);
  static constexpr u32 kShare = share_of(kCount);
  // Number of blocks of 1024 threads up to which each thread takes one element of any view.
  static constexpr u32 kFewBlocks = tuning::view_blocks(kMachine, true);
  static_assert(kFewBlocks <= kMapViewBlocks);

  const Family& family;

  // True if the innermost dim already tells that neither tiles nor rows are whole.
  KILN_DEVICE bool is_scattered() const {
    const Views<1>& view = family.view;
    if (view.rank == 0) return true;
    const u32 size = view.size(view.rank - 1);
    const u64 stride = view.stride(0, view.rank - 1);
    return stride > 1 ? size < TransposeTile<B>::kColumns / 4 : size % kCount != 0;
  }

  // True if each thread copies at most one element: of any small view, and of larger ones without
  // whole tiles or rows.
  KILN_DEVICE bool takes_one(u64 numel) const {
    if (!takes_one_of_view(numel)) return false;
    return block_size() != 1024 || block_count() <= kFewBlocks || is_scattered();
  }

  // Handles launches whose threads do more than copy one element of a contiguous array.
  KILN_DEVICE void run_further(u64 numel) const {
    const u32 full = block_size() == 1024 ? kFitBlocks : kMaxBlocks;  // start() lets others exit
    const bool is_view = family.view.info != nullptr;
    Spread spread;
    Columns columns{~0u, Columns::kSingle};
    if (!is_view || !takes_one(numel)) {
      if (block_index() >= full) return;
      if (is_view && copy_by_tiles(family.view, numel, family.in(), family.out, full)) return;
      columns = Columns::none();
      if (is_view) {
        columns = plan_columns(family.view, numel, Family::kTraits.min_step,
                               family.is_aligned() ? log_of(kCount) : 0);
      }
      spread = Spread::in_rows(numel, false, full);
      if (spread.is_surplus()) return;
    }
    if (columns.dims == Columns::kSingle) {
      return family.move_singles(numel, spread.self, spread.threads);
    }
    const bool rows = columns.dims == Columns::kRows;
    if (columns.dims != Columns::kNone && !rows) {
      return family.move_columns(columns, numel, 0, spread.self, spread.threads);
    }
    u32 threads = spread.threads;
    u64 i = spread.self;
    if (family.is_aligned() && (numel / kCount) >> 31 == 0) {
      const u32 chunks = static_cast<u32>(numel / kCount);
      if (!rows) threads = spread.threads_for(chunks / kShare);
      if (spread.self >= threads) return;
      family.move_chunks(spread.self, threads, chunks, rows);
      i += static_cast<u64>(chunks) * kCount;
    }
#pragma unroll 1
    for (; i < numel; i += threads) family.out[i] = family.in()[i];
  }

  KILN_DEVICE void run(u64 numel) const {
    family.start(numel, [&] {
      if (kTuning.small_chunks && family.takes_one_chunk(numel)) return;
      if (likely(!family.has_table())) {
        if (!kTuning.small_chunks && family.takes_one_chunk(numel)) return;
        return run_further(numel);
      }
      family.move_units(numel, blocks_up_to(Family::max_blocks()) * block_size());
    });
  }
};

template <class T>
KILN_DEVICE void copy(u64 numel, u64 num_dims, const u64* info, const T* source, T* target) {
  using B = BitsOf<T>;
  const Same<B> same;
  const typename Copy<B>::Family family{same,
                                        {info, static_cast<u32>(num_dims)},
                                        {info, num_dims},
                                        reinterpret_cast<B*>(target),
                                        reinterpret_cast<const B*>(source)};
  Copy<B>{family}.run(numel);
}

}  // namespace kiln::families
