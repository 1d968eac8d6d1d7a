// Copies of views whose contiguous dim is not the output's innermost: tile by tile through shared
// memory, so that both sides access whole lines.
//
// Two dims matter: the output's innermost (the columns of a tile) and the one in which the input
// has stride 1 (the rows). The others number the matrices. Small elements travel in four-byte
// words: W elements fill a word, and a square of W x W elements is transposed in registers, so that
// shared memory is accessed by words only.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/platform.cuh"
#include "device/turn.cuh"
#include "families/spread.cuh"

namespace kiln::families {

using namespace device;

// A large block works in teams of this many threads, each on a tile of its own.
inline constexpr u32 kTeam = 256;
inline constexpr u32 kMaxTeams = 4;

// The part of a tile that lies within the view, and where its first element lies in the input and
// in the output.
struct TilePlace {
  u64 inp;
  u64 out;
  u32 rows;
  u32 columns;
};

// A tile of 8 KiB in shared memory. Both sides access lines of at least 64 bytes.
template <class B>
struct TransposeTile {
  using Word = Bits<(sizeof(B) < 4 ? 4 : sizeof(B))>;
  static constexpr u32 kSquare = sizeof(Word) / sizeof(B);  // W
  static constexpr u32 kAlong = 32;                         // words in a line of the input
  static constexpr u32 kRows = kAlong * kSquare;
  static constexpr u32 kWordsPerRow = 8192 / sizeof(Word) / kRows;
  static constexpr u32 kColumns = kWordsPerRow * kSquare;
  static constexpr u32 kPitch = kWordsPerRow + 1;  // odd: neighbours in a line differ in their bank
  static constexpr u32 kCount = 16 / sizeof(B);    // elements of a chunk
  static constexpr u32 kChunksPerRow = kColumns / kCount;
  static constexpr u32 kChunks = kRows * kChunksPerRow;
  // Number of squares that a thread reads before it writes any.
  static constexpr u32 kAhead = sizeof(B) == 8 ? 2 : 4 / kSquare;

  Word words[kRows * kPitch];

  // Rows are kept in the order 0, W, 2W, ..., 1, W + 1, ..., so that the squares of one line store
  // their words to different banks.
  KILN_DEVICE static u32 row_of(u32 kept) { return kept % kAlong * kSquare + kept / kAlong; }

  // Fills the tile by lines of 32 threads. `pitch` is the distance between the tile's lines in the
  // input. `by_words`: no line is cut within a word. A barrier must follow.
  KILN_DEVICE void fill(const B* inp, const TilePlace& place, u64 pitch, bool by_words, u32 self,
                        u32 team) {
    const u32 lines = team / kAlong;
    if (self % kAlong * kSquare >= place.rows || self >= lines * kAlong) return;
    if (kSquare == 1 || by_words) {
      fill_by_words(inp, place, pitch, self, lines);
    } else {
      fill_by_elements(inp, place, pitch, opaque(self), lines);
    }
  }

  // Writes the tile. `pitch` is the distance between the tile's rows in the output.
  KILN_DEVICE void drain(B* out, const TilePlace& place, u64 pitch, u32 self, u32 team) const {
    if ((address_of(out) / sizeof(B) | pitch | place.columns) % kCount == 0) {
      drain_by_chunks(out, place, pitch, self, team);
    } else {
      drain_by_words(out, place, pitch, self, team);
    }
  }

 private:
  // A thread takes one word of each line of a square, and every `lines`-th square.
  KILN_DEVICE void fill_by_words(const B* inp, const TilePlace& place, u64 pitch, u32 self,
                                 u32 lines) {
    const u32 along = self % kAlong;
    u32 line = self / kAlong;
    const u32 count = place.columns / kSquare;
    const B* from = inp + (line * kSquare * pitch + along * kSquare);
    const u64 jump = lines * kSquare * pitch;
    Word* to = words + along * kPitch + line;
    while (line < count) {
      Word square[kAhead][kSquare];
#pragma unroll
      for (u32 s = 0; s < kAhead; ++s) {
        if (line + s * lines >= count) break;
#pragma unroll
        for (u32 i = 0; i < kSquare; ++i) {
          square[s][i] = *reinterpret_cast<const Word*>(from + i * pitch);
        }
        from += jump;
      }
#pragma unroll
      for (u32 s = 0; s < kAhead; ++s) {
        if (line + s * lines >= count) break;
        turn(square[s]);
#pragma unroll
        for (u32 i = 0; i < kSquare; ++i) to[i * kAlong * kPitch + s * lines] = square[s][i];
      }
      line += kAhead * lines;
      to += kAhead * lines;
    }
  }

  // The same for words at any address, which the tile's end may cut.
  KILN_DEVICE void fill_by_elements(const B* inp, const TilePlace& place, u64 pitch, u32 self,
                                    u32 lines) {
    const u32 along = self % kAlong;
    B* const elements = reinterpret_cast<B*>(words) + along * kPitch * kSquare;
    const u32 left = place.rows - along * kSquare;
    constexpr u32 kAtOnce = 2;  // columns
    const B* from = inp + (self / kAlong * pitch + along * kSquare);
#pragma unroll 1
    for (u32 column = self / kAlong; column < place.columns;) {
      B element[kAtOnce][kSquare];
#pragma unroll
      for (u32 k = 0; k < kAtOnce; ++k) {
        const bool is_line = column + k * lines < place.columns;
#pragma unroll
        for (u32 i = 0; i < kSquare; ++i) {
          element[k][i] = 0;
          if (is_line && i < left) element[k][i] = from[i];
        }
        from += lines * pitch;
      }
#pragma unroll
      for (u32 k = 0; k < kAtOnce; ++k, column += lines) {
        if (column >= place.columns) break;
#pragma unroll
        for (u32 i = 0; i < kSquare; ++i) {
          elements[i * kAlong * kPitch * kSquare + column] = element[k][i];
        }
      }
    }
  }

  // All rows consist of aligned chunks.
  KILN_DEVICE void drain_by_chunks(B* out, const TilePlace& place, u64 pitch, u32 self,
                                   u32 team) const {
    for (u32 k = self; k < kChunks; k += team) {
      const u32 row = row_of(k / kChunksPerRow);
      const u32 column = k % kChunksPerRow * kCount;
      if (row >= place.rows || column >= place.columns) continue;
      const Word* from = words + k / kChunksPerRow * kPitch + column / kSquare;
      Chunk<B, kCount> chunk;
#pragma unroll
      for (u32 i = 0; i < 16 / sizeof(Word); ++i) {
        if constexpr (sizeof(Word) == 4) {
          chunk.word[i] = from[i];
        } else {
          chunk.word[2 * i] = static_cast<u32>(from[i]);
          chunk.word[2 * i + 1] = static_cast<u32>(from[i] >> 32);
        }
      }
      chunk.store(out + row * pitch + column);
    }
  }

  // Writes the output's aligned words. Such a word may hold the end of one word of the tile and the
  // beginning of the next. Words at the ends of a row may be incomplete.
  KILN_DEVICE void drain_by_words(B* out, const TilePlace& place, u64 pitch, u32 self,
                                  u32 team) const {
    constexpr u32 kSlots = kSquare == 1 ? kWordsPerRow : kPitch;
    for (u32 k = self; k < kRows * kSlots; k += team) {
      const u32 kept = k / kSlots;
      const u32 slot = k % kSlots;
      const u32 row = row_of(kept);
      if (row >= place.rows) continue;
      B* const to = out + row * pitch;
      const Word* const from = words + kept * kPitch;
      if constexpr (kSquare == 1) {
        if (slot < place.columns) to[slot] = from[slot];
      } else {
        const u32 before = static_cast<u32>(address_of(to) / sizeof(B) % kSquare);
        const i32 column = static_cast<i32>(slot * kSquare) - static_cast<i32>(before);
        if (column >= 0 && column + kSquare <= place.columns) {
          const u64 both = static_cast<u64>(from[slot]) << 32 | from[slot - (before != 0)];
          *reinterpret_cast<Word*>(to + column) =
              static_cast<Word>(both >> (32 - before * 8 * sizeof(B)));
        } else {
          const B* const elements = reinterpret_cast<const B*>(from);
#pragma unroll
          for (u32 i = 0; i < kSquare; ++i) {
            const u32 each = static_cast<u32>(column) + i;
            if (each < place.columns) to[each] = elements[each];
          }
        }
      }
    }
  }
};

// How a view is cut into tiles. It has at least one element and less than 2^32.
template <class B>
struct Tiling {
  using Tile = TransposeTile<B>;

  u32 tiles;  // 0 if the view does not suit tiles
  u32 row_dim;
  u32 row_pitch;  // from a row to the next one in the output
  u32 tiles_down;
  u32 tiles_across;
  bool by_words;  // no line of the input is cut within a word

  KILN_DEVICE static Tiling plan(const Views<1>& views, const B* inp) {
    Tiling tiling{0, views.rank, 0, 0, 0, false};
    if (views.rank < 2 || block_size() < Tile::kAlong) return tiling;
    const u32 last = views.rank - 1;
    const u32 columns = views.size(last);
    if (views.stride(0, last) < 2) return tiling;
    u32 rows = 0;
    u32 matrices = 1;
    u32 span = columns;
    u32 bits = static_cast<u32>(address_of(inp) / sizeof(B) | views.stride(0, last)) | columns;
#pragma unroll 1
    for (u32 dim = last; dim-- > 0;) {
      const u32 size = views.size(dim);
      const u64 stride = views.stride(0, dim);
      if (size == 1) continue;
      if (stride == 1 && rows == 0) {
        tiling.row_dim = dim;
        tiling.row_pitch = span;
        rows = size;
        bits |= rows;
      } else {
        matrices *= size;
        bits |= static_cast<u32>(stride);
      }
      span *= size;
    }
    if (rows == 0) return tiling;
    const u32 down = (rows - 1) / Tile::kRows + 1;
    const u32 across = (columns - 1) / Tile::kColumns + 1;
    // At most the number of elements.
    const u32 all = matrices * down * across;
    // Tiles that are not two thirds full are slower than single elements, and so are few tiles.
    // Measured on an H200, reference geometry, ucopy_f16 of 100000x33 transposed, in us, by tiles ->
    // otherwise: 31 -> 16, of which the original takes 26.
    if (all > span / (Tile::kRows * Tile::kColumns) * 3 / 2) return tiling;
    if (all < multiprocessors() / 2) return tiling;
    tiling.by_words = bits % Tile::kSquare == 0;
    tiling.tiles_down = down;
    tiling.tiles_across = across;
    tiling.tiles = all;
    return tiling;
  }

  KILN_DEVICE TilePlace place(const Views<1>& views, u32 tile) const {
    const u32 last = views.rank - 1;
    const u32 line = tile / tiles_across;
    const u32 column = (tile - line * tiles_across) * Tile::kColumns;
    u32 rest = line / tiles_down;
    const u32 row = (line - rest * tiles_down) * Tile::kRows;
    const u32 rows_left = views.size(row_dim) - row;
    const u32 columns_left = views.size(last) - column;

    TilePlace place{row + column * views.stride(0, last), 0,
                    rows_left < Tile::kRows ? rows_left : Tile::kRows,
                    columns_left < Tile::kColumns ? columns_left : Tile::kColumns};
    u32 out = row * row_pitch + column;
    u32 span = views.size(last);
#pragma unroll 1
    for (u32 dim = last; dim-- > 0;) {
      const u32 size = views.size(dim);
      if (dim != row_dim) {
        const u32 above = rest / size;
        const u32 digit = rest - above * size;
        rest = above;
        place.inp += digit * views.stride(0, dim);
        out += digit * span;
      }
      span *= size;
    }
    place.out = out;
    return place;
  }
};

// Shared memory of a block. Keeping the tiling there saves registers.
template <class B>
struct TransposeTiles {
  Tiling<B> tiling;
  u64 pitch;
  TransposeTile<B> of[kMaxTeams];
};
// Copies a view by tiles. All threads of the block call it. Returns false, having done nothing, if
// the view does not suit tiles.
template <class B>
KILN_NOINLINE bool copy_by_tiles(Views<1> views, u64 numel, const B* inp, B* out, u32 most) {
  if (numel >> 32 != 0 || numel == 0) return false;
  const Tiling<B> tiling = Tiling<B>::plan(views, inp);
  if (tiling.tiles == 0) return false;
  u32 blocks = blocks_up_to(most);
  if (block_size() == 1024 && launched_threads() >= numel && tile_blocks() < blocks) {
    blocks = tile_blocks();
  }
  if (block_index() >= blocks) return true;
  KILN_SHARED(shared, TransposeTiles<B>);
  if (thread_index() == 0) {
    shared.tiling = tiling;
    shared.pitch = views.stride(0, views.rank - 1);
  }
  barrier();
  const u32 team = block_size() < kTeam ? block_size() : kTeam;
  // If there are few tiles, they are spread over all blocks.
  const u32 max_teams = block_size() / team, wanted = (tiling.tiles - 1) / blocks + 1;
  const u32 teams = wanted < max_teams ? wanted : max_teams;
  const u32 mine = thread_index() / team;
  const u32 self = thread_index() - mine * team;
  const u32 step = blocks * teams;
#pragma unroll 1
  for (u32 t = block_index() * teams; t < shared.tiling.tiles; t += step) {
    const bool works = mine < teams && t + mine < shared.tiling.tiles;
    TilePlace place{};
    if (works) {
      place = shared.tiling.place(views, t + mine);
      shared.of[mine].fill(inp + place.inp, place, shared.pitch, shared.tiling.by_words,
                           opaque(self), team);
    }
    barrier();
    if (works) {
      shared.of[mine].drain(out + place.out, place, shared.tiling.row_pitch, opaque(self), team);
    }
    barrier();
  }
  return true;
}

}  // namespace kiln::families
