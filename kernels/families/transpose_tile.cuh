// Moving a view whose contiguous dim is not the output's innermost: tile by tile, read along the
// input's lines, written along the output's.
//
// Of such a view two dims matter: the output's innermost ("columns" of a tile) and the one that the
// input walks with stride 1 ("rows"). All others only number the matrices. Small elements travel in
// four-byte words: W elements fill a word, and a square of W x W elements is turned in registers,
// so whole lines touch shared memory by words only.
#pragma once

#include "device/lanes.cuh"
#include "device/layout.cuh"
#include "device/platform.cuh"

namespace kiln::families {

using namespace device;

// One tile: offsets of its first element on both sides, and how much of it exists.
struct TilePlace {
  u64 inp;
  u64 out;
  u32 rows;
  u32 columns;
};

// A tile of 8 KiB in shared memory: both sides move lines of 64 bytes and more, and eight blocks
// still fit on every multiprocessor that we know.
template <class B>
struct TransposeTile {
  using Word = Step<B>;
  static constexpr u32 kSquare = sizeof(Word) / sizeof(B);  // W
  static constexpr u32 kAlong = 32;                         // words in a line of the input
  static constexpr u32 kRows = kAlong * kSquare;
  static constexpr u32 kWordsPerRow = 8192 / sizeof(Word) / kRows;
  static constexpr u32 kColumns = kWordsPerRow * kSquare;
  static constexpr u32 kPitch = kWordsPerRow + 1;  // odd: neighbours in a line lie in other banks
  static constexpr u32 kItemsPerRow = kColumns / kLanes<B>;
  static constexpr u32 kItems = kRows * kItemsPerRow;
  static constexpr u32 kAhead = 4 / kSquare;  // squares of which a thread reads all words first

  Word words[kRows * kPitch];

  // Rows are kept in the order 0, W, 2W, ..., 1, W + 1, ...: the squares of one line then store
  // their words to different banks.
  KILN_DEVICE static u32 kept_at(u32 row) { return row % kSquare * kAlong + row / kSquare; }
  KILN_DEVICE static u32 row_of(u32 item) {
    const u32 kept = item / kItemsPerRow;
    return kept % kAlong * kSquare + kept / kAlong;
  }
  KILN_DEVICE static u32 column_of(u32 item) { return item % kItemsPerRow * kLanes<B>; }

  KILN_DEVICE Words item(u32 index) const {
    const Word* from = words + index / kItemsPerRow * kPitch + index % kItemsPerRow * kSteps<B>;
    Words item;
#pragma unroll
    for (u32 i = 0; i < kSteps<B>; ++i) rotate_in(item, from[i]);
    return item;
  }

  // `inp` is the tile's first element, `pitch` what lies between its lines. A barrier must follow.
  KILN_DEVICE void fill(const B* inp, const TilePlace& place, u64 pitch, bool by_words) {
    if (kSquare == 1 || by_words) {
      fill_by_words(inp, place, pitch);
    } else {
      fill_by_elements(inp, place, pitch);
    }
  }

 private:
  // By lines of 32 threads.
  KILN_DEVICE void fill_by_words(const B* inp, const TilePlace& place, u64 pitch) {
    const u32 along = thread_index() % kAlong;
    const u32 lines = block_size() / kAlong;
    if (along * kSquare >= place.rows || thread_index() >= lines * kAlong) return;
    const u32 count = place.columns / kSquare;
    u32 line = thread_index() / kAlong;
    const B* from = inp + (line * kSquare * pitch + along * kSquare);
    Word* to = words + along * kPitch + line;
    while (line < count) {
      Word square[kAhead][kSquare];
#pragma unroll
      for (u32 s = 0; s < kAhead; ++s) {
        if (line + s * lines >= count) break;
        const B* word = from + s * lines * kSquare * pitch;
#pragma unroll
        for (u32 i = 0; i < kSquare; ++i) {
          square[s][i] = *reinterpret_cast<const Word*>(word + i * pitch);
        }
      }
#pragma unroll
      for (u32 s = 0; s < kAhead; ++s) {
        if (line + s * lines >= count) break;
        turn(square[s]);
#pragma unroll
        for (u32 i = 0; i < kSquare; ++i) to[i * kAlong * kPitch + s * lines] = square[s][i];
      }
      line += kAhead * lines;
      from += kAhead * lines * kSquare * pitch;
      to += kAhead * lines;
    }
  }

  KILN_DEVICE void fill_by_elements(const B* inp, const TilePlace& place, u64 pitch) {
    B* const elements = reinterpret_cast<B*>(words);
#pragma unroll 1
    for (u32 i = thread_index(); i < kRows * kColumns; i += block_size()) {
      const u32 row = i % kRows;
      const u32 column = i / kRows;
      if (row < place.rows && column < place.columns) {
        elements[kept_at(row) * kPitch * kSquare + column] = inp[column * pitch + row];
      }
    }
  }

  // Word i of a square holds its line i; afterwards, its row i.
  KILN_DEVICE static void turn(Word (&w)[kSquare]) {
    if constexpr (kSquare == 2) {
      const u32 a = w[0];
      w[0] = permute_bytes<0, 1, 4, 5>(a, w[1]);
      w[1] = permute_bytes<2, 3, 6, 7>(a, w[1]);
    } else if constexpr (kSquare == 4) {
      const u32 a = permute_bytes<0, 4, 1, 5>(w[0], w[1]);  // rows 0 and 1 of lines 0 and 1
      const u32 b = permute_bytes<2, 6, 3, 7>(w[0], w[1]);
      const u32 c = permute_bytes<0, 4, 1, 5>(w[2], w[3]);
      const u32 d = permute_bytes<2, 6, 3, 7>(w[2], w[3]);
      w[0] = permute_bytes<0, 1, 4, 5>(a, c);
      w[1] = permute_bytes<2, 3, 6, 7>(a, c);
      w[2] = permute_bytes<0, 1, 4, 5>(b, d);
      w[3] = permute_bytes<2, 3, 6, 7>(b, d);
    }
  }
};

// What of the output item `index` of a tile is; nothing where the tile ends before it.
template <class B>
KILN_DEVICE Item item_of_tile(const TilePlace& place, u32 index, u64 row_pitch) {
  const u32 row = TransposeTile<B>::row_of(index);
  const u32 column = TransposeTile<B>::column_of(index);
  const u32 left = row < place.rows && column < place.columns ? place.columns - column : 0;
  return {place.out + row * row_pitch + column, 0, left < kLanes<B> ? left : kLanes<B>};
}

// How a view is cut into tiles; prepared by one thread per block.
template <class B>
struct Tiling {
  using Tile = TransposeTile<B>;

  u32 tiles;  // 0: this view is not for tiles
  u32 row_dim;
  u64 row_pitch;  // of the output, per row
  u32 tiles_down;
  u32 tiles_across;
  bool by_words;  // no line of the input is cut within a word

  KILN_DEVICE void set(const Layout& layout, const B* inp) {
    tiles = 0;
    if (layout.rank < 2 || layout.inner().stride < 2 || block_size() < Tile::kAlong) return;
    const u64 columns = layout.inner().size;
    u64 rows = 0;
    u64 matrices = 1;
    u64 span = columns;
    u64 bits = address_of(inp) / sizeof(B) | columns | layout.inner().stride;
#pragma unroll 1
    for (u32 d = layout.rank - 1; d > 0; --d) {
      const Dim& dim = layout.dims[d - 1];
      if (dim.stride == 1 && rows == 0) {
        row_dim = d - 1;
        row_pitch = span;
        rows = dim.size;
        bits |= rows;
      } else {
        matrices *= dim.size;
        bits |= dim.stride;
      }
      span *= dim.size;
    }
    const u64 down = (rows + Tile::kRows - 1) / Tile::kRows;
    const u64 across = (columns + Tile::kColumns - 1) / Tile::kColumns;
    const u64 all = matrices * down * across;
    // Tiles that are mostly empty are slower than reading element by element.
    if (all * (Tile::kRows * Tile::kColumns) > 4 * span || all >> 32 != 0) return;
    tiles_down = static_cast<u32>(down);
    tiles_across = static_cast<u32>(across);
    by_words = bits % Tile::kSquare == 0;
    tiles = static_cast<u32>(all);
  }

  KILN_DEVICE TilePlace place(const Layout& layout, u32 tile) const {
    const u32 line = tile / tiles_across;
    const u64 column = static_cast<u64>(tile - line * tiles_across) * Tile::kColumns;
    const u32 matrix = line / tiles_down;
    const u64 row = static_cast<u64>(line - matrix * tiles_down) * Tile::kRows;
    const u64 rows_left = layout.dims[row_dim].size - row;
    const u64 columns_left = layout.inner().size - column;

    TilePlace place{
        row + column * layout.inner().stride, row * row_pitch + column,
        rows_left < Tile::kRows ? static_cast<u32>(rows_left) : Tile::kRows,
        columns_left < Tile::kColumns ? static_cast<u32>(columns_left) : Tile::kColumns};
    u64 rest = matrix;
    u64 span = layout.inner().size;
#pragma unroll 1
    for (u32 d = layout.rank - 1; d > 0; --d) {
      const Dim& dim = layout.dims[d - 1];
      if (d - 1 != row_dim) {
        const u64 digit = dim.take(rest);
        place.inp += digit * dim.stride;
        place.out += digit * span;
      }
      span *= dim.size;
    }
    return place;
  }
};

}  // namespace kiln::families
