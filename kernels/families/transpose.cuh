// dst[m, c, r] = src[m, r, c]: transposes row-major contiguous matrices, tile by tile through
// shared memory.
//
// A unit is what one access moves. A thread reads a square of as many units as a unit has elements,
// and transposes it in registers. So global and shared memory are accessed by whole units. If the
// lines of the input or of the output are not whole units, that side is accessed by elements.
#pragma once

#include "device/chunk.cuh"
#include "device/index.cuh"
#include "device/turn.cuh"
#include "device/wave.cuh"
#include "families/spread.cuh"
#include "tuning/transpose.hpp"

namespace kiln::families {

using namespace device;

// The part of a tile that lies within the matrix, in elements. Its rows are the output's.
struct TilePart {
  u32 rows, columns;
};

template <class B>
struct TurnedTile {
  static constexpr u32 kSide = tuning::unit_of_transpose(sizeof(B)) / sizeof(B);
  static constexpr u32 kUnits = tuning::kSquaresOfTile;  // along each side
  static constexpr u32 kElements = kUnits * kSide;       // along each side
  static constexpr u32 kWords = kSide * sizeof(B) / 4;   // of a unit
  using Unit = Chunk<B, kSide>;

  Words memory[kElements * kElements * sizeof(B) / 16];

  // Returns where unit `unit` of a row lies. Neighbouring units of a row, and units of one column
  // that are a square apart, lie in different banks.
  KILN_DEVICE B* unit_at(u32 row, u32 unit) {
    B* const elements = reinterpret_cast<B*>(memory);
    return elements + (row * kUnits + (unit ^ row / kSide % kUnits)) * kSide;
  }

  // Transposes a square: units of lines become units of columns.
  KILN_DEVICE static void turn_units(Unit (&line)[kSide]) {
    Unit column[kSide];
    if constexpr (sizeof(B) >= 4) {
      constexpr u32 kOfElement = sizeof(B) / 4;
#pragma unroll
      for (u32 i = 0; i < kSide * kWords; ++i) {
        column[i / kWords].word[i % kWords] =
            line[i % kWords / kOfElement].word[i / kWords * kOfElement + i % kOfElement];
      }
    } else {
      constexpr u32 kSquare = 4 / sizeof(B);
#pragma unroll
      for (u32 down = 0; down < kWords; ++down) {
#pragma unroll
        for (u32 across = 0; across < kWords; ++across) {
          u32 square[kSquare];
#pragma unroll
          for (u32 i = 0; i < kSquare; ++i) square[i] = line[down * kSquare + i].word[across];
          turn(square);
#pragma unroll
          for (u32 i = 0; i < kSquare; ++i) column[across * kSquare + i].word[down] = square[i];
        }
      }
    }
#pragma unroll
    for (u32 i = 0; i < kSide; ++i) line[i] = column[i];
  }

  // Fills the tile. `pitch` is the distance between lines of the input, which are the tile's
  // columns.
  KILN_DEVICE void fill(const B* inp, u64 pitch, const TilePart& part, bool by_units) {
    if (by_units) {
#pragma unroll 1
      for (u32 i = thread_rank(); i < kUnits * kUnits; i += block_threads()) {
        const u32 row = i % kUnits * kSide, column = i / kUnits * kSide;
        if (row >= part.rows || column >= part.columns) continue;
        Unit square[kSide];
        const B* const from = inp + column * pitch + row;
#pragma unroll
        for (u32 k = 0; k < kSide; ++k) {
          square[k].clear();
          if (column + k < part.columns) square[k].load(from + k * pitch);
        }
        turn_units(square);
#pragma unroll
        for (u32 k = 0; k < kSide; ++k) copy_unit(unit_at(row + k, i / kUnits), square[k]);
      }
    } else {
      for_each_line(part.rows, part.columns, [&](u32 row, u32 first, u32 lines) {
        const B* from = inp + first * pitch + row;
        const u64 step = lines * pitch;
#pragma unroll 1
        for (u32 column = first; column < part.columns;) {
          B element[kAhead];
#pragma unroll
          for (u32 k = 0; k < kAhead; ++k) {
            if (column + k * lines < part.columns) element[k] = *from;
            from += step;
          }
#pragma unroll
          for (u32 k = 0; k < kAhead; ++k, column += lines) {
            if (column < part.columns) unit_at(row, column / kSide)[column % kSide] = element[k];
          }
        }
      });
    }
  }

  // Writes the tile. `pitch` is the distance between rows of the output.
  KILN_DEVICE void drain(B* out, u64 pitch, const TilePart& part, bool by_units) {
    if (by_units) {
#pragma unroll 2
      for (u32 i = thread_rank(); i < kUnits * kElements; i += block_threads()) {
        const u32 row = i / kUnits, unit = i % kUnits;
        if (row >= part.rows || unit * kSide >= part.columns) continue;
        Unit moved;
        moved.load(unit_at(row, unit));
        moved.store(out + row * pitch + unit * kSide);
      }
    } else {
      for_each_line(part.columns, part.rows, [&](u32 column, u32 first, u32 lines) {
        B* to = out + first * pitch + column;
        const u64 step = lines * pitch;
#pragma unroll 2
        for (u32 row = first; row < part.rows; row += lines, to += step) {
          *to = unit_at(row, column / kSide)[column % kSide];
        }
      });
    }
  }

 private:
  static constexpr u32 kAhead = sizeof(B) == 4 ? 2 : 4;  // elements loaded at once

  // Calls use(along, line, lines) in neighbouring threads for neighbours along a line of `length`.
  // A thread takes every `lines`-th line from `line` on.
  template <class Use>
  KILN_DEVICE static void for_each_line(u32 length, u32 count, Use use) {
    const u32 threads = block_threads(), self = thread_rank();
    const bool is_short = threads < kElements;
    const u32 line = is_short ? 0 : self / kElements, lines = is_short ? 1 : threads / kElements;
    if (line >= lines || line >= count) return;
#pragma unroll 1
    for (u32 along = is_short ? self : self % kElements; along < length; along += threads) {
      use(along, line, lines);
    }
  }

  // Writes to shared memory; Chunk::store() may write only to global memory.
  KILN_DEVICE static void copy_unit(B* to, const Unit& unit) {
    if constexpr (kWords == 4) {
      *reinterpret_cast<Words*>(to) = {{unit.word[0], unit.word[1], unit.word[2], unit.word[3]}};
    } else {
      unit.store(to);
    }
  }
};

// Copies element by element, for matrices whose tiles would be mostly empty.
template <class B>
KILN_DEVICE void transpose_by_elements(u64 numel, u64 rows, u64 columns, const B* src, B* dst) {
  const Spread spread(numel);
  if (spread.is_surplus()) return;
#pragma unroll 1
  for (u64 i = spread.self; i < numel; i += spread.threads) {
    const u64 line = quotient(i, rows);  // of the output
    const u64 matrix = quotient(line, columns);
    const u64 row = i - line * rows, column = line - matrix * columns;
    dst[i] = src[(matrix * rows + row) * columns + column];
  }
}

template <class T>
KILN_DEVICE void transpose(u64 matrices, u64 rows, u64 columns, const T* elements, T* transposed) {
  using B = BitsOf<T>;
  using Tile = TurnedTile<B>;
  constexpr u32 kSize = Tile::kElements;
  const B* const src = reinterpret_cast<const B*>(elements);
  B* const dst = reinterpret_cast<B*>(transposed);
  // A tile's rows are the output's. Down its columns the input is contiguous.
  const u64 down = (columns + kSize - 1) / kSize, across = (rows + kSize - 1) / kSize;
  const u64 tiles = matrices * down * across, numel = matrices * rows * columns;
  if (tiles * (kSize * kSize) > tuning::kMaxEmptyTile * numel) {
    transpose_by_elements(numel, rows, columns, src, dst);
    return;
  }
  KILN_SHARED(tile, Tile);
  constexpr u32 kUnitBytes = sizeof(typename Tile::Unit);
  const bool lines = (address_of(src) | columns * sizeof(B)) % kUnitBytes == 0;
  const bool units = (address_of(dst) | rows * sizeof(B)) % kUnitBytes == 0;
#pragma unroll 1
  for (u64 at = block_index(); at < tiles; at += block_count()) {
    const u64 line = quotient(at, across);
    const u64 matrix = quotient(line, down);
    const u64 row = (line - matrix * down) * kSize, column = (at - line * across) * kSize;
    const u64 first = matrix * rows * columns;
    const TilePart part{static_cast<u32>(columns - row < kSize ? columns - row : kSize),
                        static_cast<u32>(rows - column < kSize ? rows - column : kSize)};
    tile.fill(src + first + column * columns + row, columns, part, lines);
    barrier();
    tile.drain(dst + first + row * rows + column, rows, part, units);
    barrier();
  }
}

}  // namespace kiln::families
