// Products of a matrix of quantized rows and many vectors of f16: dst[v * stride + row]; of a mixture
// of experts a matrix for each tile of vectors (families/rank_experts.cuh).
//
// A block makes a tile of rows and vectors, step by step of columns. Rows come to shared memory as
// they are, vectors as they lie (tuning/half_products.hpp). Each 32 threads decode 16 rows to f16 and
// multiply them by all vectors of the tile (device/half_fragments.cuh).
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

// Vector v is multiplied by scales[v], where there are scales. With `gates`, one for each result:
// silu(gate) * product. With `tiles`, each of up to kHalfTileVectors, and `order`: the products of
// tasks and their experts' matrices, of which `count` is what all tiles have room for. Any grid does.
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
        // Found again for each tile: they would take registers from the products.
        const HalfTeam team(unknown(parts), unknown(part_threads));
        const tuning::ExpertTile of = tile_of(unknown(v));
        const u32 r = tile * team.rows();
        if (r >= rows || of.begin >= of.end) break;
        const HalfRowsOf<Format> rows_of(weights, rows, unknown(columns), of.expert);
        HalfSums sums;
        HalfProducts<Format>(rows_of, x, team, before)
            .multiply(sums, r, vector_of(of), vectors_of(of));
        before += rows_of.steps();
        barrier();
        if (team.multiplies()) keep(sums, team);
        barrier();
        put(team, r, v);
        show_products();  // the next tile's copies come where these results were
        barrier();
      }
    }
  }

 private:
  // The tasks from number v on, of which each tile has kHalfTileVectors; without tiles the vectors.
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
    return lesser(of.end - of.begin, kHalfColumns);
  }

  // Results go by way of shared memory, so that wide accesses store them.
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
  // A thread has four rows, of every so many vectors.
  KILN_DEVICE void put(const HalfTeam& team, u32 first_row, u32 number) const {
    const f32* const all = static_cast<const f32*>(dynamic_shared());
    const u32 fours = team.rows() / 4, row = thread_index() % fours * 4;
    const u32 step = block_size() / fours, first = thread_index() / fours;
    const tuning::ExpertTile of = tile_of(unknown(number));
    const u32 vectors = vectors_of(of), stride = stride_of(team);
    if (row >= lesser(rows - first_row, team.rows()) || first >= step) return;
    const u32 there = lesser(rows - first_row - row, 4);
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
