// Products of small matrices of signed bytes, by 32 neighbouring threads. Matrix units compute them
// if they fit, and otherwise dot products of four bytes. The results are whole numbers and the same
// on every platform.
//
// A tile of results has 16 rows and 8 columns. Thread i of the 32 holds four results:
//   c[0], c[1]   row i / 4      columns 2 * (i % 4), 2 * (i % 4) + 1
//   c[2], c[3]   row i / 4 + 8  the same columns
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

inline constexpr u32 kTileThreads = 32, kTileRows = 16, kTileColumns = 8;

// The words that a thread holds of the left operand, which has 16 rows of 32 bytes. Thread i holds
// words of rows i / 4 and i / 4 + 8. With matrix units these are words i % 4 and i % 4 + 4, and the
// 32 threads are a wave, all active. Otherwise they are all eight words.
#if KILN_HAS_BYTE_MATRIX
inline constexpr u32 kRowWords = 2;
#else
inline constexpr u32 kRowWords = 8;
#endif
struct ByteRows {
  u32 words[2][kRowWords];
};

// c = rows * columns + first, over all 32 bytes, or for kHalf 0 or 1 over the first or last 16.
// Column j of the right operand begins at columns[j * stride]. `lane` is below 32.
template <i32 kHalf>
KILN_DEVICE void multiply_bytes(i32 (&c)[4], i32 first, const ByteRows& rows, const u32* columns,
                                u32 stride, u32 lane) {
#if KILN_HAS_BYTE_MATRIX
  const u32* const column = columns + lane / 4 * stride + lane % 4;
  if constexpr (kHalf < 0) {
    multiply_byte_fragments(c, first, rows.words[0][0], rows.words[1][0], rows.words[0][1],
                            rows.words[1][1], column[0], column[4]);
  } else {
    multiply_byte_fragments(c, first, rows.words[0][kHalf], rows.words[1][kHalf],
                            column[4 * kHalf]);
  }
#else
  constexpr u32 kFirst = kHalf == 1 ? 4 : 0, kLast = kHalf == 0 ? 4 : 8;
  const u32* const left = columns + lane % 4 * 2 * stride;
  const u32* const right = left + stride;
#pragma unroll
  for (u32 i = 0; i < 4; ++i) c[i] = first;
#pragma unroll
  for (u32 w = kFirst; w < kLast; ++w) {
    c[0] = dot_bytes(rows.words[0][w], left[w], c[0]);
    c[1] = dot_bytes(rows.words[0][w], right[w], c[1]);
    c[2] = dot_bytes(rows.words[1][w], left[w], c[2]);
    c[3] = dot_bytes(rows.words[1][w], right[w], c[3]);
  }
#endif
}

// How a group of threads shares a product of rows, which it decodes, and columns of words in shared
// memory. A thread holds words of kOwnRows rows, one or two, and kOwn results of each of them.
//   kThreads    neighbouring threads; with matrix units a wave, all active
//   kRowsApart  from a thread's first_row(lane) to its second row
//   kRows, kColumns  of a product
//   kWords      the words that a thread holds of each 32 bytes of a row: all eight, or
//               first_word(lane) and the fourth one behind it
//   kFourShare  four neighbouring threads have the same rows
struct ByteFragments {
  static constexpr u32 kThreads = kTileThreads, kRows = kTileRows, kColumns = kTileColumns;
  static constexpr u32 kWords = kRowWords, kOwn = 2, kOwnRows = 2, kRowsApart = 8;
  static constexpr bool kFourShare = true;
  using Rows = ByteRows;

  KILN_DEVICE static u32 first_row(u32 lane) { return lane / 4; }
  KILN_DEVICE static u32 column(u32 lane, u32 i) { return lane % 4 * 2 + i; }
  KILN_DEVICE static u32 first_word(u32 lane) { return kWords == 8 ? 0 : lane % 4; }
  // c[kOwn * r + i] is the result of row r and column i, as multiply_bytes() makes it.
  template <i32 kHalf>
  KILN_DEVICE static void multiply(i32 (&c)[kOwnRows * kOwn], i32 first, const Rows& rows,
                                   const u32* columns, u32 stride, u32 lane) {
    multiply_bytes<kHalf>(c, first, rows, columns, stride, lane);
  }
};

#if KILN_HAS_BYTE_MFMA || KILN_HAS_BYTE_WMMA
// AMD's matrix units. The right operand's columns are the rows of a, and rows are the columns of b,
// so that a thread's results have few rows, whose scales it decodes.
struct AmdFragments {
#if KILN_HAS_BYTE_MFMA
  static constexpr u32 kThreads = 64, kWords = 2, kOwn = 4, kOwnRows = 2, kRowsApart = 16;
#else
  static constexpr u32 kThreads = 32, kWords = 8, kOwn = 8, kOwnRows = 1, kRowsApart = 0;
#endif
  static constexpr u32 kRows = 16 * kOwnRows, kColumns = 16;
  static constexpr bool kFourShare = false;
  struct Rows {
    u32 words[kOwnRows][kWords];
  };

  KILN_DEVICE static u32 first_row(u32 lane) { return lane % 16; }
#if KILN_HAS_BYTE_MFMA
  KILN_DEVICE static u32 column(u32 lane, u32 i) { return lane / 16 * 4 + i; }
  KILN_DEVICE static u32 first_word(u32 lane) { return lane / 16; }
#else
  KILN_DEVICE static u32 column(u32 lane, u32 i) { return lane / 16 + 2 * i; }
  KILN_DEVICE static u32 first_word(u32) { return 0; }
#endif
  template <i32 kHalf>
  KILN_DEVICE static void multiply(i32 (&c)[kOwnRows * kOwn], i32 first, const Rows& rows,
                                   const u32* columns, u32 stride, u32 lane) {
    constexpr u32 kHalfWords = kWords / 2, kApart = 4;
    const u32* const column = columns + lane % 16 * stride + first_word(lane);
#pragma unroll
    for (u32 r = 0; r < kOwnRows; ++r) {
      i32 sums[kOwn];
#pragma unroll
      for (u32 i = 0; i < kOwn; ++i) sums[i] = first;
#pragma unroll
      for (u32 half = kHalf == 1 ? 1 : 0; half < (kHalf == 0 ? 1 : 2); ++half) {
        u32 of_column[kHalfWords], of_row[kHalfWords];
#pragma unroll
        for (u32 w = 0; w < kHalfWords; ++w) {
          of_column[w] = column[kApart * half + w];
          of_row[w] = rows.words[r][kHalfWords * half + w];
        }
        multiply_byte_columns(sums, of_column, of_row);
      }
#pragma unroll
      for (u32 i = 0; i < kOwn; ++i) c[kOwn * r + i] = sums[i];
    }
  }
};
using TileFragments = AmdFragments;
#else
using TileFragments = ByteFragments;
#endif

}  // namespace kiln::device
