// Tiles of products with f16 vectors in which all threads copy, decode and multiply. With
// asynchronous copies, the next step is loaded while a step is multiplied.
#pragma once

#include "device/half_fragments.cuh"
#include "device/half_layout.cuh"
#include "device/platform.cuh"
#include "device/platform_copies.cuh"
#include "device/wave.cuh"
#include "families/half_team.cuh"
#include "families/quantized_matrix.cuh"
#include "tuning/half_products.hpp"

#if !KILN_HAS_WARP_GROUPS
namespace kiln::families {

using namespace device;

template <class Format>
class HalfTiles {
  using Rows = HalfRowsOf<Format>;
  using Unit = typename Rows::Unit;
  using Scratch = DecodedRows::Scratch;
  static constexpr u32 kGroups = Unit::kGroups, kUnits = Rows::kUnits;
#if KILN_HAS_COPIES
  static constexpr u32 kStages = 2;
#else
  static constexpr u32 kStages = 1;
#endif
  static_assert(HalfColumns::kBytes <= kHalfColumns * tuning::kHalfVectorBytes);

 public:
  KILN_DEVICE static void begin(const HalfTeam&) {}
  KILN_DEVICE HalfTiles(const Rows& rows, const f16* x, const HalfTeam& team, u32)
      : rows_(rows), x_(x), team_(team) {}

  // Adds up the products of all columns. The caller adds the parts' sums.
  KILN_DEVICE void multiply(HalfSums& sums, u32 first_row, u32 first_vector, u32) const {
    u8* const shared = static_cast<u8*>(dynamic_shared());
    u8* const stages = shared + (-address_of(shared) & 15);
    const u32 stage_bytes = HalfColumns::kBytes + team_.rows() * Rows::kRowBytes;
    Scratch& scratch = reinterpret_cast<Scratch*>(
        stages + kStages * stage_bytes)[team_.part * team_.waves() + team_.wave];
    const auto copy = [&](u32 stage, u32 step) {
      if (step >= rows_.steps()) return;
      u8* const to = stages + stage * stage_bytes;
      copy_vectors(to, first_vector, step);
      rows_.copy(to + HalfColumns::kBytes, first_row, team_.rows(), step, thread_index(),
                 block_size());
    };
    set_zero(sums);
    copy(0, 0);
#pragma unroll 1
    for (u32 step = 0; step < rows_.steps(); ++step) {
      wait_for_copies();
      barrier();
      const u32 stage = step % kStages;
      if (kStages > 1) copy((step + 1) % kStages, step + 1);
      if (team_.multiplies()) {
        add(sums, stages + stage * stage_bytes, first_row, step, scratch);
      }
      if (kStages == 1) {
        barrier();
        copy(0, step + 1);
      }
    }
  }

 private:
  // Also copies vectors behind the last one, whose memory exists.
  KILN_DEVICE void copy_vectors(u8* stage, u32 first_vector, u32 step) const {
    const u32 piece = team_.lane, waves = block_size() / kTileThreads;
    const u32 column = step * kHalfSpan + piece / kHalfPieces * kHalfChunkColumns;
    const u8* const from =
        reinterpret_cast<const u8*>(x_ + half_chunk(first_vector, column, rows_.columns));
    const u32 first = first_vector % kHalfTileVectors;
#pragma unroll 4
    for (u32 v = thread_index() / kTileThreads; v < kHalfColumns; v += waves) {
      copy_async<16>(stage + HalfColumns::place(v, piece),
                     from + half_piece(first + v, piece % kHalfPieces));
    }
  }

  // Adds the products of a step.
  KILN_DEVICE void add(HalfSums& sums, const u8* vectors, u32 first_row, u32 step,
                       Scratch& scratch) const {
    const u8* rows[2];
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      const u32 row = team_.row() + 8 * r;
      rows[r] = vectors + HalfColumns::kBytes + row * Rows::kRowBytes +
                rows_.place_among_16(first_row + row, step);
    }
    const u32 each = kUnits / team_.parts, begin = team_.part * each;
#pragma unroll 1
    for (u32 u = begin; u < begin + each; ++u) {
      Unit unit;
      unit.load(rows, u, team_.lane);
#pragma unroll
      for (u32 g = 0; g < kGroups; ++g) {
        DecodedRows now;
        if constexpr (DecodedRows::kAreShared) wave_barrier();
        now.template decode<Format::kZero, Format::kHasOffset>(
            scratch, unit.bytes[g], unit.scales[g][0], unit.scales[g][Unit::kRuns - 1], team_.lane);
        if constexpr (DecodedRows::kAreShared) wave_barrier();
        now.multiply(sums, scratch, vectors, u * kGroups + g, team_.lane);
      }
    }
  }

  const Rows& rows_;
  const f16* x_;
  const HalfTeam& team_;
};

}  // namespace kiln::families
#endif
