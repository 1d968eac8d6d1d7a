// Transposes small square matrices of elements that are held in words.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

// Word i holds line i before and column i afterwards. There are two words for elements of two
// bytes, or four for elements of one byte. A single word stays as it is.
template <class Word, u32 kSide>
KILN_DEVICE void turn(Word (&w)[kSide]) {
  if constexpr (kSide == 2) {
    const u32 a = w[0];
    w[0] = permute_bytes<0, 1, 4, 5>(a, w[1]);
    w[1] = permute_bytes<2, 3, 6, 7>(a, w[1]);
  } else if constexpr (kSide == 4) {
    const u32 a = permute_bytes<0, 4, 1, 5>(w[0], w[1]);  // columns 0 and 1 of lines 0 and 1
    const u32 b = permute_bytes<2, 6, 3, 7>(w[0], w[1]);
    const u32 c = permute_bytes<0, 4, 1, 5>(w[2], w[3]);
    const u32 d = permute_bytes<2, 6, 3, 7>(w[2], w[3]);
    w[0] = permute_bytes<0, 1, 4, 5>(a, c);
    w[1] = permute_bytes<2, 3, 6, 7>(a, c);
    w[2] = permute_bytes<0, 1, 4, 5>(b, d);
    w[3] = permute_bytes<2, 3, 6, 7>(b, d);
  }
}

}  // namespace kiln::device
