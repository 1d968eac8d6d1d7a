// An f64 exponential for negative numbers and up to 2. It is shorter than the vendors' and has no
// branch, so that several can be computed side by side.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

// exp(x) for x <= 2, within one unit in the last place, subnormal results and NaN included.
//
// x = n ln 2 + r. A polynomial of degree 11 approximates exp r to 1.7e-17. 2^n is the product of
// two factors, so that both are normal numbers.
KILN_DEVICE f64 exp_of_negative(f64 x) {
  x = x < -746 ? -746 : x;     // below this, the result is 0
  const f64 shift = 0x1.8p52;  // rounds to a whole number, held in the lowest bits
  const f64 shifted = math::fma(x, 0x1.71547652b82fep+0, shift);
  const f64 n = shifted - shift;
  const f64 near = math::fma(n, -0x1.62e42fefa39efp-1, x);
  const f64 r = math::fma(n, -0x1.abc9e3b39803fp-56, near);
  f64 p = 0x1.af38d53857513p-26;
  p = math::fma(p, r, 0x1.2891a8c1d838dp-22);
  p = math::fma(p, r, 0x1.71de0d9c145d0p-19);
  p = math::fma(p, r, 0x1.a019b8ef67c6cp-16);
  p = math::fma(p, r, 0x1.a01a01a7c8d47p-13);
  p = math::fma(p, r, 0x1.6c16c17893833p-10);
  p = math::fma(p, r, 0x1.11111111109adp-7);
  p = math::fma(p, r, 0x1.5555555553d4fp-5);
  p = math::fma(p, r, 0x1.5555555555556p-3);
  p = math::fma(p, r, 0x1.0000000000001p-1);
  p = math::fma(p * r, r, r) + 1;
  const i32 power = static_cast<i32>(bit_cast<u64>(shifted));
  const i32 half = power >> 1, rest = power - half;
  return p * bit_cast<f64>(static_cast<u64>(rest + 1023) << 52) *
         bit_cast<f64>(static_cast<u64>(half + 1023) << 52);
}

}  // namespace kiln::device
