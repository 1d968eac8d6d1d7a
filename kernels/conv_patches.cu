// conv: convolutions as products of matrices whose columns share elements.
#include "device/export.cuh"
#include "families/convolve_patches.cuh"
#include "tables/conv.hpp"

// name(info, src, kernel, dst)
#define PATCHES(suffix, type, root, channels)                                            \
  KILN_BOUNDED_KERNEL(kiln::tuning::kPatchThreads, kiln::tuning::patch_blocks(channels), \
                      root##_##suffix, const kiln::u64* info, const kiln::type* src,     \
                      const kiln::type* kernel, kiln::type* dst) {                       \
    kiln::families::convolve_patches<channels>(info, src, kernel, dst);                  \
  }
#define ROW(root, channels, dtypes) KILN_##dtypes(PATCHES, root, channels)

KILN_EACH_CONV_PATCHES(ROW)
