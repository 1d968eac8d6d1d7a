// The order of a kernel's code, where a vendor's compiler chooses a bad one.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// Keeps the code that computes these values before the memory accesses that follow, on AMD. Its
// compiler otherwise begins a long unrolled loop with all of its loads, more than registers hold.
template <u32 kCount>
KILN_DEVICE void compute_here(f32 (&values)[kCount]) {
#if KILN_PLATFORM_HIP
  static_assert(kCount % 4 == 0);
#pragma unroll
  for (u32 i = 0; i < kCount; i += 4) {
    asm volatile(""
                 : "+v"(values[i]), "+v"(values[i + 1]), "+v"(values[i + 2]),
                   "+v"(values[i + 3])::"memory");
  }
#else
  static_cast<void>(values);
#endif
}

}  // namespace kiln::device
