// Products of a matrix of quantized rows and several vectors: dst[v * rows_dst + row].
//
// Asynchronous copies of 16 bytes bring rows and vectors to shared memory unchanged. Rows are the
// left operand of products of bytes (device/byte_matrix.cuh). Each thread decodes its part of two
// of 16 rows. The integer product of each run, which has one scale, is scaled and added as f32.
#pragma once

#include "device/byte_matrix.cuh"
#include "device/chunk.cuh"
#include "device/platform.cuh"
#include "device/platform_copies.cuh"
#include "device/platform_lanes.cuh"
#include "device/platform_order.cuh"
#include "device/wave.cuh"
#include "families/spread.cuh"
#include "gguf/block.cuh"
#include "gguf/q8_1.cuh"
#include "tuning/quantized.hpp"

namespace kiln::families {

using namespace device;
using gguf::Q8_1;

KILN_DEVICE u32 min_of(u32 a, u32 b) { return a < b ? a : b; }

// A matrix whose rows consist of blocks.
struct BlockMatrix {
  const u8* bytes;
  u32 rows, blocks;  // of a row
};

// Vectors of Q8_1.
inline constexpr u32 kBlockWords = sizeof(Q8_1) / 4;
struct VectorRows {
  const u32* words;
  u32 stride;         // words from one vector to the next
  u32 count, groups;  // vectors, and groups of 32 values in each
};

// Holds kGroups * 32 values of each of up to kRows rows. kThreads threads copy them, several to a
// row. Each thread copies parts of one row, so that a copy of 16 bytes takes few instructions.
template <class Format, u32 kRows, u32 kGroups, u32 kThreads>
struct StagedRows {
  static constexpr u32 kBlocks = kGroups * 32 / Format::kValues;
  // A row begins at the same offset modulo 16 as in the matrix. The number of chunks is odd, so
  // that 16 bytes of each of eight rows lie in 32 different banks.
  static constexpr u32 kChunks = (kBlocks * Format::kBytes + 30) / 16 | 1;

  alignas(16) u8 bytes[kRows * kChunks * 16];

  // Copies `rows` rows, kRows or half of them, from `first_row` on, and blocks from `first_block`
  // on. Rows behind the last one repeat it.
  KILN_DEVICE void copy(const BlockMatrix& matrix, u32 first_row, u32 rows, u32 first_block,
                        u32 thread) {
    constexpr u32 kThreadsOfRow = kThreads / kRows;
    const u32 shift = rows == kRows ? 0 : 1;
    const u32 each = kThreadsOfRow << shift;
    const u32 r = thread / kThreadsOfRow >> shift, mine = thread & (each - 1);
    const u64 row_bytes = static_cast<u64>(matrix.blocks) * Format::kBytes;
    const u8* const first = matrix.bytes + min_of(first_row + r, matrix.rows - 1) * row_bytes +
                            first_block * Format::kBytes;
    const u32 before = static_cast<u32>(address_of(first)) % 16;
    const u32 end = before + min_of(matrix.blocks - first_block, kBlocks) * Format::kBytes;
    const u32 chunks = (end + 15) / 16;
    const u8* const from = first - before;
    u8* const to = bytes + r * (kChunks * 16);
    // Chunks that begin before the matrix or end behind it are copied byte by byte.
    u32 copied = before;
    if (from >= matrix.bytes) {
      const u64 left = matrix.bytes + matrix.rows * row_bytes - from;
      copied = left < 16 * chunks ? end / 16 * 16 : 16 * chunks;
#pragma unroll 1
      for (u32 i = 16 * mine; i < copied; i += 16 * each) copy_async<16>(to + i, from + i);
    }
#pragma unroll 1
    for (u32 i = copied + mine; i < end; i += each) to[i] = from[i];
  }

  // Returns the address of the first byte of row `first_row + r`.
  KILN_DEVICE const u8* row(const BlockMatrix& matrix, u32 first_row, u32 r,
                            u32 first_block) const {
    const u64 block =
        static_cast<u64>(min_of(first_row + r, matrix.rows - 1)) * matrix.blocks + first_block;
    return bytes + r * (kChunks * 16) +
           static_cast<u32>(address_of(matrix.bytes + block * Format::kBytes)) % 16;
  }
};

// Holds kGroups blocks of each of kVectors vectors. kThreads threads copy them, neighbours along a
// vector, so that few cache lines are read at once.
template <u32 kVectors, u32 kGroups, u32 kThreads>
struct StagedVectors {
  static constexpr u32 kWords = kGroups * kBlockWords;
  // The words that four threads read of each of eight neighbouring vectors lie in 32 different
  // banks. If there are only eight vectors, less memory matters more.
  static constexpr u32 kStride = kWords / 4 % 2 == 0 && kVectors > 8 ? kWords + 4 : kWords;

  alignas(16) u32 words[kVectors * kStride];

  // Places behind the last vector are left unchanged.
  KILN_DEVICE void copy(const VectorRows& vectors, u32 first_vector, u32 first_group, u32 thread) {
    constexpr u32 kChunks = kWords / 4, kDown = kThreads / kChunks, kAlong = kThreads % kChunks;
    const u32 count = min_of(vectors.count - first_vector, kVectors);
    const u32 size = min_of(vectors.groups - first_group, kGroups) * kBlockWords;
    u32 v = thread / kChunks, chunk = thread % kChunks;
    const u32* from = vectors.words + static_cast<u64>(first_vector + v) * vectors.stride +
                      first_group * kBlockWords + 4 * chunk;
    u32* to = words + v * kStride + 4 * chunk;
    const bool is_whole =
        address_of(vectors.words) % 16 == 0 && vectors.stride % 4 == 0 && size == kWords;
    const u64 step = static_cast<u64>(kDown) * vectors.stride + 4 * kAlong;
    const i64 wrap = static_cast<i64>(vectors.stride) - kWords;
#pragma unroll 1
    while (v < count) {
      if (is_whole) {
        copy_async<16>(to, from);
      } else {
#pragma unroll 1
        for (u32 k = 0; k < 4 && 4 * chunk + k < size; ++k) copy_async<4>(to + k, from + k);
      }
      v += kDown;
      chunk += kAlong;
      from += step;
      to += kDown * kStride + 4 * kAlong;
      if (chunk >= kChunks) {
        ++v;
        chunk -= kChunks;
        from += wrap;
        to += kStride - kWords;
      }
    }
  }
};

// A unit is the part of a row that a thread decodes at once: kGroups * 32 values. UnitRows is the
// share of thread `lane` of Fragments::kThreads: its words of the row that begins at rows[0] and, if
// a thread has two, of that at rows[1]. Rows lie in shared memory, with three more bytes behind
// them.
template <class Format, class Fragments = ByteFragments>
struct UnitRows {
  // True if a slice has words of both halves of 32 values. Otherwise it has words of kParts groups.
  static constexpr bool kHasHalves = Format::kValues == 32 && Format::kParts == 2;
  static constexpr u32 kGroups = kHasHalves ? 1 : Format::kParts;
  static constexpr u32 kPerBlock = Format::kValues / 32 / kGroups;
  static constexpr u32 kRuns = Format::kRun < 32 ? 2 : 1;  // of 32 values
  static constexpr u32 kRows = Fragments::kOwnRows;

  typename Fragments::Rows bytes[kGroups];
  gguf::Scale scales[kGroups][kRuns][kRows];

  KILN_DEVICE void load(const u8* const (&rows)[2], u32 unit, u32 lane) {
    load_bytes(rows, unit, lane);
    load_scales(rows, unit, lane);
  }
  KILN_DEVICE void load_bytes(const u8* const (&rows)[2], u32 unit, u32 lane) {
    constexpr u32 kCount = Fragments::kWords / 2;  // neighbouring words of a half
    const u32 within = Fragments::first_word(lane), in_block = unit % kPerBlock;
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) {
      const u8* const block = rows[r] + unit / kPerBlock * Format::kBytes;
      u32 quants[kCount][Format::kParts];
#pragma unroll
      for (u32 half = 0; half < 2; ++half) {
        if (half == 0 || !kHasHalves) {
          const u32 slice = (kHasHalves ? 0 : in_block * 8 + half * 4) + within;
          if constexpr (gguf::kMayPad<Format>) {
            Format::unpack_padded(block, slice, quants);
          } else {
            Format::unpack(block, slice, quants);
          }
        }
#pragma unroll
        for (u32 k = 0; k < kCount; ++k) {
#pragma unroll
          for (u32 g = 0; g < kGroups; ++g) {
            bytes[g].words[r][half * kCount + k] = quants[k][kHasHalves ? half : g];
          }
        }
      }
    }
  }

  // If four neighbouring threads need four scales, of the same rows, each decodes one.
  KILN_DEVICE void load_scales(const u8* const (&rows)[2], u32 unit, u32 lane) {
    const u32 at = unit / kPerBlock * Format::kBytes, first = unit % kPerBlock * kGroups;
    if constexpr (kGroups == 2 && kRuns == 1 && Fragments::kFourShare) {
      const gguf::Scale mine =
          Format::scale((lane % 2 == 0 ? rows[0] : rows[1]) + at, (first + lane % 4 / 2) * 8);
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        scales[i / 2][0][i % 2] = {bit_cast<f32>(share_word(bit_cast<u32>(mine.scale), i, 4)),
                                   bit_cast<f32>(share_word(bit_cast<u32>(mine.offset), i, 4))};
      }
    } else {
#pragma unroll
      for (u32 r = 0; r < kRows; ++r) {
#pragma unroll
        for (u32 g = 0; g < kGroups; ++g) {
#pragma unroll
          for (u32 run = 0; run < kRuns; ++run) {
            scales[g][run][r] = Format::scale(rows[r] + at, (first + g) * 8 + run * 4);
          }
        }
      }
    }
  }
};

// Decodes a unit of four groups one after another, which is less code than UnitRows: mul_mat_q2_K
// has 20 KB instead of 39. Measured on an H200, 4096 x 4096, in us, UnitRows -> UnitGroups: 64
// vectors, Q2_K 41.4 -> 44.1, Q3_K 37.4 -> 37.7; 512 vectors, Q2_K 209 -> 211, Q3_K 156 -> 162.
template <class Format, class Fragments>
struct UnitGroups {
  static constexpr u32 kWords = Fragments::kWords, kCount = kWords / 2;
  static constexpr u32 kRows = Fragments::kOwnRows, kRuns = UnitRows<Format>::kRuns;
  using Packed = typename Format::template Packed<kCount>;

  const u8* blocks[2];  // one of each row
  u32 word;             // first word of the next group
  Packed packed[2][2];  // by row and half of a group

  KILN_DEVICE UnitGroups(const u8* const (&rows)[2], u32 unit, u32 lane)
      : UnitGroups(rows[0] + unit / UnitRows<Format>::kPerBlock * Format::kBytes,
                   rows[1] + unit / UnitRows<Format>::kPerBlock * Format::kBytes,
                   unit % UnitRows<Format>::kPerBlock, Fragments::first_word(lane)) {}
  KILN_DEVICE void next(typename Fragments::Rows& bytes, gguf::Scale (&scales)[kRuns][kRows]) {
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) {
#pragma unroll
      for (u32 w = 0; w < kWords; ++w) {
        bytes.words[r][w] = packed[r][w / kCount].next(w % kCount);
      }
#pragma unroll
      for (u32 run = 0; run < kRuns; ++run) {
        scales[run][r] = Format::scale(blocks[r], word + run * 4);
      }
    }
    word += 8;
  }

 private:
  KILN_DEVICE UnitGroups(const u8* first, const u8* second, u32 in_block, u32 within)
      : blocks{first, second},
        word(in_block * 32),
        packed{{{first, in_block * 8 + within}, {first, in_block * 8 + 4 + within}},
               {{second, in_block * 8 + within}, {second, in_block * 8 + 4 + within}}} {}
};

using gguf::kBias;
using gguf::kWholeBias;

// Adds the biased products of one run of kRows rows, with a scale each, and kOwn columns, with a d
// each.
template <u32 kRows, u32 kOwn>
KILN_DEVICE void add_products(f32 (&of)[kRows * kOwn], const i32 (&dot)[kRows * kOwn],
                              const f32 (&d)[kOwn], const f32 (&scales)[kRows]) {
#pragma unroll
  for (u32 i = 0; i < kRows * kOwn; ++i) {
    const f32 product =
        math::fma(bit_cast<f32>(dot[i]), d[i % kOwn], -kBias * d[i % kOwn]);  // exact
    of[i] = math::fma(product, scales[i / kOwn], of[i]);
  }
}

// The results that one thread of Fragments::kThreads holds, for kRight tiles of columns.
template <u32 kRight, class Fragments = ByteFragments>
struct TileResults {
  static constexpr u32 kOwn = Fragments::kOwn, kRows = Fragments::kOwnRows;
  static constexpr u32 kCount = kRows * kOwn;  // of a tile
  f32 of[kRight][kCount] = {};

  KILN_DEVICE static u32 row(u32 lane, u32 i) {
    return Fragments::first_row(lane) + i / kOwn * Fragments::kRowsApart;
  }
  KILN_DEVICE static u32 vector(u32 lane, u32 x, u32 i) {
    return Fragments::column(lane, i % kOwn) + x * Fragments::kColumns;
  }

  // Adds the products of unit `unit` of two rows and the staged vectors' groups from `first_group`
  // on. Only the first `count` vectors matter: kSkip tiles of columns behind them are skipped at
  // once.
  static constexpr u32 kSkip = 32 / Fragments::kColumns;
  template <class Format, class Vectors>
  KILN_DEVICE void add(const u8* const (&rows)[2], u32 unit, const Vectors& vectors, u32 count,
                       u32 first_group, u32 lane) {
    const u32* const words = &vectors.words[first_group * kBlockWords];
    using Unit = UnitRows<Format, Fragments>;
    constexpr u32 kGroups = Unit::kGroups, kRuns = Unit::kRuns;
    if constexpr (kGroups < 4) {
      Unit of;
      of.load(rows, unit, lane);
#pragma unroll
      for (u32 x = 0; x < kRight; ++x) {
        if (x != 0 && x % kSkip == 0 && x * Fragments::kColumns >= count) break;
#pragma unroll
        for (u32 g = 0; g < kGroups; ++g) {
          add_group<Format, Vectors::kStride>(of.bytes[g], of.scales[g], words + g * kBlockWords, x,
                                              lane);
        }
      }
    } else {
      // With many tiles of columns, a group alone has enough independent products.
      constexpr u32 kAtOnce = kRight == 1 ? kGroups : 1;
      UnitGroups<Format, Fragments> of(rows, unit, lane);
#pragma unroll kAtOnce
      for (u32 g = 0; g < kGroups; ++g) {
        typename Fragments::Rows bytes;
        gguf::Scale scales[kRuns][kRows];
        of.next(bytes, scales);
#pragma unroll
        for (u32 x = 0; x < kRight; ++x) {
          if (x != 0 && x % kSkip == 0 && x * Fragments::kColumns >= count) break;
          add_group<Format, Vectors::kStride>(bytes, scales, words + g * kBlockWords, x, lane);
        }
      }
    }
  }

 private:
  // `words` points to the group in the first tile of columns.
  template <class Format, u32 kStride, u32 kRuns>
  KILN_DEVICE void add_group(const typename Fragments::Rows& bytes,
                             const gguf::Scale (&scales)[kRuns][kRows], const u32* words, u32 x,
                             u32 lane) {
    const u32* const blocks = words + x * Fragments::kColumns * kStride;
    if constexpr (kRuns == 1) {
      add_run<Format, -1, kStride>(bytes, scales[0], blocks, x, lane);
    } else {
      add_run<Format, 0, kStride>(bytes, scales[0], blocks, x, lane);
      add_run<Format, 1, kStride>(bytes, scales[1], blocks, x, lane);
    }
    compute_here(of[x]);
  }
  template <class Format, i32 kHalf, u32 kStride>
  KILN_DEVICE void add_run(const typename Fragments::Rows& bytes,
                           const gguf::Scale (&scales)[kRows], const u32* blocks, u32 x, u32 lane) {
    static_assert(Format::kZero == 0);
    // The sum of half a vector's block is none of its fields, so it is computed.
    constexpr bool kSums = Format::kHasOffset && kHalf >= 0;
    i32 ones[kCount] = {}, dot[kCount];
    if constexpr (kSums) {
      typename Fragments::Rows all;
#pragma unroll
      for (u32 w = 0; w < Fragments::kWords; ++w) {
#pragma unroll
        for (u32 r = 0; r < kRows; ++r) all.words[r][w] = 0x01010101u;
      }
      Fragments::template multiply<kHalf>(ones, kWholeBias, all, blocks + 1, kStride, lane);
    }
    Fragments::template multiply<kHalf>(dot, kWholeBias, bytes, blocks + 1, kStride, lane);
    u32 both[kOwn];
    f32 d[kOwn];
#pragma unroll
    for (u32 i = 0; i < kOwn; ++i) {
      both[i] = blocks[Fragments::column(lane, i) * kStride];
      d[i] = widen(f16{static_cast<u16>(both[i])});
    }
    f32 of_rows[kRows];
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) of_rows[r] = scales[r].scale;
    add_products(of[x], dot, d, of_rows);
    if constexpr (Format::kHasOffset) {
#pragma unroll
      for (u32 i = 0; i < kCount; ++i) {
        const f32 s = kSums ? math::fma(bit_cast<f32>(ones[i]), d[i % kOwn], -kBias * d[i % kOwn])
                            : widen(f16{static_cast<u16>(both[i % kOwn] >> 16)});
        of[x][i] = math::fma(scales[i / kOwn].offset, s, of[x][i]);
      }
    }
  }
};

// Number of threads of a block that work; twice as many in larger blocks. Others only wait.
inline constexpr u32 kMatrixThreads = 128;

// Makes tiles of 64 or 32 rows and 64 vectors. Every kThreads threads, a wave below, take kTileRows
// rows. If rows leave threads over, steps of columns are split into parts.
template <class Format>
struct MatrixTiles {
  using Fragments = TileFragments;
  static constexpr u32 kThreads = Fragments::kThreads, kTileRows = Fragments::kRows;
  static constexpr u32 kVectors = 64, kRows = 64, kFewRows = 32, kFewVectors = 32;
  static constexpr u32 kGroups = 8;  // of a step
  static constexpr u32 kRight = kVectors / Fragments::kColumns;
  using Results = TileResults<kRight, Fragments>;
  static constexpr u32 kResults = kRight * Results::kCount;  // of a thread

  struct Step {
    StagedRows<Format, kRows, kGroups, kMatrixThreads> rows;
    StagedVectors<kVectors, kGroups, kMatrixThreads> vectors;
  };
  union Shared {
    Step step;
    f32 parts[kRows / kTileRows][kResults][kThreads];
  };

  // Tiles have few rows if the launch has enough blocks for them.
  KILN_DEVICE static u32 rows_of_tile(u32 rows) {
    return block_count() >= (rows + kFewRows - 1) / kFewRows ? kFewRows : kRows;
  }
  // Tiles have few vectors if the launch has enough blocks along y for them.
  KILN_DEVICE static u32 vectors_of_tile(u32 vectors) {
    return block_count_y() >= (vectors + kFewVectors - 1) / kFewVectors ? kFewVectors : kVectors;
  }

  // `output(row, vector, value)` is called once for each result, after the threads have used
  // `shared`.
  template <class Output>
  KILN_DEVICE static void multiply(Shared& shared, const BlockMatrix& matrix,
                                   const VectorRows& vectors, const Output& output, u32 tile_rows,
                                   u32 first_row, u32 first_vector) {
    using Unit = UnitRows<Format>;
    constexpr u32 kUnits = kGroups / Unit::kGroups;
    const u32 thread = thread_rank(), lane = thread % kThreads;
    const u32 wave = uniform(thread / kThreads);
    // If there are more threads, the first ones copy the rows and the next ones the vectors.
    const bool are_more = block_threads() >= 2 * kMatrixThreads;
    const u32 copies = thread / kMatrixThreads;
    const u32 top = wave * kTileRows % tile_rows, part = wave * kTileRows / tile_rows;
    const u32 parts =
        min_of((are_more ? 2 : 1) * (kMatrixThreads / kThreads * kTileRows) / tile_rows, kUnits);
    const u32 groups = kGroups / parts;
    const u32 count = vectors.count - first_vector;
    Step& step = shared.step;
    Results results;
#pragma unroll 1
    for (u32 first = 0; first < vectors.groups; first += kGroups) {
      const u32 first_block = first / (Format::kValues / 32);
      if (copies == 0) {
        step.rows.copy(matrix, first_row, tile_rows, first_block, thread);
      }
      if (copies == (are_more ? 1u : 0u)) {
        step.vectors.copy(vectors, first_vector, first, thread % kMatrixThreads);
      }
      wait_for_copies();
      barrier();
      const u32 row = top + Fragments::first_row(lane), next = row + Fragments::kRowsApart;
      const u8* const rows[2] = {step.rows.row(matrix, first_row, row, first_block),
                                 step.rows.row(matrix, first_row, next, first_block)};
#pragma unroll 1
      for (u32 i = 0, g = part * groups; i < groups && g < kGroups && first + g < vectors.groups;
           i += Unit::kGroups, g += Unit::kGroups) {
        results.template add<Format>(rows, g / Unit::kGroups, step.vectors, count, g, lane);
      }
      barrier();
    }
    if (parts != 1) {
      f32(&other)[kResults][kThreads] = shared.parts[top / kTileRows];
#pragma unroll 1
      for (u32 p = 1; p < parts; ++p) {
#pragma unroll
        for (u32 k = 0; k < kResults; ++k) {
          if (part == p) other[k][lane] = results.of[k / Results::kCount][k % Results::kCount];
        }
        barrier();
#pragma unroll
        for (u32 k = 0; k < kResults; ++k) {
          if (part == 0) results.of[k / Results::kCount][k % Results::kCount] += other[k][lane];
        }
        barrier();
      }
    }
    if (part != 0) return;
#pragma unroll
    for (u32 x = 0; x < kRight; ++x) {
#pragma unroll
      for (u32 i = 0; i < Results::kCount; ++i) {
        const u32 r = first_row + top + Results::row(lane, i);
        const u32 v = first_vector + Results::vector(lane, x, i);
        if (r < matrix.rows && v < vectors.count) output(r, v, results.of[x][i]);
      }
    }
  }
};

// mul_mat_vec of 5 to 8 vectors. A block of up to kMaxWaves * 32 threads makes 16 rows at once.
// Every 32 threads take steps of columns in turn and copy one step ahead, or three if the block has
// room and there are few rows. A launch may have any number of blocks.
template <class GivenFormat, u32 kMaxWaves>
struct MatrixVectors {
  // Runs of half a block would need its sum, which vectors do not store.
  using Format = gguf::CenteredRuns<GivenFormat>;
  using Unit = UnitRows<Format>;
  using Results = TileResults<1>;
  static constexpr u32 kGroups = 8;  // of a step
  struct Step {
    StagedRows<Format, kTileRows, kGroups, kTileThreads> rows;
    StagedVectors<kTileColumns, kGroups, kTileThreads> vectors;
  };
  static_assert(sizeof(Step) <= 48 * 1024 / (2 * kMaxWaves));
  union Shared {
    Step steps[2 * kMaxWaves];
    f32 results[kMaxWaves][4][kTileThreads];
  };

  KILN_DEVICE static void multiply(Shared& shared, const BlockMatrix& matrix,
                                   const VectorRows& vectors, f32* dst, u32 dst_stride) {
    const u32 thread = thread_rank(), lane = thread % kTileThreads;
    const u32 wave = uniform(thread / kTileThreads);
    const u32 waves = block_threads() / kTileThreads, stride = waves * kGroups;
    const bool is_deep = waves <= kMaxWaves / 2 && matrix.rows <= tuning::kRowsCopiedAhead;
    const u32 depth = is_deep ? 4 : 2, ahead = (depth - 1) * stride;
    Step* const steps = shared.steps + wave * depth;
    if (leaves_to_all()) return;
#pragma unroll 1
    for (u32 first = block_index() * kTileRows; first < matrix.rows;
         first += all_blocks() * kTileRows) {
      Results results;
      // All waves make the same number of rounds. In the first ones no step has arrived yet.
#pragma unroll 1
      for (u32 round = 0, buffer = 0; round < vectors.groups + ahead; round += stride) {
        if (is_deep) {
          wait_for_groups<2>();
        } else {
          wait_for_groups<0>();
        }
        wave_barrier();
        const u32 next = round + wave * kGroups, group = next - ahead;
        constexpr u32 kOfBlock = Format::kValues / 32;
        if (next < vectors.groups) {
          steps[buffer].rows.copy(matrix, first, kTileRows, next / kOfBlock, lane);
          steps[buffer].vectors.copy(vectors, 0, next, lane);
        }
        end_group();
        buffer = (buffer + 1) % depth;
        if (round < ahead) continue;
        const u32 block = group / kOfBlock;
        const Step& step = steps[buffer];
        const u8* const rows[2] = {step.rows.row(matrix, first, lane / 4, block),
                                   step.rows.row(matrix, first, lane / 4 + 8, block)};
#pragma unroll 1
        for (u32 g = 0; g < kGroups; g += Unit::kGroups) {
          if (group + g >= vectors.groups) break;
          results.template add<Format>(rows, g / Unit::kGroups, step.vectors, vectors.count, g,
                                       lane);
        }
      }
      barrier();
#pragma unroll
      for (u32 i = 0; i < 4; ++i) shared.results[wave][i][lane] = results.of[0][i];
      barrier();
      for (u32 i = wave; i < 4; i += waves) {
        f32 sum = 0;
#pragma unroll 1
        for (u32 w = 0; w < waves; ++w) sum += shared.results[w][i][lane];
        const u32 r = first + Results::row(lane, i), v = Results::vector(lane, 0, i);
        if (r < matrix.rows && v < vectors.count) dst[static_cast<u64>(v) * dst_stride + r] = sum;
      }
      barrier();
    }
  }
};

}  // namespace kiln::families
