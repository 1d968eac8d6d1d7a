// Square roots that take fewer registers than the vendors', or no branch.
//
// That of f64 lets two blocks of 1024 threads fit on a multiprocessor. Measured on an H200,
// reference geometry, in us, the vendor's -> this: 200,000 elements 3.07 -> 2.40; 384x1500
// transposed 12.2 -> 8.1; but 2^22 elements in few blocks 20.1 -> 22.0.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

// The correctly rounded root of a finite number whose residue is not subnormal. A third-order step
// gives the root within one unit in the last place. The residue x - root^2 is exact, so correcting
// the root by it rounds correctly: no root is closer than 2^-109 of itself to the midpoint of two
// numbers, and all those closer than 2^-92 were tested.
KILN_DEVICE f64 root_of_usual(f64 x) {
  const f64 start = reciprocal_root_approximate(x);
  const f64 error = math::fma(-(x * start), start, 1.0);
  const f64 inverse = math::fma(start * error, math::fma(error, 0.375, 0.5), start);
  const f64 root = x * inverse;
  return math::fma(math::fma(-root, root, x), 0.5 * inverse, root);
}
KILN_NOINLINE f64 root_of_unusual(f64 x) {
  if (x > 0 && x < 1) return root_of_usual(x * 0x1p600) * 0x1p-300;
  return x < 0 ? bit_cast<f64>(0x7ff8000000000000ull) : x;
}
KILN_DEVICE f64 square_root(f64 x) {
  return likely(x >= 0x1p-900 && x <= 0x1.fffffffffffffp1023) ? root_of_usual(x)
                                                              : root_of_unusual(x);
}

// The root of a number of at most 11 significant bits from 2^-24 to 2^16, a zero, an infinity, a
// negative number or NaN. Rounding it to 11 bits gives the correctly rounded root. For the number
// is at least one of the last of 24 bits away from the square of the midpoint m of two results. So
// its root is more than half a unit of f32 away from m, by 2^-37 m or more. The correction leaves
// an error of half a unit and less than 2^-42 m.
//
// Measured on an H200, reference geometry, in us, the vendor's -> this: usqrt_f16 of 2^27 elements,
// 1% of them zeros, infinities, NaN or subnormals, 312 -> 191.
KILN_DEVICE f32 root_of_short(f32 x) {
  const f32 inverse = reciprocal_root_approximate(x);
  const f32 root = x * inverse;
  const f32 corrected = math::fma(math::fma(-root, root, x), 0.5f * inverse, root);
  return x == 0 || x > 0x1p16f ? x : corrected;
}

}  // namespace kiln::device
