// Products of a matrix of quantized rows and many f16 vectors: dst[v * stride + row]. A mixture of
// experts has a matrix for each tile of vectors (families/rank_experts.cuh).
//
// A block computes a tile of rows and vectors in steps of columns. It copies rows to shared memory
// unchanged, and vectors in their layout in memory (tuning/half_products.hpp). Every 32 threads
// decode 16 rows to f16 and multiply them by all vectors of the tile (device/half_fragments.cuh).
#pragma once

#include "device/chunk.cuh"
#include "device/half_fragments.cuh"
#include "device/platform.cuh"
#include "families/half_groups.cuh"
#include "families/half_team.cuh"
#include "families/half_tiles.cuh"
#include "families/quantized_results.cuh"
#include "tuning/half_products.hpp"

namespace kiln::families {

using namespace device;

#if KILN_HAS_WARP_GROUPS
template <class Format>
using HalfProducts = HalfGroups<Format>;
#else
template <class Format>
using HalfProducts = HalfTiles<Format>;
#endif

// The arguments of a product. Vector v is multiplied by scales[v] if there are scales. With
// `gates`, one for each result, a result is silu(gate) * product. With `tiles`, each of up to
// kHalfTileVectors tasks, and `order`, tasks are multiplied by their experts' matrices, and `count`
// is the number of tasks for which all tiles have room. Any grid will do.
template <class Format>
struct HalfMatrix {
  const void* weights;
  const f32* gates;
  const f16* x;
  const f32* scales;
  const u32* order;
  const tuning::ExpertTile* tiles;
  FloatResults results;
  u32 columns, rows, count, parts, part_threads;

  KILN_DEVICE void multiply() const {
    HalfProducts<Format>::begin({parts, part_threads});
    u32 before = 0;
#pragma unroll 1
    for (u32 v = block_index_y() * kHalfColumns; v < count; v += block_count_y() * kHalfColumns) {
#pragma unroll 1
      for (u32 tile = block_index();; tile += block_count()) {
        // Computed again for each tile. Otherwise they would take registers from the products.
        const HalfTeam team(opaque(parts), opaque(part_threads));
        const tuning::ExpertTile of = tile_of(opaque(v));
        const u32 r = tile * team.rows();
        if (r >= rows || of.begin >= of.end) break;
        const HalfRowsOf<Format> rows_of(weights, rows, opaque(columns), of.expert);
        HalfSums sums;
        HalfProducts<Format>(rows_of, x, team, before)
            .multiply(sums, r, vector_of(of), vectors_of(of));
        before += rows_of.steps();
        barrier();
        if (team.multiplies()) keep(sums, team);
        barrier();
        put(team, r, v);
        show_products();  // the next tile's copies overwrite these results
        barrier();
      }
    }
  }

 private:
  // The tasks from number v on, kHalfTileVectors for each tile; without tiles, the vectors from v
  // on.
  KILN_DEVICE tuning::ExpertTile tile_of(u32 v) const {
    if (tiles == nullptr) return {0, v, count};
    tuning::ExpertTile of = tiles[v / kHalfTileVectors];
    of.begin += v % kHalfTileVectors;
    return of;
  }
  KILN_DEVICE static u32 vector_of(const tuning::ExpertTile& of) {
    return half_task_vector(of.expert, of.begin);
  }
  KILN_DEVICE static u32 vectors_of(const tuning::ExpertTile& of) {
    return min_of(of.end - of.begin, kHalfColumns);
  }

  // Results pass through shared memory, so that wide accesses can store them.
  KILN_DEVICE static u32 stride_of(const HalfTeam& team) {
    return team.rows() + tuning::kHalfResultsApart;
  }
  KILN_DEVICE static void keep(const HalfSums& sums, const HalfTeam& team) {
    const u32 stride = stride_of(team);
    f32* const mine = static_cast<f32*>(dynamic_shared()) + team.part * (kHalfColumns * stride) +
                      team.lane % 4 * 2 * stride + team.row();
#pragma unroll
    for (u32 x = 0; x < kHalfColumns / kTileColumns; ++x) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        mine[(x * kTileColumns + i % 2) * stride + i / 2 * 8] = sums[x][i];
      }
    }
  }
  // A thread stores four rows of every `step`-th vector.
  KILN_DEVICE void put(const HalfTeam& team, u32 first_row, u32 number) const {
    const f32* const all = static_cast<const f32*>(dynamic_shared());
    const u32 fours = team.rows() / 4, row = thread_index() % fours * 4;
    const u32 step = block_size() / fours, first = thread_index() / fours;
    const tuning::ExpertTile of = tile_of(opaque(number));
    const u32 vectors = vectors_of(of), stride = stride_of(team);
    if (row >= min_of(rows - first_row, team.rows()) || first >= step) return;
    const u32 there = min_of(rows - first_row - row, 4);
    const bool by_four = there == 4 && results.stride % 4 == 0 &&
                         (address_of(results.dst) | address_of(gates)) % 16 == 0;
#pragma unroll 1
    for (u32 v = first; v < vectors; v += step) {
      const u64 task = order == nullptr ? of.begin + v : order[of.begin + v];
      const u64 at = task * results.stride + first_row + row;
      f32 sum[4] = {};
#pragma unroll 1
      for (u32 p = 0; p < parts; ++p) {
        const Words four = load_16_bytes(all + (p * kHalfColumns + v) * stride + row);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) sum[k] += bit_cast<f32>(four.word[k]);
      }
      const f32 scale = scales == nullptr ? 1 : scales[vector_of(of) + v];
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        sum[k] *= scale;
        if (gates != nullptr && k < there) sum[k] *= silu(gates[at + k]);
      }
      if (by_four) {
        results.put_four(at, [&](u32 k) { return sum[k]; });
      } else {
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
          if (k < there) results.put(at + k, sum[k]);
        }
      }
    }
  }
};

}  // namespace kiln::families
