// Platform primitives for device/join.cuh and row_team.cuh: exchanges between the lanes of a wave,
// bits, and a property of barriers.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// Returns the value of the lane whose index differs from `lane`, the caller's, in the bits of
// `mask`, which is below `width`. All groups of `width` lanes of a wave must call it together: if
// the mask of participating lanes is not a constant, a shuffle takes a dozen instructions.
#if KILN_PLATFORM_CUDA
KILN_DEVICE u32 exchange_word(u32 value, u32 /*lane*/, u32 mask, u32 /*width*/, Here) {
  return __shfl_xor_sync(~0u, value, static_cast<int>(mask));
}
#elif KILN_PLATFORM_HIP
KILN_DEVICE u32 exchange_word(u32 value, u32 lane, u32 mask, u32 /*width*/, Here) {
  return static_cast<u32>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>((lane ^ mask) * 4), static_cast<int>(value)));
}
#elif KILN_PLATFORM_HOST
KILN_DEVICE u32 exchange_word(u32 value, u32 lane, u32 mask, u32 width, Here here) {
  return shuffle_word(value, (lane ^ mask) & (width - 1), width, here);
}
#endif

// Returns the value of lane `source` of each group of `width` lanes. All groups of the wave must
// call it together.
KILN_DEVICE u32 share_word(u32 value, u32 source, u32 width, Here here = KILN_HERE) {
#if KILN_PLATFORM_CUDA
  return __shfl_sync(~0u, value, static_cast<int>(source), static_cast<int>(width));
#else
  return shuffle_word(value, source, width, here);
#endif
}

// Returns a value that 32 lanes have in common, in a way that tells the compiler so. The lanes call
// it together. If CUDA's compiler cannot tell whether lanes have diverged, it writes each shuffle
// and each matrix product twice.
KILN_DEVICE u32 uniform(u32 value) {
#if KILN_PLATFORM_CUDA
  return __shfl_sync(~0u, value, 0, kWarp);
#else
  return value;
#endif
}

// True if a barrier does not wait for threads that have returned, so that threads without work may
// return before it.
#if KILN_PLATFORM_CUDA
inline constexpr bool kBarriersPassOver = true;
#else
inline constexpr bool kBarriersPassOver = false;
#endif

// Returns the index of the highest bit that is set. At least one must be.
KILN_DEVICE u32 highest_bit(u32 word) {
#if KILN_PLATFORM_CUDA
  return 31 - static_cast<u32>(__clz(static_cast<int>(word)));
#else
  return 31 - static_cast<u32>(__builtin_clz(word));
#endif
}

}  // namespace kiln::device
