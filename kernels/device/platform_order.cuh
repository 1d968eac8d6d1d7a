// The order of a kernel's code, where a vendor's compiler chooses a bad one.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// Keeps the code that computes these values before the memory accesses that follow, on AMD. Its
// compiler otherwise begins a long unrolled loop with all of its loads, more than registers hold.
KILN_DEVICE void compute_here(f32 (&values)[4]) {
#if KILN_PLATFORM_HIP
  asm volatile("" : "+v"(values[0]), "+v"(values[1]), "+v"(values[2]), "+v"(values[3])::"memory");
#else
  static_cast<void>(values);
#endif
}

}  // namespace kiln::device
