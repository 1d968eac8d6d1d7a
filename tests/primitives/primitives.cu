// The primitives of device/, each in its own kernels: reductions over lanes and blocks, scans,
// votes, sorts, atomics, conversions, products of bytes, and the places of elements in views.
#include "device/atomics.cuh"
#include "device/block.cuh"
#include "device/block_sort.cuh"
#include "device/byte_matrix.cuh"
#include "device/columns.cuh"
#include "device/convert.cuh"
#include "device/half_fragments.cuh"
#include "device/half_matrix.cuh"
#include "device/index.cuh"
#include "device/wave.cuh"
#include "functors/reduction.cuh"
#include "tables/dtypes.hpp"
#include "tables/reduce.hpp"

namespace kiln {
namespace {

using namespace device;

// The number of the thread in the launch.
KILN_DEVICE u32 self() { return block_index() * block_threads() + thread_rank(); }

// The element of this thread, or the identity after the last element.
template <class Monoid, class T>
KILN_DEVICE auto state_of(const T* in, u32 i, u32 count) {
  return i < count ? Monoid::take(Monoid::identity(), in[i], i) : Monoid::identity();
}

enum class Dtype : u32 {
#define ROW(type, enumerator, ...) k##enumerator,
  KILN_EACH_DTYPE(ROW)
#undef ROW
};

template <class From>
KILN_DEVICE void convert_element(const From* in, void* out, u32 i, u32 to) {
  switch (static_cast<Dtype>(to)) {
#define ROW(type, enumerator, ...) \
  case Dtype::k##enumerator: static_cast<type*>(out)[i] = narrow<type>(convert<type>(in[i])); break;
    KILN_EACH_DTYPE(ROW)
#undef ROW
  }
}

template <u32 N, class Index>
KILN_DEVICE void find_elements(const u64* info, u32 rank, const Index* elements, u64* places,
                               u32 count) {
  const u32 i = self();
  if (i >= count) return;
  const Place<N> place = find_element(Views<N>{info, rank}, elements[i]);
  for (u32 n = 0; n < N; ++n) places[i * N + n] = place.at[n];
}

// Each 32 threads of a block add the product of 16 rows and 8 columns of 32 bytes of a tile to the
// previous values; or only of the first or last 16 bytes.
struct ByteTiles {
  static constexpr u32 kMax = 4, kStride = 12, kColumnStride = 9;
  alignas(16) u32 rows[kMax][kTileRows * kStride];
  u32 columns[kMax][kTileColumns * kColumnStride];
};
template <i32 kHalf>
KILN_DEVICE void multiply_tiles(const u32* rows, const u32* columns, i32* sums) {
  KILN_SHARED(tiles, ByteTiles);
  const u32 lane = thread_rank() % kTileThreads, tile = thread_rank() / kTileThreads;
  const u32 of_launch = self() / kTileThreads;
  for (u32 i = lane; i < kTileRows * 8; i += kTileThreads) {
    tiles.rows[tile][i / 8 * ByteTiles::kStride + i % 8] = rows[of_launch * kTileRows * 8 + i];
  }
  for (u32 i = lane; i < kTileColumns * 8; i += kTileThreads) {
    tiles.columns[tile][i / 8 * ByteTiles::kColumnStride + i % 8] =
        columns[of_launch * kTileColumns * 8 + i];
  }
  barrier();
  i32* const first = sums + of_launch * kTileRows * kTileColumns + lane / 4 * kTileColumns;
  i32* const of_lane[2] = {first + lane % 4 * 2, first + 8 * kTileColumns + lane % 4 * 2};
  ByteRows left;
  for (u32 h = 0; h < 2; ++h) {
    const u32* const row = &tiles.rows[tile][(lane / 4 + 8 * h) * ByteTiles::kStride];
    for (u32 k = 0; k < kRowWords; ++k) {
      left.words[h][k] = row[kRowWords == 8 ? k : lane % 4 + 4 * k];
    }
  }
  constexpr i32 kFirst = -12345;
  i32 c[4];
  multiply_bytes<kHalf>(c, kFirst, left, tiles.columns[tile], ByteTiles::kColumnStride, lane);
  for (u32 i = 0; i < 4; ++i) of_lane[i / 2][i % 2] += c[i] - kFirst;
}

// A block of 64 threads does the same for a tile of 32 rows and 16 columns, in the pieces that suit
// the device.
struct FragmentTile {
  static constexpr u32 kRows = 32, kColumns = 16;
  u32 columns[kColumns * ByteTiles::kColumnStride];
};
template <i32 kHalf>
KILN_DEVICE void multiply_fragments(const u32* rows, const u32* columns, i32* sums) {
  using Fragments = TileFragments;
  constexpr u32 kThreads = Fragments::kThreads, kStride = ByteTiles::kColumnStride;
  constexpr u32 kAcross = FragmentTile::kColumns / Fragments::kColumns;
  constexpr u32 kPieces = FragmentTile::kRows / Fragments::kRows * kAcross;
  KILN_SHARED(tile, FragmentTile);
  const u32 of_tile = block_index() * FragmentTile::kColumns * 8;
  for (u32 i = thread_rank(); i < FragmentTile::kColumns * 8; i += block_threads()) {
    tile.columns[i / 8 * kStride + i % 8] = columns[of_tile + i];
  }
  barrier();
  const u32 lane = thread_rank() % kThreads;
  for (u32 piece = thread_rank() / kThreads; piece < kPieces; piece += block_threads() / kThreads) {
    const u32 left_columns = piece % kAcross * Fragments::kColumns;
    const u32 first = piece / kAcross * Fragments::kRows + Fragments::first_row(lane);
    Fragments::Rows left;
    for (u32 r = 0; r < Fragments::kOwnRows; ++r) {
      const u32 row = block_index() * FragmentTile::kRows + first + r * Fragments::kRowsApart;
      for (u32 w = 0; w < Fragments::kWords; ++w) {
        const u32 half = w / (Fragments::kWords / 2), within = w % (Fragments::kWords / 2);
        left.words[r][w] = rows[row * 8 + Fragments::first_word(lane) + 4 * half + within];
      }
    }
    constexpr i32 kFirst = -12345;
    i32 c[Fragments::kOwnRows * Fragments::kOwn];
    Fragments::multiply<kHalf>(c, kFirst, left, tile.columns + left_columns * kStride, kStride,
                               lane);
    for (u32 i = 0; i < Fragments::kOwnRows * Fragments::kOwn; ++i) {
      const u32 row = first + i / Fragments::kOwn * Fragments::kRowsApart;
      const u32 column = left_columns + Fragments::column(lane, i % Fragments::kOwn);
      sums[(block_index() * FragmentTile::kRows + row) * FragmentTile::kColumns + column] +=
          c[i] - kFirst;
    }
  }
}

// A block adds four products of 16 rows and 16 columns of 16 elements to the previous values.
struct HalfTiles {
  static constexpr u32 kTiles = 4, kStride = 24;
  alignas(16) u16 operands[2][kTiles][kHalfTile * kStride];
};
template <class T>
KILN_DEVICE void multiply_half_tiles(const T* rows, const T* columns, f32* sums) {
  KILN_SHARED(tiles, HalfTiles);
  constexpr u32 kElements = HalfTiles::kTiles * kHalfTile * kHalfTile;
  const u32 first = block_index() * kElements;
  for (u32 i = thread_rank(); i < kElements; i += block_threads()) {
    const u32 at = i / kHalfTile * HalfTiles::kStride + i % kHalfTile;
    tiles.operands[0][0][at] = rows[first + i].bits;
    tiles.operands[1][0][at] = columns[first + i].bits;
  }
  barrier();
  const u32 lane = thread_rank() % kHalfThreads;
  for (u32 tile = thread_rank() / kHalfThreads; tile < HalfTiles::kTiles;
       tile += block_threads() / kHalfThreads) {
    HalfLeft<T, HalfTiles::kStride> left;
    HalfRight<T, HalfTiles::kStride> right;
    left.load(tiles.operands[0][tile], lane);
    right.load(tiles.operands[1][tile], lane);
    f32* const of_tile = sums + first + tile * kHalfTile * kHalfTile;
    const auto place = [&](u32 i) {
      return half_tile_row(lane, i) * kHalfTile + half_tile_column(lane, i);
    };
    f32 c[kHalfResults];
    for (u32 i = 0; i < kHalfResults; ++i) c[i] = of_tile[place(i)];
    left.multiply(c, right, lane);
    for (u32 i = 0; i < kHalfResults; ++i) of_tile[place(i)] = c[i];
  }
}

// A block of 128 threads multiplies 64 decoded rows of 32 bytes by 64 columns of 32 values, which
// are group `group` of the staged ones.
struct DecodedTiles {
  alignas(1024) u8 columns[HalfColumns::kBytes];
  DecodedRows::Scratch scratch[4];
};
struct RowScale {
  f32 scale, offset;
};
template <i32 kZero, bool kHasOffset>
KILN_DEVICE void multiply_decoded(const u32* rows, const RowScale* scales, const f16* columns,
                                  f32* results, u32 group) {
  constexpr u32 kColumns = 64;
  KILN_SHARED(tiles, DecodedTiles);
  for (u32 i = thread_rank(); i < kColumns * 32; i += block_threads()) {
    const u32 at = group * 32 + i % 32;
    const HalfPlace place = half_place(at % kHalfChunkColumns);
    const u32 piece = at / kHalfChunkColumns * kHalfPieces + place.piece;
    reinterpret_cast<f16*>(tiles.columns + HalfColumns::place(i / 32, piece))[place.within] =
        columns[i];
  }
  show_products();
  barrier();
  const u32 lane = thread_rank() % kTileThreads, wave = thread_rank() / kTileThreads;
  ByteRows words;
  RowScale of_halves[2][2];
  for (u32 r = 0; r < 2; ++r) {
    const u32 row = wave * kTileRows + lane / 4 + 8 * r;
    for (u32 k = 0; k < kRowWords; ++k) {
      words.words[r][k] = rows[row * 8 + (kRowWords == 8 ? k : lane % 4 + 4 * k)];
    }
    for (u32 half = 0; half < 2; ++half) of_halves[half][r] = scales[row * 2 + half];
  }
  DecodedRows left;
  HalfSums sums;
  set_zero(sums);
  left.template decode<kZero, kHasOffset>(tiles.scratch[wave], words, of_halves[0], of_halves[1],
                                          lane);
  wave_barrier();
  begin_products();
  left.multiply(sums, tiles.scratch[wave], tiles.columns, group, lane);
  end_products();
  wait_for_products<0>();
#pragma unroll
  for (u32 x = 0; x < kColumns / kTileColumns; ++x) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const u32 row = wave * kTileRows + i / 2 * 8 + lane / 4;
      results[row * kColumns + x * kTileColumns + lane % 4 * 2 + i % 2] = sums[x][i];
    }
  }
}

}  // namespace
}  // namespace kiln

#define OUT_Same(type) kiln::type
#define OUT_Index(type) kiln::u32

// Every thread gets the result of its group of `width` lanes.
#define WAVE(suffix, type, root, op, output)                                                \
  KILN_KERNEL(1024, wave_##root##_##suffix, const kiln::type* in, OUT_##output(type) * out, \
              kiln::u32 count, kiln::u32 width) {                                           \
    using Monoid = kiln::functors::op<kiln::type>;                                          \
    const kiln::u32 i = kiln::self();                                                       \
    const auto state = kiln::state_of<Monoid>(in, i, count);                                \
    out[i] = Monoid::result(kiln::device::join_lanes<Monoid>(state, width), ~0u);           \
  }
// The same over the block, twice: the second time for `in` from element `count` on.
#define BLOCK(suffix, type, root, op, output)                                                \
  KILN_KERNEL(1024, block_##root##_##suffix, const kiln::type* in, OUT_##output(type) * out, \
              kiln::u32 count, kiln::u32 threads) {                                          \
    using Monoid = kiln::functors::op<kiln::type>;                                           \
    const kiln::u32 i = kiln::self();                                                        \
    const auto first = kiln::state_of<Monoid>(in, i, count);                                 \
    const auto second = kiln::state_of<Monoid>(in + count, i, count);                        \
    out[i] = Monoid::result(kiln::device::block_reduce<Monoid>(first), ~0u);                 \
    out[threads + i] = Monoid::result(kiln::device::block_reduce<Monoid>(second), ~0u);      \
  }
#define SCAN(suffix, type, root, op, output)                                                \
  KILN_KERNEL(1024, scan_##root##_##suffix, const kiln::type* in, OUT_##output(type) * out, \
              kiln::u32 count) {                                                            \
    using Monoid = kiln::functors::op<kiln::type>;                                          \
    const kiln::u32 i = kiln::self();                                                       \
    const auto state = kiln::state_of<Monoid>(in, i, count);                                \
    out[i] = Monoid::result(kiln::device::block_scan<Monoid>(state), ~0u);                  \
  }
#define EACH(name, op, dtypes, output, ...)                                                  \
  KILN_##dtypes(WAVE, fast_##name, op, output) KILN_##dtypes(BLOCK, fast_##name, op, output) \
      KILN_##dtypes(SCAN, fast_##name, op, output)
KILN_EACH_REDUCTION(EACH)

// The bits of the lanes of the wave with the same five bits, lowest half first. `skipped` does not
// take part.
KILN_KERNEL(1024, wave_match, const kiln::u32* in, kiln::u32* out, kiln::u32 skipped) {
  const kiln::u32 i = kiln::self();
  const kiln::u64 peers = kiln::device::wave_match<5>(in[i], in[i] != skipped);
  out[2 * i] = static_cast<kiln::u32>(peers);
  out[2 * i + 1] = static_cast<kiln::u32>(peers >> 32);
}
KILN_KERNEL(1024, wave_inclusive_sum, const kiln::u32* in, kiln::u32* out) {
  const kiln::u32 i = kiln::self();
  out[i] = kiln::device::wave_inclusive_sum(in[i]);
}

// The positions of sorted keys.
#define SORT(type)                                                                     \
  KILN_KERNEL(1024, block_sort_##type, const kiln::type* keys, kiln::u32* positions,   \
              kiln::u32 count) {                                                       \
    KILN_SHARED(scratch, kiln::device::SortScratch);                                   \
    kiln::u32* const memory = static_cast<kiln::u32*>(kiln::device::dynamic_shared()); \
    kiln::device::BlockSort<kiln::type> sort(memory, scratch, count);                  \
    for (kiln::u32 i = 0; i < kiln::device::kSortItems; ++i) {                         \
      if (!sort.has(i)) continue;                                                      \
      sort.key[i] = keys[sort.place(i)];                                               \
      sort.value[i] = sort.place(i);                                                   \
    }                                                                                  \
    sort.run<8 * sizeof(kiln::type)>();                                                \
    for (kiln::u32 i = 0; i < kiln::device::kSortItems; ++i) {                         \
      if (sort.has(i)) positions[sort.place(i)] = sort.value[i];                       \
    }                                                                                  \
  }
SORT(u32)
SORT(u64)

#define ATOMIC(name, type)                                                         \
  KILN_KERNEL(1024, atomic_##name##_##type, const kiln::type* in, kiln::type* out, \
              kiln::u32 count, kiln::u32 slots) {                                  \
    const kiln::u32 i = kiln::self();                                              \
    if (i < count) kiln::device::atomic_##name(out + i % slots, in[i]);            \
  }
#define ATOMICS(type, ...) \
  ATOMIC(sum, type)        \
  ATOMIC(minimum, type)    \
  ATOMIC(maximum, type)
KILN_EACH_DTYPE(ATOMICS)

// `to`: the index of a type in tables/dtypes.hpp.
#define CONVERT(type, ...)                                                            \
  KILN_KERNEL(1024, convert_##type, const kiln::type* in, void* out, kiln::u32 count, \
              kiln::u32 to) {                                                         \
    const kiln::u32 i = kiln::self();                                                 \
    if (i < count) kiln::convert_element(in, out, i, to);                             \
  }
KILN_EACH_DTYPE(CONVERT)

#define FIND_ELEMENT(name, views, Index)                                                \
  KILN_KERNEL(1024, name##_##views, const kiln::u64* info, const kiln::Index* elements, \
              kiln::u64* places, kiln::u32 count, kiln::u32 rank) {                     \
    kiln::find_elements<views>(info, rank, elements, places, count);                    \
  }
FIND_ELEMENT(find_element, 1, u64)
FIND_ELEMENT(find_element, 3, u64)
FIND_ELEMENT(find_small_element, 1, u32)
FIND_ELEMENT(find_small_element, 3, u32)

KILN_KERNEL(1024, quotients, const kiln::u64* dividends, const kiln::u64* divisors,
            kiln::u64* quotients, kiln::u32 count) {
  const kiln::u32 i = kiln::self();
  if (i < count) quotients[i] = kiln::device::quotient(dividends[i], divisors[i]);
}
KILN_KERNEL(1024, small_quotients, const kiln::u32* dividends, const kiln::u32* divisors,
            kiln::u32* quotients, kiln::u32 count) {
  const kiln::u32 i = kiln::self();
  if (i < count) quotients[i] = kiln::device::small_quotient(dividends[i], divisors[i]);
}
KILN_KERNEL(1024, quotients_of_31_bits, const kiln::u32* dividends, const kiln::u32* divisors,
            kiln::u32* quotients, kiln::u32 count) {
  const kiln::u32 i = kiln::self();
  if (i < count) quotients[i] = kiln::device::quotient_of_31_bits(dividends[i], divisors[i]);
}

// The entries of the low halves of each word, behind them those of the high halves, and behind them
// both mixed, less those that look_up_mixed() finds: zero.
KILN_KERNEL(1024, half_entries, const kiln::u32* table, const kiln::u32* words,
            kiln::u32* entries, kiln::u32 count) {
  using namespace kiln::device;
  const kiln::u32 i = kiln::self();
  if (i >= count) return;
  const Halves of = look_up_halves(table[0], table[1], table[2], table[3], words[i]);
  const Halves mixed = look_up_mixed(table[0], table[1], table[2], table[3], words[i]);
  const Halves again = mix_halves(of);
  entries[i] = of.low;
  entries[count + i] = of.high;
  entries[2 * count + i] = mixed.low - again.low;
  entries[3 * count + i] = mixed.high - again.high;
}

// Added to the previous values.
KILN_KERNEL(1024, byte_dots, const kiln::u32* a, const kiln::u32* b, kiln::i32* sums,
            kiln::u32 count) {
  const kiln::u32 i = kiln::self();
  if (i < count) sums[i] = kiln::device::dot_bytes(a[i], b[i], sums[i]);
}

#define BYTE_TILES(name, half)                                                         \
  KILN_KERNEL(128, byte_tiles_##name, const kiln::u32* rows, const kiln::u32* columns, \
              kiln::i32* sums) {                                                       \
    kiln::multiply_tiles<half>(rows, columns, sums);                                   \
  }                                                                                    \
  KILN_KERNEL(128, byte_fragments_##name, const kiln::u32* rows, const kiln::u32* columns, \
              kiln::i32* sums) {                                                       \
    kiln::multiply_fragments<half>(rows, columns, sums);                               \
  }
BYTE_TILES(whole, -1)
BYTE_TILES(first, 0)
BYTE_TILES(last, 1)

#define HALF_TILES(type, ...)                                                            \
  KILN_KERNEL(128, half_tiles_##type, const kiln::type* rows, const kiln::type* columns, \
              kiln::f32* sums) {                                                         \
    kiln::multiply_half_tiles(rows, columns, sums);                                      \
  }
KILN_HALVES(HALF_TILES)

#define DECODED_ROWS(name, zero, has_offset)                                                   \
  KILN_KERNEL(128, decoded_rows_##name, const kiln::u32* rows, const void* scales,             \
              const kiln::f16* columns, kiln::f32* results, kiln::u32 group) {                 \
    kiln::multiply_decoded<zero, has_offset>(rows, static_cast<const kiln::RowScale*>(scales), \
                                             columns, results, group);                         \
  }
DECODED_ROWS(signed, 0, false)
DECODED_ROWS(zero, 8, false)
DECODED_ROWS(offset, 0, true)
