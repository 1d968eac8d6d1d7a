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

}  // namespace kiln::device
