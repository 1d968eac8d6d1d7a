// Products of small matrices of signed bytes, by 32 neighbouring threads: matrix units where there
// are any that fit, dot products of four bytes elsewhere. The results are whole numbers, the same
// everywhere.
//
// A tile of results has 16 rows and 8 columns. Thread i of the 32 holds four of them:
//   c[0], c[1]   row i / 4      columns 2 * (i % 4), 2 * (i % 4) + 1
//   c[2], c[3]   row i / 4 + 8  the same columns
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

inline constexpr u32 kTileThreads = 32, kTileRows = 16, kTileColumns = 8;

// 16 rows of 32 bytes in shared memory, as the left operand: row r begins at rows[r * kStride], at
// a multiple of sixteen bytes. `lane` is below 32; on GPUs with matrix units the 32 threads are a
// wave, and all there.
template <u32 kStride>
class ByteRows {
 public:
  KILN_DEVICE void load(const u32* rows, u32 lane) {
#if KILN_HAS_BYTE_MATRIX
    load_fragments(words_, rows + lane % 16 * kStride + lane / 16 * 4);
#else
    rows_ = rows + lane / 4 * kStride;
#endif
  }

  // c += rows * columns: of all 32 bytes, or, for kHalf 0 or 1, of the first or the last 16. Column
  // c of the right operand begins at columns[c * kColumnStride], in shared memory.
  template <i32 kHalf, u32 kColumnStride>
  KILN_DEVICE void multiply(i32 (&c)[4], const u32* columns, u32 lane) const {
    constexpr u32 kFirst = kHalf == 1 ? 4 : 0, kWords = kHalf < 0 ? 8 : 4;
#if KILN_HAS_BYTE_MATRIX
    const u32* const column = columns + lane / 4 * kColumnStride + lane % 4 + kFirst;
    if constexpr (kWords == 8) {
      multiply_byte_fragments(c, words_[0], words_[1], words_[2], words_[3], column[0], column[4]);
    } else {
      multiply_byte_fragments(c, words_[kFirst / 2], words_[kFirst / 2 + 1], column[0]);
    }
#else
    const u32* const column = columns + lane % 4 * 2 * kColumnStride;
#pragma unroll
    for (u32 w = kFirst; w < kFirst + kWords; ++w) {
      c[0] = dot_bytes(rows_[w], column[w], c[0]);
      c[1] = dot_bytes(rows_[w], column[kColumnStride + w], c[1]);
      c[2] = dot_bytes(rows_[8 * kStride + w], column[w], c[2]);
      c[3] = dot_bytes(rows_[8 * kStride + w], column[kColumnStride + w], c[3]);
    }
#endif
  }

 private:
#if KILN_HAS_BYTE_MATRIX
  u32 words_[4];
#else
  const u32* rows_;
#endif
};

}  // namespace kiln::device
