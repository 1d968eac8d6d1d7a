// The platform's conversions of floats to integers of four and eight bytes: toward zero, saturated,
// NaN to 0. Without hardware support, device/convert.cuh does the same by comparisons.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

#if KILN_PLATFORM_CUDA
#define KILN_HAS_SATURATING_CONVERSION 1
// If both types have 32 bits, the instruction itself converts NaN to 0.
#define KILN_SATURATING_CONVERSION(I, integer, at, F, number, from)  \
  KILN_DEVICE void convert_saturated(I& y, F x) {                    \
    asm("cvt.rzi." integer "." number " %0, %1;" : at(y) : from(x)); \
    if ((sizeof(I) == 8 || sizeof(F) == 8) && x != x) y = 0;         \
  }
KILN_SATURATING_CONVERSION(u32, "u32", "=r", f32, "f32", "f")
KILN_SATURATING_CONVERSION(u32, "u32", "=r", f64, "f64", "d")
KILN_SATURATING_CONVERSION(i32, "s32", "=r", f32, "f32", "f")
KILN_SATURATING_CONVERSION(i32, "s32", "=r", f64, "f64", "d")
KILN_SATURATING_CONVERSION(i64, "s64", "=l", f32, "f32", "f")
KILN_SATURATING_CONVERSION(i64, "s64", "=l", f64, "f64", "d")
#undef KILN_SATURATING_CONVERSION
#endif

}  // namespace kiln::device
