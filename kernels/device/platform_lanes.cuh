// What device/join.cuh and row_team.cuh are made of, for each platform: exchanges between the lanes
// of a wave, bits, and what a barrier waits for.
#pragma once

#include "device/platform.cuh"

namespace kiln::device {

// The value of the lane whose number differs from `lane`, the caller's, in the bits of `mask`,
// which is below `width`. Groups of `width` lanes call it together with all others of their wave:
// for a mask of lanes that is no constant, a shuffle takes a dozen instructions.
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

// The value of lane `source` of each group of `width` lanes; the groups of a wave call it together,
// likewise.
KILN_DEVICE u32 share_word(u32 value, u32 source, u32 width, Here here = KILN_HERE) {
#if KILN_PLATFORM_CUDA
  return __shfl_sync(~0u, value, static_cast<int>(source), static_cast<int>(width));
#else
  return shuffle_word(value, source, width, here);
#endif
}

// A value that 32 lanes, which call it together, have in common: so the compiler knows, too. Where it
// cannot tell whether lanes have parted, CUDA's writes each shuffle and product of matrices twice.
KILN_DEVICE u32 uniform(u32 value) {
#if KILN_PLATFORM_CUDA
  return __shfl_sync(~0u, value, 0, kWarp);
#else
  return value;
#endif
}

// Whether a barrier waits for no thread that has returned, so that those with nothing to do may
// return before it.
#if KILN_PLATFORM_CUDA
inline constexpr bool kBarriersPassOver = true;
#else
inline constexpr bool kBarriersPassOver = false;
#endif

// The number of the highest bit that is set, of which there is one.
KILN_DEVICE u32 highest_bit(u32 word) {
#if KILN_PLATFORM_CUDA
  return 31 - static_cast<u32>(__clz(static_cast<int>(word)));
#else
  return 31 - static_cast<u32>(__builtin_clz(word));
#endif
}

}  // namespace kiln::device
