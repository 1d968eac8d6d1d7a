// Tiles of products with f16 vectors, by warp groups. 128 threads copy; the others decode and
// multiply. They wait for each other at barriers in shared memory: for the rows of each step, and
// for each chunk of vectors. Chunks lie in a ring.
#pragma once

#include "device/half_fragments.cuh"
#include "device/half_layout.cuh"
#include "device/platform.cuh"
#include "device/platform_arrivals.cuh"
#include "device/wave.cuh"
#include "families/half_team.cuh"
#include "families/quantized_matrix.cuh"
#include "tuning/half_products.hpp"

#if KILN_HAS_WARP_GROUPS
namespace kiln::families {

using namespace device;

template <class Format>
class HalfGroups {
  using Rows = HalfRowsOf<Format>;
  using Unit = typename Rows::Unit;
  static constexpr u32 kGroups = Unit::kGroups, kUnits = Rows::kUnits;
  static constexpr u32 kChunks = kHalfSpan / kHalfChunkColumns;  // in a step
  static constexpr u32 kChunkBytes = HalfColumns::kChunkBytes;
  static constexpr u32 kStages = 2, kSlots = 2 * kChunks;
  static constexpr u32 kAlignment = 1024;                                        // of a chunk
  static constexpr u32 kCopying = tuning::half_copying_threads(kHasWarpGroups);  // threads
  // Number of copying threads that copy rows. They do nothing else, or all others would wait for
  // them. Measured on an H200, Q4_0, 4096x4096 by 512 vectors, in us: 46 to 55 with 128 threads,
  // one of which also copied the vectors; 38 with 96.
  static constexpr u32 kRowThreads = 96;
  static_assert(kSlots * kChunkBytes <= kStages * kHalfColumns * tuning::kHalfVectorBytes);

  struct Barriers {
    Arrivals rows_there[kStages], rows_read[kStages];
    Arrivals chunk_there[kSlots], chunk_read[kSlots];
  };

 public:
  // Initializes the barriers. All threads call it once in a kernel.
  KILN_DEVICE static void begin(const HalfTeam& team) {
    Barriers& barriers = shared_barriers();
    if (block_size() < team.parts * team.threads + kCopying || block_y() != 1) refuse_launch();
    if (thread_index() == 0) {
#pragma unroll 1
      for (u32 i = 0; i < kStages; ++i) {
        barriers.rows_there[i].init(kRowThreads);
        barriers.rows_read[i].init(team.parts * team.waves());
      }
#pragma unroll 1
      for (u32 i = 0; i < kSlots; ++i) {
        barriers.chunk_there[i].init(1);
        barriers.chunk_read[i].init(team.waves());
      }
      show_arrivals();
    }
    barrier();
  }

  // `before`: number of steps of earlier tiles.
  KILN_DEVICE HalfGroups(const Rows& rows, const f16* x, const HalfTeam& team, u32 before)
      : rows_(rows), x_(x), team_(team), before_(before), barriers_(shared_barriers()) {
    u8* const shared = static_cast<u8*>(dynamic_shared());
    ring_ = shared + (-address_of(shared) & (kAlignment - 1));
    stages_ = ring_ + kSlots * kChunkBytes;
  }

  // In threads that multiply, adds up the products of all columns. The caller adds the parts' sums.
  KILN_DEVICE void multiply(HalfSums& sums, u32 first_row, u32 first_vector, u32 vectors) const {
    if (team_.multiplies()) {
      add(sums, first_row);
    } else {
      const u32 thread = thread_index() - team_.parts * team_.threads;
      if (thread < kRowThreads) copy_rows(first_row, thread);
      if (thread == kRowThreads) copy_vectors(first_vector, vectors);
    }
  }

 private:
  KILN_DEVICE static Barriers& shared_barriers() {
    KILN_SHARED(barriers, Barriers);
    return barriers;
  }
  KILN_DEVICE u8* stage(u32 number) const {
    return stages_ + number % kStages * (team_.rows() * Rows::kRowBytes);
  }

  KILN_DEVICE void copy_rows(u32 first_row, u32 thread) const {
#pragma unroll 1
    for (u32 step = 0; step < rows_.steps(); ++step) {
      const u32 number = before_ + step, at = number % kStages;
      if (number >= kStages) barriers_.rows_read[at].wait(number / kStages - 1);
      if (rows_.copy(stage(number), first_row, team_.rows(), step, thread, kRowThreads)) {
        barriers_.rows_there[at].arrive_behind_copies();
      } else {
        wait_for_copies();
        barriers_.rows_there[at].arrive();
      }
    }
  }
  KILN_DEVICE void copy_vectors(u32 first_vector, u32 vectors) const {
    constexpr u32 kBytes = 2 * kHalfChunkColumns;  // of a vector in a chunk
    static_assert(kHalfColumns == kHalfTileVectors);
    const u32 end = (before_ + rows_.steps()) * kChunks;
    const u32 first = first_vector % kHalfTileVectors;
    const u8* from = reinterpret_cast<const u8*>(x_ + half_chunk(first_vector, 0, rows_.columns)) +
                     first * kBytes;
    // The vectors up to the end of their chunk, and those in the chunk of the next vectors.
    const u32 bytes = vectors * kBytes, of_chunk = min_of(bytes, kChunkBytes - first * kBytes);
    const u64 apart = 2 * half_chunk(kHalfTileVectors, 0, rows_.columns) - first * kBytes;
#pragma unroll 1
    for (u32 number = before_ * kChunks; number < end; ++number) {
      const u32 slot = number % kSlots;
      if (number >= kSlots) barriers_.chunk_read[slot].wait(number / kSlots - 1);
      Arrivals& there = barriers_.chunk_there[slot];
      u8* const to = ring_ + slot * kChunkBytes;
      there.arrive_before_copies(bytes);
      there.copy(to, from, of_chunk);
      if (of_chunk < bytes) there.copy(to + of_chunk, from + apart, bytes - of_chunk);
      from += kChunkBytes;
    }
  }

  // The rows that a thread decodes, unit by unit and step by step.
  static constexpr u32 kAtOnce = 2, kUnitsAtOnce = kAtOnce > kGroups ? kAtOnce / kGroups : 1;
  struct Reader {
    Unit units[kUnitsAtOnce];
    u32 places[2];  // addresses of the rows, modulo 16
    const u8* rows[2];
    u32 step, next;  // `next`: the step's next unit
  };
  KILN_DEVICE void begin_step(Reader& reader) const {
    const u32 number = before_ + reader.step;
    barriers_.rows_there[number % kStages].wait(number / kStages);
    const u8* const first = stage(number) + team_.row() * Rows::kRowBytes;
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      reader.rows[r] =
          first + 8 * r * Rows::kRowBytes + Rows::advanced(reader.places[r], reader.step);
    }
    reader.next = team_.part * (kUnits / team_.parts);
  }
  KILN_DEVICE void read(Reader& reader) const {
    if (reader.next == (team_.part + 1) * (kUnits / team_.parts)) {
      wave_barrier();
      if (team_.lane == 0) barriers_.rows_read[(before_ + reader.step) % kStages].arrive();
      if (++reader.step == rows_.steps()) return;
      begin_step(reader);
    }
#pragma unroll
    for (u32 i = 0; i < kUnitsAtOnce; ++i) {
      reader.units[i].load(reader.rows, reader.next + i, team_.lane);
    }
    reader.next += kUnitsAtOnce;
  }

  KILN_DEVICE void add(HalfSums& sums, u32 first_row) const {
    const u32 chunks = kChunks / team_.parts;  // per step and part
    u32 number = before_ * kChunks + team_.part * chunks, last = number;
    Reader reader;
    reader.step = 0;
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
      reader.places[r] = rows_.place_among_16(first_row + team_.row() + 8 * r, 0);
    }
    begin_step(reader);
    read(reader);
    // Products in flight read one set of these while the other is filled.
    constexpr u32 kRound = 4;  // groups in a round
    DecodedRows decoded[kRound / kAtOnce][kAtOnce];
    typename DecodedRows::Scratch none;
    const u32 rounds = rows_.steps() * chunks / 2;
#pragma unroll 1
    for (u32 round = 0; round < rounds; ++round) {
#pragma unroll
      for (u32 g = 0; g < kRound; g += kAtOnce) {
        DecodedRows(&now)[kAtOnce] = decoded[g / kAtOnce];
#pragma unroll
        for (u32 k = 0; k < kAtOnce; ++k) {
          const Unit& unit = reader.units[k / kGroups];
          const auto& scales = unit.scales[(g + k) % kGroups];
          now[k].template decode<Format::kZero, Format::kHasOffset>(
              none, unit.bytes[(g + k) % kGroups], scales[0], scales[Unit::kRuns - 1], team_.lane);
        }
        const u32 slot = number % kSlots;
        barriers_.chunk_there[slot].wait(number / kSlots);
        begin_products();
#pragma unroll
        for (u32 k = 0; k < kAtOnce; ++k) {
          now[k].multiply(sums, none, ring_ + slot * kChunkBytes, k, team_.lane,
                          g + k != 0 || round != 0);
        }
        end_products();
        // Waits in the basic block that begins the products, or the compiler serializes them
        // (C7513).
        wait_for_products<1>();
        if (round != 0 || g != 0) release(last);
        last = number++;
        if ((g + kAtOnce) % kGroups == 0) read(reader);
      }
      number += team_.parts == 1 ? 0 : kChunks - chunks;
    }
    wait_for_products<0>();
    release(last);
  }
  KILN_DEVICE void release(u32 number) const {
    if (team_.lane == 0) barriers_.chunk_read[number % kSlots].arrive();
  }

  const Rows& rows_;
  const f16* x_;
  const HalfTeam& team_;
  u32 before_;
  Barriers& barriers_;
  u8 *ring_, *stages_;
};

}  // namespace kiln::families
#endif
