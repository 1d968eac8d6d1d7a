// Products of a matrix of quantized rows and a few vectors.
//
// A team of threads takes several rows at once, mostly two or four. Each thread takes the same
// columns of all these rows, so that each load of vectors serves several rows.
#pragma once

#include "device/block.cuh"
#include "device/chunk.cuh"
#include "device/join.cuh"
#include "device/platform.cuh"
#include "device/platform_lanes.cuh"
#include "device/wave.cuh"
#include "families/spread.cuh"
#include "gguf/block.cuh"
#include "gguf/codebook.cuh"
#include "gguf/q4_0.cuh"
#include "gguf/q4_k.cuh"
#include "gguf/q8_1.cuh"
#include "tuning/quantized.hpp"

namespace kiln::families {

using namespace device;
using gguf::Q8_1;

// Blocks have a multiple of this many threads.
inline constexpr u32 kMinThreads = 32;
// Returns true if the block has no partial wave. Known at compile time if waves are no wider than
// kMinThreads.
KILN_DEVICE bool are_waves_whole() {
  return wave_width() <= kMinThreads || block_threads() % wave_width() == 0;
}

// Memory of team_sums(): each wave's sum of each of kCount values.
template <u32 kCount, u32 kMaxWaves>
struct TeamSums {
  f32 of[kMaxWaves][kCount];
};
// The default place of TeamSums, for blocks of up to kMaxThreads threads. Sums of few waves need
// no loop. fused_vector has room for 1024 threads, since its stages lie behind this memory.
// Measured on an H200, in us, room for 1024 threads -> for 128: two matrices of Q4_0 14336 x 4096
// 18.5 -> 24.0.
template <u32 kMaxThreads = 1024>
struct OwnSums {
  static constexpr u32 kMaxWaves = kMaxThreads / kMinThreads;
  template <u32 kCount>
  KILN_DEVICE static auto& of() {
    using Sums = TeamSums<kCount, kMaxWaves>;
    KILN_SHARED(sums, Sums);
    return sums;
  }
};
// Sums each value over `width` lanes and leaves one of the sums to each lane, in values[0]. Returns
// the number of that sum, or kNoSum. At each step a lane gives half of its values to its partner
// and gets the other half of the partner's.
inline constexpr u32 kNoSum = ~0u;
template <u32 kCount>
KILN_DEVICE u32 share_sums(f32* values, u32 mask, u32 width, u32 lane) {
  static_assert(kCount <= 32);
  if constexpr (kCount == 1) {
    for (; mask != 0; mask /= 2) values[0] += exchange(values[0], mask, width);
    return 0;
  } else {
    constexpr u32 kKept = (kCount + 1) / 2;
    const bool is_upper = (lane & mask) != 0;
#pragma unroll
    for (u32 i = 0; i < kKept; ++i) {
      const f32 upper = i + kKept < kCount ? values[i + kKept] : 0;
      const f32 given = is_upper ? values[i] : upper;
      values[i] = (is_upper ? upper : values[i]) + exchange(given, mask, width);
    }
    const u32 number = share_sums<kKept>(values, mask / 2, width, lane);
    return !is_upper ? number : number < kCount - kKept ? number + kKept : kNoSum;
  }
}
// Sums each of kCount values over a team. Calls store(i, sum) once for each i, in some thread,
// where sum(j) returns the sum of value j.
template <class Place = OwnSums<>, u32 kCount, class Store>
KILN_DEVICE void team_sums(Team team, f32 (&sums)[kCount], Store store) {
  auto& scratch = Place::template of<kCount>();
  constexpr u32 kMaxWaves = Place::kMaxWaves;
  const u32 width = are_waves_whole() ? wave_width() : kMinThreads;
  const u32 shift = count_ones(width - 1);
  const bool is_wave = team.threads == wave_width();
  const auto join = [&] {
    if (is_wave) {
      wave_barrier();
    } else {
      barrier();
    }
  };
  const u32 first = (thread_rank() - team.rank) >> shift;
  const u32 number = share_sums<kCount>(sums, width / 2, width, team.rank & (width - 1));
  if constexpr (kCount == 1) {
    if (team.threads == width) {
      if (team.rank == 0) store(0, [&](u32) { return sums[0]; });
      return;
    }
  }
  join();  // an earlier call may still read the scratch memory
  if (number != kNoSum) scratch.of[first + (team.rank >> shift)][number] = sums[0];
  join();
  const auto sum_of = [&](u32 i) {
    f32 sum = 0;
    if constexpr (kMaxWaves <= 8) {
#pragma unroll
      for (u32 w = 0; w < kMaxWaves; ++w) {
        if (w < team.threads >> shift) sum += scratch.of[first + w][i];
      }
    } else {
#pragma unroll 4
      for (u32 w = 0; w < team.threads >> shift; ++w) sum += scratch.of[first + w][i];
    }
    return sum;
  };
  for (u32 i = team.rank; i < kCount; i += team.threads) store(i, sum_of);
}

// Columns of a row that a thread takes at once, and slices (gguf/block.cuh).
template <class Format, u32 kVectors>
inline constexpr u32 kColumnsAtOnce = tuning::columns_at_once(kVectors, Format::kBytes);
template <class Format, u32 kVectors>
inline constexpr u32 kSlicesAtOnce = kColumnsAtOnce<Format, kVectors> / (4 * Format::kParts);

// True if the two halves of a thread's part of a row are summed separately, which takes longer.
// Only then does the product of one row match the reference's published one, 5561664.5, bit for
// bit.
template <class Format, u32 kSums>
inline constexpr bool kSumsHalves = false;
template <>
inline constexpr bool kSumsHalves<gguf::Q4_0, 1> = true;

// The part of a vector that belongs to a piece of a row: the quants of each part, and d and s of
// the vector's blocks that hold them. One instruction scales a biased sum: times d, plus `from`.
template <class Format, u32 kWords>
struct VectorPiece {
  // True if all parts lie in one block of the vector, so that they have one sum.
  static constexpr bool kOneRun = Format::kValues == 32;
  static constexpr u32 kRuns = kOneRun ? 1 : Format::kParts;

  // True if the format's zero is subtracted at the start of a sum. Runs are then shorter than the
  // vector's blocks, so that the blocks' own sums do not serve.
  static constexpr bool kSubtractsZero = Format::kZero != 0 && Format::kRun < 32;

  u32 quants[Format::kParts][kWords];
  f32 d[kRuns], from[kRuns], s[kRuns];
  i32 first[Format::kParts];  // start of a part's sum of products, biased

  // `blocks` begins with the block that holds the first word of the first part; `at` is that word's
  // index in it. The other parts lie at constant distances.
  KILN_DEVICE VectorPiece(const Q8_1* blocks, u32 at) {
#pragma unroll
    for (u32 p = 0; p < Format::kParts; ++p) {
      const u32 distance = Format::word(0, p);
      const Q8_1& y = blocks[distance / 8];
#pragma unroll
      for (u32 k = 0; k < kWords; ++k) quants[p][k] = y.quants[at + distance % 8 + k];
      if (p < kRuns) {
        d[p] = y.d();
        from[p] = -gguf::kBias * d[p];  // exact
        s[p] = y.s();
      }
      if constexpr (gguf::kIsMixed<Format>) {
        if (p == 1) mix();
      }
      first[p] = gguf::kWholeBias;
      if constexpr (kSubtractsZero) {
        i32 ones = 0;
#pragma unroll
        for (u32 k = 0; k < kWords; ++k) ones = dot_bytes(0x01010101u, quants[p][k], ones);
        first[p] -= Format::kZero * ones;
      }
    }
  }

  // Puts the quants into the order of a mixed decoder's.
  KILN_DEVICE void mix() {
#pragma unroll
    for (u32 k = 0; k < kWords; ++k) {
      const Halves mixed = mix_halves({quants[0][k], quants[1][k]});
      quants[0][k] = mixed.low;
      quants[1][k] = mixed.high;
    }
  }

  // Returns the product with words kFrom to kFrom + kCount - 1 of each part of a piece of a row.
  template <u32 kFrom = 0, u32 kCount = kWords>
  KILN_DEVICE f32 times(const gguf::Piece<Format, kWords>& piece, const gguf::Scale* scales) const {
    constexpr f32 kShare = (kOneRun ? kCount * Format::kParts : kCount) / 8.0f;
    f32 total = 0;
    i32 dot = 0, ones = 0;
#pragma unroll
    for (u32 p = 0; p < Format::kParts; ++p) {
      if (!kOneRun || p == 0) {
        dot = first[p];
        ones = gguf::kWholeBias;
      }
#pragma unroll
      for (u32 k = kFrom; k < kFrom + kCount; ++k) {
        dot = dot_bytes(piece.quants[k][p], quants[p][k], dot);
        if (Format::kHasOffset && Format::kRun < 32) {
          ones = dot_bytes(0x01010101u, quants[p][k], ones);
        }
      }
      if (kOneRun && p + 1 < Format::kParts) continue;
      const u32 run = kOneRun ? 0 : p;
      const f32 share = s[run] * kShare;
      f32 product = math::fma(bit_cast<f32>(dot), d[run], from[run]);
      if constexpr (Format::kZero != 0 && !kSubtractsZero) product -= Format::kZero * share;
      if constexpr (Format::kHasOffset) {
        const f32 all =
            Format::kRun < 32 ? math::fma(bit_cast<f32>(ones), d[run], from[run]) : share;
        total = math::fma(scales[p].offset, all, total);
      }
      total = math::fma(scales[p].scale, product, total);
    }
    return total;
  }
};

// A matrix of contiguous rows.
struct MatrixRows {
  const u8* matrix;
  u32 row_bytes;
  KILN_DEVICE const u8* row(u32 number) const {
    return matrix + static_cast<u64>(number) * row_bytes;
  }
};

// Stores results as f32: dst[v * stride + row].
struct F32Results {
  f32* dst;
  u32 stride;
  template <class Sum>
  KILN_DEVICE void operator()(u32 row, u32 v, Sum sum) const {
    dst[static_cast<u64>(v) * stride + row] = sum(0);
  }
};

// A team and the groups of rows that it takes: group `first` and every `step`-th one after it.
struct Share {
  Team team;
  u32 first, step;
  u32 ahead = 0;  // groups from the first team of its block to this one
};
// A block is a team. The first `workers` blocks work.
KILN_DEVICE Share share_of_block(u32 workers) { return {block_team(), block_index(), workers}; }
// Each half of a block is a team. Halves are whole waves.
KILN_DEVICE Share share_of_half(u32 workers) {
  const u32 threads = block_threads() / 2, half = uniform(thread_rank() / threads);
  return {{thread_rank() - half * threads, threads}, 2 * block_index(), 2 * workers, half};
}
// Each wave is a team. The waves of a block take neighbouring groups, or, if `is_spread`, groups
// are spread over the blocks because there are fewer groups than waves.
KILN_DEVICE Share share_of_wave(u32 workers, bool is_spread = false) {
  const u32 waves = wave_count(), wave = uniform(wave_index());
  return {{lane_index(), wave_width()},
          is_spread ? block_index() + wave * workers : block_index() * waves + wave,
          workers * waves};
}

// Multiplies kVectors vectors of Q8_1, `stride` blocks apart, by `rows` rows of `columns` columns.
// A team takes kRows rows at once, and each thread kWords slices of each. `output(row, v, sum)` is
// called once for each row and vector, in some thread. There sum(0) returns their product, and
// sum(n) the product of row + n, if that is one of the same kRows rows.
template <class GivenFormat, u32 kVectors, u32 kRows, class Place = OwnSums<>,
          u32 kWords = kSlicesAtOnce<GivenFormat, kVectors>, bool kByHalves = false, class Matrix,
          class Output>
KILN_DEVICE void multiply_rows(const Matrix& matrix, const Q8_1* vectors, const Output& output,
                               u32 columns, u32 rows, u32 stride, Share share) {
  using Format = gguf::Mixed<GivenFormat>;
  constexpr u32 kSums = kRows * kVectors;
  constexpr u32 kShares = kSumsHalves<Format, kSums> ? 2 : 1;
  using Piece = gguf::Piece<Format, kWords>;
  const u32 pieces = columns / Format::kValues * Piece::kPerBlock;
  const Team team = share.team;
#pragma unroll 1
  for (u32 next = share.first * kRows; next < rows; next += share.step * kRows) {
    const u32 first = kByHalves ? next + share.ahead * kRows : next;
    // Rows behind the last one are replaced by the last one and not stored.
    const u8* row[kRows];
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) row[r] = matrix.row(first + r < rows ? first + r : rows - 1);
    f32 sums[kShares * kSums] = {};
#pragma unroll 1
    for (u32 i = team.rank; i < pieces; i += team.threads) {
      const u32 first_word = i / Piece::kPerBlock * (Format::kValues / 4);
      Piece piece[kRows];
      gguf::Scale scales[kRows][Format::kParts];
#pragma unroll
      for (u32 r = 0; r < kRows; ++r) {
        piece[r] = Piece(row[r], i);
#pragma unroll
        for (u32 p = 0; p < Format::kParts; ++p) scales[r][p] = piece[r].scale(p);
      }
      const u32 at = first_word + piece[0].word(0);
#pragma unroll
      for (u32 v = 0; v < kVectors; ++v) {
        const VectorPiece<Format, kWords> y(vectors + (v * stride + at / 8), at % 8);
#pragma unroll
        for (u32 r = 0; r < kRows; ++r) {
          f32* const sum = &sums[r * kVectors + v];
          if constexpr (kShares == 1) {
            *sum += y.times(piece[r], scales[r]);
          } else {
            sum[0] += y.template times<0, kWords / 2>(piece[r], scales[r]);
            sum[kSums] += y.template times<kWords / 2, kWords / 2>(piece[r], scales[r]);
          }
        }
      }
    }
    team_sums<Place>(team, sums, [&](u32 i, auto sum_of) {
      const u32 at = first + i / kVectors;
      if (i >= kSums || at >= rows) return;
      output(at, i % kVectors, [&](u32 n) {
        const u32 number = i + n * kVectors;
        return kShares == 1 ? sum_of(number) : sum_of(number) + sum_of(number + kSums);
      });
    });
  }
}

// How the rows of a launch are shared: by waves or by blocks.
struct RowShares {
  bool is_by_wave;
  u32 workers;
  bool is_spread = false;
};

// A launch in the reference geometry has more blocks than there are groups of rows. If there are
// enough rows for waves to fill the device, each wave takes rows of its own. Then only some of the
// blocks work, so that the others have room to exit. Fewer rows suffice if a row has fewer pieces
// than the block has threads. The number of multiprocessors is that of the architecture's largest
// GPU: asking the device would take as long as a small product's arithmetic. `tasks` is the number
// of such products that are made at once.
template <class Format, u32 kVectors, u32 kRows>
inline constexpr u32 kBlocksWorking = tuning::vector_blocks_working(kVectors, kRows,
                                                                    (Format::kValues > 32),
                                                                    Format::kParts);
template <class Format, u32 kVectors>
inline constexpr bool kGoesByWave = tuning::goes_by_wave(kVectors, Format::kValues, Format::kBytes);
// Returns how many blocks of 128 threads work, on all multiprocessors together.
template <class Format, u32 kVectors, u32 kRows>
KILN_DEVICE u32 blocks_working(u32 rows, u32 columns) {
  constexpr u32 kEach = kBlocksWorking<Format, kVectors, kRows>;
  constexpr u32 kOfShort = tuning::kBlocksWorkingOfShort, kOfMany = tuning::kBlocksWorkingOfMany;
  constexpr u32 kOfLonger = kColumnsAtOnce<Format, kVectors> == 64 ? kOfMany : kOfShort;
  constexpr u32 kOfBytes = 2 * tuning::kManyRowBytes * Format::kValues / Format::kBytes;
  constexpr u32 kShort = tuning::kColumnsOfWave;
  constexpr u32 kLonger = kOfBytes < 2 * kShort ? kOfBytes : 2 * kShort;
  const bool are_many = kVectors <= 2 && rows >= tuning::kManyShortRows;
  u32 each = kEach;
  if (columns <= kShort) {
    const u32 row_bytes = columns / Format::kValues * Format::kBytes;
    const u32 most = are_many && row_bytes < tuning::kManyRowBytes ? kOfMany : kOfShort;
    each = most < kEach ? most : kEach;
  } else if (kOfLonger < kEach && are_many && columns <= kLonger) {
    each = kOfLonger;
  }
  return kMachine.multiprocessors * each;
}
template <class Format, u32 kVectors, u32 kRows, bool kByWave>
KILN_DEVICE RowShares shares_of(u32 rows, u32 columns, u32 tasks) {
  constexpr u32 kFilling = kMachine.multiprocessors * tuning::kWavesToFill;
  constexpr u32 kOfPiece = kColumnsAtOnce<Format, kVectors>;
  const u32 blocks = block_count(), groups = (rows + kRows - 1) / kRows;
  const bool is_short = columns <= tuning::kColumnsOfWave;
  const bool has_idle = columns < block_threads() * kOfPiece;
  if (!is_short && blocks <= groups) return {false, blocks};
  if (!is_short && !kByWave && !has_idle) return {false, blocks};
  if (kVectors == 1 && columns > tuning::kColumnsOfBlock) return {false, blocks};
  if (!are_waves_whole()) return {false, blocks};
  const u32 threads = block_threads(), all = groups * tasks;
  const u32 sixteenths = kVectors == 1 && Format::kValues > 32 && tasks == 1 ? 7 : 8;
  const u32 least = is_short   ? tuning::kFewGroups
                    : has_idle ? kFilling / 16 * sixteenths
                               : kFilling;
  if (all < least) return {false, blocks};
  const u32 of_block = threads > 64 ? 1 : threads > 32 ? 2 : 4;
  const u32 working = blocks_working<Format, kVectors, kRows>(rows, columns) * of_block;
  const u32 workers = blocks <= groups || blocks < working ? blocks : working;
  return {true, workers, all < working * wave_count()};
}

// Returns true if the block has no share of the rows. Asked first and in few instructions, because
// most blocks of the reference geometry have none. A block without a share may still get false.
template <class Format, u32 kVectors, u32 kRows, bool kByWave>
KILN_DEVICE bool has_no_share(u32 rows, u32 columns, u32 tasks) {
  constexpr u32 kFilling = kMachine.multiprocessors * tuning::kWavesToFill;
  const bool is_short = columns <= tuning::kColumnsOfWave;
  const u32 working = blocks_working<Format, kVectors, kRows>(rows, columns);
  const u32 groups = (rows + kRows - 1) / kRows, all = groups * tasks, block = block_index();
  const u32 least = is_short ? tuning::kFewGroups : kFilling;
  // With several tasks, each may have few groups.
  if ((tasks > 1 || !kByWave) && block >= groups) return true;
  if (!kByWave && !is_short && columns >= block_threads() * kColumnsAtOnce<Format, kVectors>) {
    return false;
  }
  const u32 waves = wave_count();
  const bool is_behind = tasks > 1 && all >= waves * working && waves * block >= groups;
  if (block < working && !is_behind) return false;
  const bool may_leave = (columns <= tuning::kColumnsOfBlock) & (all >= least) &
                         (block_count() > groups) & (block_threads() > 64);  // no branches
  return may_leave && are_waves_whole();
}

// Shares the rows by waves or by blocks, whichever suits the launch.
template <class Format, u32 kVectors, u32 kRows, bool kByWave = kGoesByWave<Format, kVectors>>
KILN_DEVICE void multiply_vectors(const u8* matrix, const Q8_1* vectors, f32* dst, u32 columns,
                                  u32 rows, u32 stride, u32 dst_stride, u32 tasks = 1) {
  const RowShares shares = shares_of<Format, kVectors, kRows, kByWave>(rows, columns, tasks);
  if (block_index() >= shares.workers) return;
  const MatrixRows matrix_rows{matrix, columns / Format::kValues * Format::kBytes};
  const F32Results results{dst, dst_stride};
  const Share of_wave = share_of_wave(shares.workers, shares.is_spread);
  Share of_block = share_of_block(shares.workers);
  constexpr bool kByHalves = kVectors > 2 && Format::kParts == 4;
  if constexpr (kByHalves) {
    // Otherwise half of the threads would be idle, and only few blocks of these kernels fit on a
    // multiprocessor.
    const bool go_apart = columns > tuning::kColumnsOfWave &&
                          2 * columns <= block_threads() * kColumnsAtOnce<Format, kVectors> &&
                          rows > kRows * (tuning::kFewGroups - 1);
    if (go_apart && block_threads() % (2 * wave_width()) == 0) {
      of_block = share_of_half(shares.workers);
    }
  }
  multiply_rows<Format, kVectors, kRows, OwnSums<128>, kSlicesAtOnce<Format, kVectors>, kByHalves>(
      matrix_rows, vectors, results, columns, rows, stride, shares.is_by_wave ? of_wave : of_block);
}

// Multiplies one vector by short rows. Each wave takes rows of its own, and each thread one piece.
template <class GivenFormat>
KILN_DEVICE void multiply_short_rows(const MatrixRows& matrix, const Q8_1* vector, f32* dst,
                                     u32 columns, u32 rows) {
  using Format = gguf::Mixed<GivenFormat>;
  constexpr u32 kWords = tuning::kColumnsOfWave / (4 * kMinThreads * Format::kParts);
  constexpr u32 kShares = kSumsHalves<Format, 1> ? 2 : 1, kEach = kWords / kShares;
  using Piece = gguf::Piece<Format, kWords>;
  const u32 lane = lane_index(), width = wave_width(), waves = wave_count();
  const u32 wave = uniform(wave_index());
  const bool is_idle = lane >= columns / Format::kValues * Piece::kPerBlock;
  // Blocks whose rows 32 bits cannot count write rows that others write, too.
#pragma unroll 1
  for (u32 row = block_index() * waves + wave; row < rows; row += all_blocks() * waves) {
    f32 sums[kShares] = {};
    if (!is_idle) {
      const Piece piece(matrix.row(row), lane);
      gguf::Scale scales[Format::kParts];
#pragma unroll
      for (u32 p = 0; p < Format::kParts; ++p) scales[p] = piece.scale(p);
      const u32 at = lane / Piece::kPerBlock * (Format::kValues / 4) + piece.word(0);
      const VectorPiece<Format, kWords> y(vector + at / 8, at % 8);
      sums[0] = y.template times<0, kEach>(piece, scales);
      if (kShares == 2) sums[kShares - 1] = y.template times<kWords - kEach, kEach>(piece, scales);
    }
    f32 sum = 0;
#pragma unroll
    for (u32 s = 0; s < kShares; ++s) {
      share_sums<1>(&sums[s], width / 2, width, lane);
      sum += sums[s];
    }
    if (lane == 0) dst[row] = sum;
  }
}

// mul_mat_vec of one vector. Teams take two rows at once. A block takes one row at once if there
// are few rows or if the matrix is not aligned, unless `kIsBrief`, which is less code.
template <class AnyFormat, bool kIsBrief>
KILN_DEVICE void mul_mat_one_vector(const u8* matrix, const Q8_1* vector, f32* dst, u32 columns,
                                    u32 rows) {
  using Format = gguf::Aligned<AnyFormat>;
  constexpr u32 kAtOnce = tuning::kSingleVectorRowsAtOnce;
  constexpr bool kByWave = kGoesByWave<Format, 1>;
  if (rows > tuning::kFewShortRows && has_no_share<Format, 1, kAtOnce, kByWave>(rows, columns, 1)) {
    return;
  }
  const MatrixRows matrix_rows{matrix, columns / Format::kValues * Format::kBytes};
  const bool is_aligned = gguf::are_aligned<AnyFormat>(matrix);
  if (columns <= tuning::kColumnsOfWave && rows <= tuning::kFewShortRows && are_waves_whole() &&
      is_aligned) {
    multiply_short_rows<Format>(matrix_rows, vector, dst, columns, rows);
  } else if (!kIsBrief && (rows <= tuning::kFewRows || !is_aligned)) {
    // With many rows, blocks behind the first ones have exited above.
    const bool are_all = rows <= tuning::kFewRows || block_count() < kMachine.multiprocessors;
    const u32 workers = are_all ? block_count() : kMachine.multiprocessors;
    if (block_index() >= workers) return;
    constexpr u32 kWords = tuning::kColumnsOfFewRows / (4 * Format::kParts);
    multiply_rows<AnyFormat, 1, 1, OwnSums<128>, kWords>(matrix_rows, vector, F32Results{dst, 0},
                                                         columns, rows, 0, share_of_block(workers));
  } else {
    multiply_vectors<Format, 1, kAtOnce>(matrix, vector, dst, columns, rows, 0, 0);
  }
}

// mul_mat_vec of few rows. Every `threads` threads of a block take two rows at once, and half
// `half` (0 or 1) of `count` vectors: kHalf of them. If `count` is odd, one vector is in both
// halves.
template <class Format, u32 kHalf, class Place>
KILN_NOINLINE void multiply_few_rows(const void* vx, const void* vy, f32* dst, i32 columns,
                                     i32 rows, i32 rows_y, i32 rows_dst, u32 count, u32 threads,
                                     u32 half) {
  const u32 stride = static_cast<u32>(rows_y) / 32, dst_stride = static_cast<u32>(rows_dst);
  const MatrixRows matrix{static_cast<const u8*>(vx),
                          static_cast<u32>(columns) / Format::kValues * Format::kBytes};
  const u32 v = half * (count - kHalf), thread = thread_rank();
  const Team team{thread < threads ? thread : thread - threads, threads};
  multiply_rows<Format, kHalf, tuning::kFewRowsAtOnce, Place>(
      matrix, static_cast<const Q8_1*>(vy) + v * stride,
      F32Results{dst + static_cast<u64>(v) * dst_stride, dst_stride}, static_cast<u32>(columns),
      static_cast<u32>(rows), stride, {team, block_index(), block_count()});
}

// mul_mat_vec without matrix units. `rows_y` is the padded length of a vector.
template <class Format, u32 kVectors, bool kIsBrief = false>
KILN_DEVICE void mul_mat_vec(const void* vx, const void* vy, f32* dst, i32 columns, i32 rows,
                             i32 rows_y, i32 rows_dst) {
  const u8* const matrix = static_cast<const u8*>(vx);
  const Q8_1* const vectors = static_cast<const Q8_1*>(vy);
  const u32 length = static_cast<u32>(columns), count = static_cast<u32>(rows);
  if constexpr (kVectors == 1) {
    mul_mat_one_vector<Format, kIsBrief>(matrix, vectors, dst, length, count);
  } else {
    multiply_vectors<Format, kVectors, tuning::kRowsAtOnce>(matrix, vectors, dst, length, count,
                                                            static_cast<u32>(rows_y) / 32,
                                                            static_cast<u32>(rows_dst));
  }
}

// Mixture of experts. For each task (batch, slot), multiplies its expert's matrix, of n rows and k
// columns, by the batch's vector or its own.
template <class Format>
KILN_DEVICE void indexed_moe(const void* weights, const void* inputs, const u32* experts,
                             f32* outputs, i32 n, i32 k, i32 batch, i32 top, i32 padded,
                             i32 input_rows) {
  constexpr u32 kAtOnce = tuning::kSingleVectorRowsAtOnce;
  const u32 of_batch = block_index_y(), slot = block_index_z();
  const u32 rows = static_cast<u32>(n), columns = static_cast<u32>(k);
  const u32 tasks = static_cast<u32>(batch * top);
  if (has_no_share<Format, 1, kAtOnce, true>(rows, columns, tasks)) return;
  if (of_batch >= static_cast<u32>(batch) || slot >= static_cast<u32>(top)) return;
  const u32 task = of_batch * static_cast<u32>(top) + slot;
  const u64 stride = static_cast<u32>(padded) / 32;
  const u64 expert_bytes = static_cast<u64>(rows) * (columns / Format::kValues) * Format::kBytes;
  multiply_vectors<Format, 1, kAtOnce, true>(
      static_cast<const u8*>(weights) + experts[task] * expert_bytes,
      static_cast<const Q8_1*>(inputs) + (input_rows == 1 ? of_batch : task) * stride,
      outputs + static_cast<u64>(task) * rows, columns, rows, 0, 0, tasks);
}

// Returns a thread's share of the product of a row and a vector of f32, which is not quantized.
// Takes kSlices slices at once. The vector's values are loaded by chunks or one by one.
template <class Format, u32 kSlices, bool kByChunks>
KILN_DEVICE f32 multiply_f32_row(const u8* row, const f32* y, u32 blocks) {
  constexpr u32 kCount = 4 * kSlices;
  using Piece = gguf::Piece<Format, kSlices>;
  f32 sum = 0;
#pragma unroll 1
  for (u32 i = thread_rank(); i < blocks * Piece::kPerBlock; i += block_threads()) {
    const Piece piece(row, i);
    const f32* const beside = y + static_cast<u64>(i / Piece::kPerBlock) * Format::kValues;
#pragma unroll
    for (u32 p = 0; p < Format::kParts; ++p) {
      f32 values[kCount];
      piece.values(p, values);
#pragma unroll
      for (u32 k = 0; k < kCount; k += 4) {
        const f32* const at = beside + 4 * piece.word(p) + k;
        Chunk<f32, 4> four;
        if constexpr (kByChunks) {
          four.load(at);
        } else {
#pragma unroll
          for (u32 j = 0; j < 4; ++j) four.word[j] = bit_cast<u32>(at[j]);
        }
#pragma unroll
        for (u32 j = 0; j < 4; ++j) sum = math::fma(values[k + j], four.get(j), sum);
      }
    }
  }
  return sum;
}

// dequantize_mul_mat_vec. A block takes one row at a time. The alignment is tested once per row:
// loads that tested it themselves would wait for each other. A thread takes two slices at once, or
// four if the format has one part. It also takes four of Q3_K, Q4_K and Q5_K if blocks are small,
// and rows are few but not short.
//
// Measured on an H200, in us, two slices -> four: reference geometry, Q4_K 2 x 2048 2.9 -> 2.4,
// 4096 x 512 4.5 -> 4.8, 14336 x 4096 30.8 -> 36.3; 128 threads a row, Q4_K 1024 x 4096 4.4 -> 4.6.
//
// A row so short that kMinThreads threads have a slice or two each is taken slice by slice, as
// are rows of unaligned blocks. Measured on an H200, in us, reference geometry, without -> with
// this (the original): 1000 x 64 Q8_0 2.03 -> 1.78 (1.76); 4096 x 256 Q3_K 5.21 -> 4.55 (4.98).
template <class Format>
KILN_DEVICE void multiply_f32_vector(const void* vx, const f32* y, f32* dst, i32 columns,
                                     u32 rows) {
  using Aligned = gguf::Aligned<Format>;
  constexpr u32 kSlices = Format::kParts == 1 ? 4 : 2;
  constexpr bool kTakesMore = Format::kValues > 32 && Format::kBytes > 100 && Format::kBytes < 200;
  constexpr u32 kMore = kTakesMore ? 4 : kSlices;
  constexpr u32 kShort = kMinThreads * (Format::kParts == 1 ? 4 : 8);
  const u32 blocks = static_cast<u32>(columns) / Format::kValues;
  const bool are_aligned = address_of(y) % 16 == 0 && gguf::are_aligned<Format>(vx);
  const bool takes_more = kTakesMore && rows <= tuning::kFewShortRows &&
                          static_cast<u32>(columns) >= tuning::kColumnsOfWave &&
                          block_threads() == kMinThreads;
#pragma unroll 1
  for (u32 row = block_index(); row < rows; row += block_count()) {
    const u8* const of_row =
        static_cast<const u8*>(vx) + static_cast<u64>(row) * blocks * Format::kBytes;
    f32 sums[1];
    if (!are_aligned || static_cast<u32>(columns) <= kShort) {
      sums[0] = multiply_f32_row<Format, 1, false>(of_row, y, blocks);
    } else if (takes_more) {
      sums[0] = multiply_f32_row<Aligned, kMore, true>(of_row, y, blocks);
    } else {
      sums[0] = multiply_f32_row<Aligned, kSlices, true>(of_row, y, blocks);
    }
    team_sums<OwnSums<256>>(block_team(), sums, [&](u32 i, auto sum_of) { dst[row] = sum_of(i); });
  }
}

}  // namespace kiln::families
