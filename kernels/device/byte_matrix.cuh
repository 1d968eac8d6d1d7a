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

// c += a * b over 4 * kWords bytes, 16 or 32 of them. Row r of `a` begins at a[r * stride], column
// c of `b` at b[c * stride], both in shared memory. `lane` is below 32; on GPUs with matrix units
// the 32 threads are a wave, and all there.
template <u32 kWords, u32 kStride>
KILN_DEVICE void multiply_tiles(i32 (&c)[4], const u32* a, const u32* b, u32 lane) {
  static_assert(kWords == 4 || kWords == 8);
  const u32 group = lane / 4, member = lane % 4;
#if KILN_HAS_BYTE_MATRIX
  const u32* const row = a + group * kStride + member;
  const u32* const column = b + group * kStride + member;
  if constexpr (kWords == 8) {
    multiply_byte_fragments(c, row[0], row[8 * kStride], row[4], row[8 * kStride + 4], column[0],
                            column[4]);
  } else {
    multiply_byte_fragments(c, row[0], row[8 * kStride], column[0]);
  }
#else
  const u32* const row = a + group * kStride;
  const u32* const column = b + 2 * member * kStride;
#pragma unroll
  for (u32 w = 0; w < kWords; ++w) {
    c[0] = dot_bytes(row[w], column[w], c[0]);
    c[1] = dot_bytes(row[w], column[kStride + w], c[1]);
    c[2] = dot_bytes(row[8 * kStride + w], column[w], c[2]);
    c[3] = dot_bytes(row[8 * kStride + w], column[kStride + w], c[3]);
  }
#endif
}

}  // namespace kiln::device
