// The extreme of two numbers, for each platform.
#pragma once

#include "device/platform.cuh"

namespace kiln::device::math {

// Returns the greater of two numbers, or the lesser for kSign = -1. Of two zeros it returns either.
// If kKeepsNan is set, the result is NaN if any number is; otherwise a NaN is ignored.
template <int kSign, bool kKeepsNan>
KILN_DEVICE f32 extreme(f32 a, f32 b) {
#if KILN_PLATFORM_CUDA && __CUDA_ARCH__ >= 800
  if constexpr (!kKeepsNan) return kSign > 0 ? ::fmaxf(a, b) : ::fminf(a, b);
  f32 x;
  if constexpr (kSign > 0) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  } else {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  }
  return x;
#else
  const bool better = kSign > 0 ? b > a : b < a;
  return better || (kKeepsNan ? b != b : a != a) ? b : a;
#endif
}

}  // namespace kiln::device::math
